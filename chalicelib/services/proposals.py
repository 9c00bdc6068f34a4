"""Proposals of consolidation: rows, the order in which they are locked, and how one is decided (spec 2.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from chalicelib.domain import near_duplicate, policy
from chalicelib.errors import Conflict, Forbidden, NotFound
from chalicelib.services import policies
from chalicelib.services.near_duplicates import standing
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction

EXTRACTIVE, WRITTEN = "extractive", "written"
STATES = ("open", "writing", "accepted", "rejected", "undone", "lapsed", "failed")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A row of ``consolidation_proposals`` with its sources' names. It says which texts, and nothing of them."""

    id: UUID
    kind: str
    state: str
    pair: str
    similarity: float
    kept_source_id: UUID
    kept_source_name: str
    kept_hash: str
    kept_chunk_id: UUID
    other_source_id: UUID
    other_source_name: str
    other_hash: str
    other_chunk_id: UUID
    policy_digest: str
    redactions: int
    model: str | None
    reason: str | None
    deposited_source_id: UUID | None
    quarantine_id: UUID | None
    created_at: datetime
    decided_at: datetime | None

    @property
    def texts(self) -> list[tuple[UUID, str]]:
        """The two, the one to keep first: source and hash."""
        return [(self.kept_source_id, self.kept_hash), (self.other_source_id, self.other_hash)]


def list_page(
    outside: Outside, who: Principal, *, state: str, after: tuple[datetime, UUID] | None, limit: int
) -> list[Proposal]:
    """One page, oldest first."""
    time, ident = after or (None, None)
    page = {"state": state, "after_time": time, "after_id": ident, "limit": limit}
    with outside.database.transaction(who.tenant_id) as tx:
        return tx.all("consolidation.page", Proposal, tenant_id=who.tenant_id, **page)


def require(tx: Transaction, proposal_id: UUID) -> Proposal:
    """The proposal. Raises NotFound."""
    found = tx.one("consolidation.get", Proposal, id=proposal_id)
    if found is None:
        raise NotFound("there is no such proposal")
    return found


def lock(tx: Transaction, proposal_id: UUID) -> Proposal:
    """The proposal, locked behind its sources: nobody changes a text, a policy or the proposal from here on.

    Sources come first, in the order of their ids, as for everybody who locks both. Raises NotFound.
    """
    found = require(tx, proposal_id)
    for source_id in sorted({found.kept_source_id, found.other_source_id}):
        tx.row("sources.get_for_update", id=source_id)
    tx.row("consolidation.state_for_update", id=proposal_id)
    return require(tx, proposal_id)


def require_state(asked: Proposal, *states: str) -> None:
    """Raises Conflict ``proposal_decided`` for a proposal in none of these states."""
    if asked.state not in states:
        raise Conflict(f"the proposal is {asked.state}", code="proposal_decided", state=asked.state)


def require_operator(who: Principal) -> None:
    """Raises Forbidden ``operator_required`` for an admin token that was minted for nobody in particular."""
    if not who.operator_name:
        raise Forbidden("this needs an admin token that was minted for a named operator", code="operator_required")


def lapse_reason(tx: Transaction, asked: Proposal, now: datetime) -> str | None:
    """Why a proposal no longer holds, now that nobody can change its texts; None if all is as it was.

    ``text_changed``: one of them is changed, gone, switched off or superseded. ``policy_changed``: another policy
    counts, or its end has come.
    """
    found = standing(tx, asked.texts)
    if len(found) < len(asked.texts):
        return "text_changed"
    said = [one.policy for one in found.values()]
    if all(near_duplicate.eligible(one, now) and policy.rules_digest(one) == asked.policy_digest for one in said):
        return None
    return "policy_changed"


def decide(
    tx: Transaction,
    who: Principal,
    asked: Proposal,
    state: str,
    now: datetime,
    *,
    reason: str | None = None,
    deposited_source_id: UUID | None = None,
) -> Proposal:
    """Write the answer down, for the admin audit too. ``deposited_source_id``: the document that came of it."""
    tx.run(
        "consolidation.decide",
        id=asked.id,
        state=state,
        reason=reason,
        decided_by=who.admin_token_id,
        deposited_source_id=deposited_source_id,
        now=now,
    )
    told = {
        "kind": asked.kind,
        "kept": str(asked.kept_chunk_id),
        "other": str(asked.other_chunk_id),
        **({"reason": reason} if reason else {}),
        **({"deposited_source_id": str(deposited_source_id)} if deposited_source_id else {}),
    }
    policies.audit(tx, who, f"consolidation.{state}", str(asked.id), {"state": asked.state}, told, now)
    return replace(
        asked,
        state=state,
        reason=reason,
        decided_at=now,
        deposited_source_id=deposited_source_id or asked.deposited_source_id,
    )


def failed(reason: str | None) -> Conflict:
    """What who accepts a text hears that a gate stops by now."""
    return Conflict("a gate stops what was written; it is gone", code="proposal_failed", reason=reason)


def lapsed(reason: str) -> Conflict:
    """What who answers a proposal hears that no longer holds."""
    return Conflict("the texts are not as they were when this was proposed", code="proposal_lapsed", reason=reason)
