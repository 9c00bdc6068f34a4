"""Routes of retention: which texts go, and who agreed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from chalicelib.client.answers import Page
from chalicelib.client.routes import Routes, every, segment


class Finite(TypedDict):
    """A text with an end."""

    chunk_id: str
    source_id: str
    source_name: str
    expires_at: str
    first_seen_at: str
    last_recalled_at: str | None


class Retention(TypedDict):
    """What a sweep would do now."""

    require_approval: bool
    idle_days: int
    open_requests: int
    to_erase: list[Finite]
    to_ask: list[Finite]


class Swept(TypedDict):
    """What a sweep did."""

    erased: int
    asked: int
    lapsed: int


class DeletionRequest(TypedDict):
    """A question whether a text may go."""

    id: str
    chunk_id: str
    source_id: str
    source_name: str
    policy_digest: str
    expires_at: str
    last_recalled_at: str | None
    state: str
    created_at: str
    lapses_at: str
    decided_at: str | None


class RetentionRoutes(Routes):
    """For admins."""

    def show_retention(self) -> Retention:
        """Which texts a sweep would erase, or ask about."""
        return self._get(Retention, "/v1/memory/retention", as_admin=True)

    def apply_retention(self) -> Swept:
        """Sweep now."""
        return self._change(Swept, "/v1/memory/retention")

    def list_deletion_requests(
        self, *, state: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Page[DeletionRequest]:
        """One page, oldest first; by default of those that wait for an answer."""
        query = {"state": state, "limit": limit, "cursor": cursor}
        return self._get(Page[DeletionRequest], "/v1/memory/deletion-requests", query, as_admin=True)

    def iter_deletion_requests(self, *, state: str | None = None) -> Iterator[DeletionRequest]:
        """Every one of them."""
        return every(self.list_deletion_requests, state=state)

    def approve_deletion(self, request_id: str) -> DeletionRequest:
        """Erase the text, if it is still as it was when the question was asked."""
        return self._change(DeletionRequest, f"/v1/memory/deletion-requests/{segment(request_id)}/approve")

    def refuse_deletion(self, request_id: str) -> DeletionRequest:
        """Keep the text."""
        return self._change(DeletionRequest, f"/v1/memory/deletion-requests/{segment(request_id)}/refuse")
