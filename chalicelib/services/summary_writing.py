"""The worker's part in a written proposal: lease, ask the model with no connection held, put its text to the gates.

A worker that dies in between has written nothing: the work is leased again, `MAX_LEASES` times at most. A model that
fails is not asked again by itself; an operator may ask anew.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from chalicelib.domain import summary_prompt
from chalicelib.domain.clean_text import clean_text
from chalicelib.domain.ingest_gates import Deposit, Gate, Screening, screen
from chalicelib.domain.text_damage import find_damage
from chalicelib.errors import NotFound
from chalicelib.fetching import ssrf
from chalicelib.keys import read_secret
from chalicelib.knowledge.exchange import Post
from chalicelib.queueing.messages import Message
from chalicelib.services import deposits, passages, policies
from chalicelib.services.outside import Outside
from chalicelib.services.proposals import Proposal, lapse_reason, lock
from chalicelib.storage.connection import Transaction
from chalicelib.writing import chat
from chalicelib.writing.chat import Model, WritingFailed

MAX_LEASES = 3
LOST_AFTER = timedelta(minutes=15)  # sent so long ago and not done: sent again
DISPATCHED_A_TICK = 20
LEASE_FOR_THE_MODEL = 2 / 3  # of the lease, at most: what is left is for the two transactions around the question
LOST = "lost_lease"


@dataclass(frozen=True, slots=True)
class Writing:
    """Leased work: which texts, as they were judged when it was asked for."""

    proposal: Proposal
    tenant_id: UUID
    token: UUID
    correlation_id: str | None
    texts: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Wrote:
    """What the model answered, cleaned; no gate has seen it."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """No text. ``reason`` is a word for the tenant, ``cause`` one for the log; ``gate`` if it was a gate's."""

    reason: str
    cause: str
    gate: Gate | None = None


def dispatch(outside: Outside, now: datetime) -> int:
    """For the tick: send what waits to be written, and again what was lost; how many. It makes no proposal."""
    with outside.database.transaction() as tx:
        rows = tx.rows("consolidation.dispatch", now=now, before=now - LOST_AFTER, limit=DISPATCHED_A_TICK)
    messages = [Message(row["proposal_id"], row["correlation_id"]) for row in rows]
    unsent = outside.queue.send(messages) if messages else []
    if unsent:
        with outside.database.transaction() as tx:
            tx.run("consolidation.undo_dispatch", ids=unsent)
    return len(messages) - len(unsent)


def begin(outside: Outside, proposal_id: UUID, *, now: datetime) -> Writing | None:
    """Lease the work; None if there is none, somebody has it, or it came to its end here.

    Nor while the deployment or the tenant is switched off: the texts stay, and the work is sent again later.
    """
    if not outside.settings.enable_kb:
        return None
    token, until = uuid4(), now + timedelta(seconds=outside.settings.lease_seconds)
    with outside.database.transaction() as tx:
        work = tx.row("consolidation.lease", id=proposal_id, token=token, until=until, now=now)
    if work is None:
        return None
    with outside.database.transaction(work["tenant_id"]) as tx:
        asked = _lock(tx, proposal_id)
        if asked is None:
            return None
        if asked.state != "writing":
            tx.run("consolidation.end_work", id=asked.id)
            return None
        reason = "gave_up" if work["leases"] > MAX_LEASES else lapse_reason(tx, asked, now)
        if reason is not None:
            _end(tx, asked, work["tenant_id"], "failed" if reason == "gave_up" else "lapsed", reason, now)
            return None
        texts = tuple(one.text for one in passages.read(tx, asked))
    return Writing(asked, work["tenant_id"], token, work["correlation_id"], texts)


def compose(outside: Outside, writing: Writing, *, post: Post = ssrf.post) -> Wrote | Failed:
    """Ask the model. Raises nothing that the world can cause."""
    try:
        conversation = summary_prompt.messages(writing.texts, secrets.token_hex(8))
        seconds = min(chat.SECONDS, outside.settings.lease_seconds * LEASE_FOR_THE_MODEL)
        answer = chat.complete(
            _model(outside), conversation, max_tokens=summary_prompt.MAX_TOKENS, post=post, seconds=seconds
        )
    except WritingFailed as error:
        return Failed(error.reason, error.cause)
    if find_damage(answer) is not None:
        return Failed("damaged_text", "damaged_text", Gate.TEXT_DAMAGE)
    text = clean_text(answer).text.strip()
    if not text:
        return Failed("no_text", "no_text")
    return Wrote(text) if len(text) <= summary_prompt.MAX_CHARACTERS else Failed("too_long", "too_long")


def finish(outside: Outside, writing: Writing, came: Wrote | Failed, *, now: datetime) -> str:
    """Propose what was written if a gate doesn't stop it and its inputs are as they were; how it ended."""
    with outside.database.transaction(writing.tenant_id) as tx:
        asked = _lock(tx, writing.proposal.id)
        if asked is None or asked.state != "writing":
            return LOST
        if tx.row("consolidation.lock_work", id=asked.id, token=writing.token) is None:
            return LOST
        if (reason := lapse_reason(tx, asked, now)) is not None:
            return _end(tx, asked, writing.tenant_id, "lapsed", reason, now)
        if isinstance(came, Wrote):
            patterns = deposits.deny_patterns(tx, writing.tenant_id)
            screening = screen(came.text, Deposit.CONSOLIDATED, patterns)
            if screening.outcome == "admit":
                return _propose(outside, tx, asked, screening)
            came = Failed(screening.reason, screening.reason, screening.gate)
        if came.gate is not None:
            deposits.log(tx, writing.tenant_id, Deposit.CONSOLIDATED, "refuse", None, now, writing.correlation_id,
                         gate=came.gate, reason=came.reason)  # fmt: skip
        return _end(tx, asked, writing.tenant_id, "failed", came.reason, now)


def give_up(outside: Outside, writing: Writing) -> None:
    """After an unexpected error: the next delivery may lease the work again."""
    with outside.database.transaction(writing.tenant_id) as tx:
        tx.run("consolidation.release", id=writing.proposal.id, token=writing.token)


def _lock(tx: Transaction, proposal_id: UUID) -> Proposal | None:
    """The proposal, locked; None if it went with its tenant or a source."""
    try:
        return lock(tx, proposal_id)
    except NotFound:
        return None


def _propose(outside: Outside, tx: Transaction, asked: Proposal, screening: Screening) -> str:
    tx.run(
        "consolidation.keep_written",
        id=asked.id,
        text=screening.text,
        redactions=len(screening.findings),
        model=outside.settings.llm_model,
    )
    tx.run("consolidation.end_work", id=asked.id)
    return "proposed"


def _end(tx: Transaction, asked: Proposal, tenant_id: UUID, state: str, reason: str, now: datetime) -> str:
    tx.run("consolidation.end_writing", id=asked.id, state=state, reason=reason, now=now)
    tx.run("consolidation.end_work", id=asked.id)
    policies.audit_of_house(tx, tenant_id, f"consolidation.{state}", str(asked.id), {"reason": reason}, now)
    return reason


def _model(outside: Outside) -> Model:
    """The deployment's model. The guard lets it be asked and nothing else: no redirect leads elsewhere.

    Plain HTTP and private addresses need the deployment's development switch, as everywhere. Raises WritingFailed where
    there is none, or its key can't be read.
    """
    settings = outside.settings
    if not settings.llm_endpoint:
        raise WritingFailed("no_model")
    key = None
    if settings.llm_key:
        try:
            key = read_secret(settings.llm_key).strip()
        except Exception as error:  # a file's or Secrets Manager's: the word for it is the same
            raise WritingFailed("key_unreadable", f"key_unreadable: {type(error).__name__}") from None
        if not (key and key.isascii() and key.isprintable()):
            raise WritingFailed("key_unreadable")
    target = ssrf.parse_url(settings.llm_endpoint)
    policy = replace(
        outside.fetch_policy,
        https_only=not outside.fetch_policy.allow_private_networks,
        allowed_domains=() if target.is_literal else (target.host,),
        allowed_ports=frozenset({target.port}),
    )
    return Model(settings.llm_endpoint, settings.llm_model, key, policy)
