"""What an operator does with a proposal: reads it, accepts it, rejects it, takes an acceptance back (spec 2.6).

Accepting an extractive proposal makes searches pass over one of the two texts while the other is there. Nothing is
erased or closed: page texts, differences and searches as of earlier instants show what they showed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chalicelib.errors import Conflict
from chalicelib.services import enforcement, quotas, summaries
from chalicelib.services.enforcement import Reading, Served
from chalicelib.services.outside import Outside
from chalicelib.services.passages import Passage, read
from chalicelib.services.proposals import (
    EXTRACTIVE,
    Proposal,
    decide,
    failed,
    lapse_reason,
    lapsed,
    lock,
    require,
    require_operator,
    require_state,
)
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction


@dataclass(frozen=True, slots=True)
class Shown:
    """A proposal and its texts as far as they may be read; ``written``: what a model made of them, while it is open."""

    proposal: Proposal
    kept: Served[Passage] | None
    other: Served[Passage] | None
    written: Served[Passage] | None


def show(outside: Outside, who: Principal, reading: Reading, proposal_id: UUID, now: datetime) -> Shown:
    """The texts of a proposal, each judged, and the decisions written down. Raises NotFound."""
    with outside.database.transaction(who.tenant_id) as tx:
        asked = require(tx, proposal_id)
        passages = read(tx, asked)
        written = summaries.proposed(tx, asked, passages)
        rows = [*passages, *([written] if written else [])]
        served = {one.row.part: one for one in enforcement.admit(outside, tx, reading, rows, wanted=None, now=now)}
    return Shown(asked, served.get("kept"), served.get("other"), served.get("written"))


def accept(
    outside: Outside, who: Principal, proposal_id: UUID, *, correlation_id: str | None, now: datetime
) -> tuple[Proposal, quotas.Allowance]:
    """Do what was proposed, if the texts and their policies are as they were; else the proposal lapses.

    What was written fails where a gate stops it by now. Raises Forbidden without an operator's name, NotFound, Conflict
    ``proposal_decided``, ``proposal_lapsed`` or ``proposal_failed``, RateLimited.
    """
    require_operator(who)
    with quotas.mutation(outside, who, now) as (tx, allowance):
        tx.run("consolidation.lock", tenant_id=who.tenant_id)  # before any row: as a scan does
        asked = lock(tx, proposal_id)
        require_state(asked, "open")
        reason = lapse_reason(tx, asked, now)
        if reason is not None:
            decide(tx, who, asked, "lapsed", now, reason=reason)
        elif asked.kind == EXTRACTIVE:
            return _supersede(tx, who, asked, now), allowance
        else:
            done = summaries.accept(outside, tx, who, asked, correlation_id, now)
            if done.state == "accepted":
                return done, allowance
            stopped = done.reason
    raise lapsed(reason) if reason is not None else failed(stopped)


def reject(outside: Outside, who: Principal, proposal_id: UUID, now: datetime) -> tuple[Proposal, quotas.Allowance]:
    """Change nothing; a pair that was rejected is not proposed again, and what is being written of it ends.

    Raises NotFound, Conflict ``proposal_decided``, RateLimited.
    """
    with quotas.mutation(outside, who, now) as (tx, allowance):
        asked = lock(tx, proposal_id)
        require_state(asked, "open", "writing")
        tx.run("consolidation.end_work", id=asked.id)
        if asked.kind == EXTRACTIVE:
            for row in tx.rows("consolidation.being_written", tenant_id=who.tenant_id, pair=asked.pair):
                tx.run("consolidation.end_work", id=row["id"])
                decide(tx, who, require(tx, row["id"]), "lapsed", now, reason="rejected")
        return decide(tx, who, asked, "rejected", now), allowance


def undo(outside: Outside, who: Principal, proposal_id: UUID, now: datetime) -> tuple[Proposal, quotas.Allowance]:
    """Let searches find the text again that made way. What was written is a source: it is switched off as one.

    Raises Forbidden without an operator's name, NotFound, Conflict ``proposal_decided`` or ``not_reversible``,
    RateLimited.
    """
    require_operator(who)
    with quotas.mutation(outside, who, now) as (tx, allowance):
        asked = lock(tx, proposal_id)
        require_state(asked, "accepted")
        if asked.kind != EXTRACTIVE:
            raise Conflict("what was written is a source of its own: switch that off", code="not_reversible")
        tx.run("consolidation.restore", id=asked.id, now=now)
        return decide(tx, who, asked, "undone", now), allowance


def _supersede(tx: Transaction, who: Principal, asked: Proposal, now: datetime) -> Proposal:
    columns = ("kept_source_id", "kept_hash", "kept_chunk_id", "other_source_id", "other_hash")
    named = {name: getattr(asked, name) for name in columns}
    for row in tx.rows("consolidation.end_ring", now=now, **named):
        decide(tx, who, require(tx, row["proposal_id"]), "lapsed", now, reason="another_way")
    tx.run("consolidation.supersede", tenant_id=who.tenant_id, id=asked.id, now=now, **named)
    return decide(tx, who, asked, "accepted", now)
