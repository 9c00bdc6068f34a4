"""Routes of consolidation: texts that say nearly the same, and what an operator decides about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from chalicelib.client.answers import Page
from chalicelib.client.routes import Routes, every, given, segment


class Place(TypedDict):
    """Where to go on."""

    source_id: str
    chunk_index: int


class Scanned(TypedDict):
    """What one page of chunks brought."""

    examined: int
    proposed: int
    next_after: Place | None
    full: bool


class Proposal(TypedDict):
    """Two texts that say nearly the same."""

    id: str
    kind: str
    state: str
    similarity: float
    kept_source_id: str
    kept_source_name: str
    kept_chunk_id: str
    other_source_id: str
    other_source_name: str
    other_chunk_id: str
    policy_digest: str
    redactions: int
    model: str | None
    reason: str | None
    deposited_source_id: str | None
    quarantine_id: str | None
    created_at: str
    decided_at: str | None


class Passage(TypedDict):
    """One text of a proposal that may be read."""

    text: str
    policy_warning: str | None


class ShownProposal(Proposal):
    """A proposal with its texts; None: gone, or not to be read."""

    kept: Passage | None
    other: Passage | None
    written: Passage | None


class ConsolidationRoutes(Routes):
    """For admins; accepting, taking back and having something written are for operators."""

    def scan_near_duplicates(self, after: Place | None = None) -> Scanned:
        """Look at one page of chunks and propose the near-duplicates found there."""
        return self._change(Scanned, "/v1/memory/consolidation", given(after=after))

    def list_proposals(
        self, *, state: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Page[Proposal]:
        """One page, oldest first; by default of those that wait for an answer."""
        query = {"state": state, "limit": limit, "cursor": cursor}
        return self._get(Page[Proposal], "/v1/memory/consolidation", query, as_admin=True)

    def iter_proposals(self, *, state: str | None = None) -> Iterator[Proposal]:
        """Every one of them."""
        return every(self.list_proposals, state=state)

    def show_proposal(self, proposal_id: str, *, role: str | None = None, purpose: str | None = None) -> ShownProposal:
        """A proposal with its texts, as far as they may be read."""
        query = {"role": role, "purpose": purpose}
        return self._get(ShownProposal, f"/v1/memory/consolidation/{segment(proposal_id)}", query, as_admin=True)

    def accept_proposal(self, proposal_id: str) -> Proposal:
        """Do what was proposed, if the texts are as they were."""
        return self._change(Proposal, f"/v1/memory/consolidation/{segment(proposal_id)}/accept")

    def reject_proposal(self, proposal_id: str) -> Proposal:
        """Change nothing, and don't ask about the two again."""
        return self._change(Proposal, f"/v1/memory/consolidation/{segment(proposal_id)}/reject")

    def undo_proposal(self, proposal_id: str) -> Proposal:
        """Take an acceptance back."""
        return self._change(Proposal, f"/v1/memory/consolidation/{segment(proposal_id)}/undo")

    def write_proposal(self, proposal_id: str) -> Proposal:
        """Have a model write one text for both."""
        return self._change(Proposal, f"/v1/memory/consolidation/{segment(proposal_id)}/write")
