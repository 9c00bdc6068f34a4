"""Questions whether a text that nobody uses may go, and their answers (spec 2.5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chalicelib.errors import Conflict, NotFound
from chalicelib.services import policies, quotas, retention
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction


@dataclass(frozen=True, slots=True)
class DeletionRequest:
    """A row of ``deletion_requests``, with its source's name. It says which text, and nothing of it."""

    id: UUID
    source_id: UUID
    source_name: str
    content_hash: str
    chunk_id: UUID
    policy_digest: str
    expires_at: datetime
    last_recalled_at: datetime | None
    state: str
    created_at: datetime
    lapses_at: datetime
    decided_at: datetime | None


def list_page(
    outside: Outside, who: Principal, *, state: str, after: tuple[datetime, UUID] | None, limit: int
) -> list[DeletionRequest]:
    """One page, oldest first."""
    time, ident = after or (None, None)
    page = {"state": state, "after_time": time, "after_id": ident, "limit": limit}
    with outside.database.transaction(who.tenant_id) as tx:
        return tx.all("retention.page", DeletionRequest, tenant_id=who.tenant_id, **page)


def approve(
    outside: Outside, who: Principal, request_id: UUID, now: datetime
) -> tuple[DeletionRequest, quotas.Allowance]:
    """Erase the text, if it is still as it was when the question was asked.

    Raises NotFound, RateLimited, and Conflict: ``request_decided``, ``request_lapsed``, or ``text_changed`` where its
    policy, its end or its last use is another now, or the text is gone.
    """
    with quotas.mutation(outside, who, now) as (tx, allowance):
        asked = _open(tx, request_id, now)
        tx.row("sources.get_for_update", id=asked.source_id)  # nobody changes a policy or a text from here on
        _require_unchanged(tx, who, asked)
        erased = retention.erase(tx, who.tenant_id, asked.source_id, asked.content_hash, now)
        return _decide(tx, who, asked, "approved", {"rows": erased}, now), allowance


def refuse(
    outside: Outside, who: Principal, request_id: UUID, now: datetime
) -> tuple[DeletionRequest, quotas.Allowance]:
    """Keep the text; it is not asked about for a while. Raises NotFound, Conflict, RateLimited."""
    with quotas.mutation(outside, who, now) as (tx, allowance):
        return _decide(tx, who, _open(tx, request_id, now), "refused", None, now), allowance


def _open(tx: Transaction, request_id: UUID, now: datetime) -> DeletionRequest:
    asked = tx.one("retention.get_for_update", DeletionRequest, id=request_id)
    if asked is None:
        raise NotFound("there is no such deletion request")
    if asked.state != "open":
        raise Conflict(f"the request was {asked.state}", code="request_decided", state=asked.state)
    if asked.lapses_at <= now:
        raise Conflict("the request has lapsed", code="request_lapsed")
    return asked


def _require_unchanged(tx: Transaction, who: Principal, asked: DeletionRequest) -> None:
    named = {"source_id": asked.source_id, "content_hash": asked.content_hash}
    now = tx.row("retention.standing", tenant_id=who.tenant_id, **named)
    differs = (
        ["text"]
        if now is None
        else [
            name
            for name, was, is_now in (
                ("policy", asked.policy_digest, policies.digest_of_chunk(tx, asked.chunk_id)),
                ("expires_at", asked.expires_at, now["expires_at"]),
                ("last_recalled_at", asked.last_recalled_at, now["last_recalled_at"]),
            )
            if was != is_now
        ]
    )
    if differs:
        raise Conflict("the text is not as it was when the question was asked", code="text_changed", changed=differs)


def _decide(
    tx: Transaction, who: Principal, asked: DeletionRequest, state: str, after: dict[str, int] | None, now: datetime
) -> DeletionRequest:
    tx.run("retention.decide", id=asked.id, state=state, decided_by=who.admin_token_id, now=now)
    policies.audit(tx, who, f"deletion_request.{state}", str(asked.chunk_id), None, after, now)
    decided = tx.one("retention.get_for_update", DeletionRequest, id=asked.id)
    assert decided is not None
    return decided
