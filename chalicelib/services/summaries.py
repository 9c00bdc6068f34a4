"""One text that a model writes for two near-duplicates: asked for, proposed, and, once accepted, a document (spec 2.6).

What leaves for the model is judged when an operator asks for it, and sent only as it was judged. What comes back is a
stranger's text: it passes the gates before it is proposed, and all of them again before it is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce
from typing import Any
from uuid import UUID

from chalicelib.domain import policy, policy_patch
from chalicelib.domain.ingest_gates import Deposit
from chalicelib.domain.policy import Policy
from chalicelib.domain.provenance import originate
from chalicelib.errors import Conflict, Forbidden
from chalicelib.services import deposits, enforcement, passages, policies, quotas
from chalicelib.services.enforcement import Reading
from chalicelib.services.outside import Outside
from chalicelib.services.passages import Passage
from chalicelib.services.proposals import (
    EXTRACTIVE,
    WRITTEN,
    Proposal,
    decide,
    lapse_reason,
    lapsed,
    lock,
    require,
    require_operator,
    require_state,
)
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction

MOST_WRITING = 20  # of a tenant at a time


def ask(
    outside: Outside, who: Principal, reading: Reading, proposal_id: UUID, *, correlation_id: str | None, now: datetime
) -> tuple[Proposal, quotas.Allowance]:
    """Have a text written for an open extractive proposal: a proposal of its own, which the worker completes.

    The texts leave the house for the model, so they are judged as for a reader who is no operator, enforced in every
    mode. Raises Forbidden without an operator's name or where a text may not leave, NotFound, Conflict ``no_model``,
    ``proposal_decided``, ``proposal_lapsed``, ``already_asked`` or ``too_many_asked``, RateLimited.
    """
    require_operator(who)
    if not outside.settings.llm_endpoint:
        raise Conflict("this deployment has no LARDER_LLM_ENDPOINT", code="no_model")
    with quotas.mutation(outside, who, now) as (tx, allowance):
        asked = lock(tx, proposal_id)
        require_state(asked, "open")
        if asked.kind != EXTRACTIVE:
            raise Conflict("this text was written already", code="already_asked")
        reason = lapse_reason(tx, asked, now)
        if reason is not None:
            decide(tx, who, asked, "lapsed", now, reason=reason)
        elif _may_leave(outside, tx, reading, asked, now):
            return _begin(tx, who, asked, correlation_id, now), allowance
    if reason is not None:
        raise lapsed(reason)
    raise Forbidden("one of the texts may not be sent to a model", code="withheld_from_model")


def proposed(tx: Transaction, asked: Proposal, inputs: Sequence[Passage]) -> Passage | None:
    """What a model wrote, as the firewall judges it: under the strictest policy of its inputs."""
    if asked.kind != WRITTEN or asked.state != "open" or len(inputs) < len(asked.texts):
        return None
    text = tx.value("consolidation.written", id=asked.id)
    return Passage("written", asked.id, asked.kept_source_id, None, _strictest(inputs), asked.kept_source_name, text)


def accept(
    outside: Outside, tx: Transaction, who: Principal, asked: Proposal, correlation_id: str | None, now: datetime
) -> Proposal:
    """Deposit what was written, in the caller's transaction, which has checked that its inputs are as they were.

    The inputs stay as they are. A text that a gate stops by now has failed and is gone: in quarantine nothing would tie
    it to its inputs, whatever becomes of them.
    """
    written = proposed(tx, asked, passages.read(tx, asked))
    assert written is not None, "an open written proposal whose texts are current has a text"
    fields = _fields(written.policy)
    title = f"Consolidated: {asked.kept_source_name}"[:200]
    offered = deposits.Offered(Deposit.CONSOLIDATED, written.text, title, fields)
    screening = deposits.screened(outside, tx, who, offered)
    if screening.outcome != "admit":
        deposits.log(tx, who.tenant_id, Deposit.CONSOLIDATED, "refuse", None, now, correlation_id,
                     gate=screening.gate, reason=screening.reason)  # fmt: skip
        return decide(tx, who, asked, "failed", now, reason=screening.reason)
    done = deposits.keep(outside, tx, who, offered, screening, policy_patch.parse(fields), correlation_id, now)
    assert done.source is not None, "what is kept is a source"
    return decide(tx, who, asked, "accepted", now, deposited_source_id=done.source.id)


def _may_leave(outside: Outside, tx: Transaction, reading: Reading, asked: Proposal, now: datetime) -> bool:
    nobody = replace(reading, request=replace(reading.request, operator=""), always_enforce=True)
    inputs = passages.read(tx, asked)
    served = enforcement.admit(outside, tx, nobody, inputs, wanted=None, now=now)
    return len(served) == len(asked.texts)


def _begin(tx: Transaction, who: Principal, asked: Proposal, correlation_id: str | None, now: datetime) -> Proposal:
    if tx.value("consolidation.count_writing", tenant_id=who.tenant_id) >= MOST_WRITING:
        raise Conflict(f"{MOST_WRITING} texts are being written", code="too_many_asked")
    same = ("pair", "similarity", "kept_source_id", "kept_hash", "kept_chunk_id", "other_source_id", "other_hash",
            "other_chunk_id", "policy_digest")  # fmt: skip
    columns: dict[str, Any] = {name: getattr(asked, name) for name in same}
    made = tx.value("consolidation.propose", tenant_id=who.tenant_id, kind=WRITTEN, state="writing", now=now, **columns)
    if made is None:
        raise Conflict("a text for these two is being written or waits for an answer", code="already_asked")
    tx.run("consolidation.enqueue", id=made, tenant_id=who.tenant_id, correlation_id=correlation_id, now=now)
    sent = {"proposal": str(asked.id), "kept": str(asked.kept_chunk_id), "other": str(asked.other_chunk_id)}
    policies.audit(tx, who, "consolidation.write", str(made), None, sent, now)
    return require(tx, made)


def _strictest(inputs: Sequence[Passage]) -> Policy:
    merged = reduce(policy.strictest, (one.policy for one in inputs))
    return replace(merged, provenance=originate("consolidated"))


def _fields(said: Policy) -> dict[str, Any]:
    """The policy as a depositor would name it."""
    named = policy.as_json(said)
    return {name: named[name] for name in policy_patch.PolicyPatch.__annotations__}
