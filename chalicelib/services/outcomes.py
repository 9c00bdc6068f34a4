"""The last move of a refresh: one write, behind every check that must hold at that instant."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from psycopg.types.json import Jsonb

from chalicelib.domain import secrets
from chalicelib.domain.ingest_gates import Deposit, Gate
from chalicelib.domain.night_window import current_night, next_start
from chalicelib.domain.outcome import Outcome
from chalicelib.domain.policy import CREDENTIALS
from chalicelib.domain.retry import next_step
from chalicelib.domain.source_url import canonicalise
from chalicelib.services import deposits, nights, policies
from chalicelib.services.clock import require_not_ahead
from chalicelib.services.outside import Outside
from chalicelib.services.refresh import Changed, Denied, Doubtful, Failed, Gathered, Job, Unchanged
from chalicelib.storage import events, held_texts, sources, suggestions
from chalicelib.storage.connection import Transaction

_GATES = {Outcome.DAMAGED_TEXT: Gate.TEXT_DAMAGE, Outcome.MOSTLY_SECRET: Gate.SECRET_SCAN}
"""Failures that are a gate's word, with the gate."""

LOST = "lost_lease"
"""Somebody else has the event now, or it was cancelled: nothing was written."""

EXHAUSTED_A_TICK = 100  # events that kill their workers; there should be none

_UNEXPECTED = "an unexpected error; the operator's log has it"

RECONFIGURED = "settings_changed"
"""The page was read as the source was set before an edit: nothing was written, and the event waits to read it anew."""


def finish(outside: Outside, job: Job, gathered: Gathered, *, now: datetime) -> str:
    """Write what was gathered; what it came to: an Outcome, or why nothing was written.

    ``lost_lease``, ``source_changed``, ``settings_changed``, ``superseded``, ``policies_changed``, ``tenant_disabled``
    and ``skipped_inactive`` leave the text as it was. Raises ClockAhead: a version must not begin in the future.
    """
    with outside.database.transaction(job.source.tenant_id) as tx:
        require_not_ahead(outside, tx, now)
        # The source first and then the event: everybody locks them in this order.
        source = sources.get(tx, job.source.id, lock=True)
        if source is None or events.lock_running(tx, job.event.id, job.token) is None:
            return LOST
        if source.keep_hidden_text != job.source.keep_hidden_text:
            events.put_back(tx, job.event.id, job.token, job.event.available_at)
            return RECONFIGURED
        if isinstance(gathered, Unchanged | Changed):
            return _succeed(outside, tx, job, gathered, now)
        if isinstance(gathered, Doubtful):
            return _hold(tx, job, gathered, now)
        if isinstance(gathered, Denied):
            return _quarantine(tx, job, gathered, now)
        return _fail(tx, job, gathered, now)


def give_up(outside: Outside, job: Job, *, now: datetime) -> None:
    """After an unexpected error: the next delivery may lease the event again, until its leases are used up."""
    with outside.database.transaction(job.source.tenant_id) as tx:
        if sources.get(tx, job.source.id, lock=True) is None:
            return
        event = tx.row(
            "events.hand_back",
            id=job.event.id,
            token=job.token,
            error=_UNEXPECTED,
            max_leases=events.MAX_LEASES,
            now=now,
        )
        if event is None:
            return
        _record_attempt(tx, job, Outcome.INTERNAL_ERROR, _UNEXPECTED, now)
        if event["state"] == "failed":
            suggestions.tell_failure(tx, job.source.id, Outcome.INTERNAL_ERROR)


def end_exhausted(outside: Outside, *, now: datetime) -> int:
    """Fail the events whose last lease ran out, and have their sources tell; how many.

    Each in a transaction of its tenant, which alone may write to the source. What is over the limit waits for the next
    tick.
    """
    with outside.database.transaction() as tx:
        found = tx.rows("events.exhausted", now=now, max_leases=events.MAX_LEASES, limit=EXHAUSTED_A_TICK)
    return sum(_end_exhausted(outside, **event, now=now) for event in found)


def _end_exhausted(outside: Outside, id: UUID, tenant_id: UUID, source_id: UUID, now: datetime) -> bool:
    with outside.database.transaction(tenant_id) as tx:
        if sources.get(tx, source_id, lock=True) is None:
            return False
        ended = tx.row("events.end_exhausted", id=id, now=now, max_leases=events.MAX_LEASES)
        if ended is None:  # its worker came through after all
            return False
        sources.record_attempt(tx, source_id, Outcome.INTERNAL_ERROR, ended["error"], now=now)
        suggestions.tell_failure(tx, source_id, Outcome.INTERNAL_ERROR)
        return True


def _succeed(outside: Outside, tx: Transaction, job: Job, gathered: Unchanged | Changed, now: datetime) -> str:
    rows = gathered.plan.new if isinstance(gathered, Changed) else []
    vectors = gathered.vectors if isinstance(gathered, Changed) else {}
    result: str = tx.value(
        "events.finish_refresh",
        event_id=job.event.id,
        token=job.token,
        now=now,
        base_version=gathered.base_version if isinstance(gathered, Changed) else job.source.current_version,
        check=Jsonb(gathered.check),
        version=Jsonb(gathered.version) if isinstance(gathered, Changed) else None,
        close=gathered.plan.close if isinstance(gathered, Changed) else [],
        ids=[row.chunk_id for row in rows],
        indexes=[row.chunk_index for row in rows],
        overlaps=[row.overlap for row in rows],
        texts=[row.text for row in rows],
        hashes=[row.content_hash for row in rows],
        reuse=[row.reuse for row in rows],
        embeddings=[None if row.reuse else vectors[row.text] for row in rows],
        model_id=outside.embedder.model_id,
        heirs=[heir for heir, _ in gathered.descents] if isinstance(gathered, Changed) else [],
        parents=[parent for _, parent in gathered.descents] if isinstance(gathered, Changed) else [],
        policy_epoch=gathered.policy_epoch if isinstance(gathered, Changed) else None,
    )
    if result == "written" and isinstance(gathered, Changed) and job.source.type == "url":
        _log(tx, job, "admit", now, redactions=gathered.version["secrets_redacted"])
    if result == "written" and isinstance(gathered, Changed) and gathered.credentials:
        policies.classify(tx, job.source, gathered.credentials, CREDENTIALS, now)
    if result in ("written", "unchanged") and "redirect_to" in gathered.check:  # a review has looked at no page
        _ask_about_redirect(tx, job, gathered.check["redirect_to"], now)
    return {"written": Outcome.NEW_VERSION, "unchanged": Outcome.UNCHANGED}.get(result, result)


def _ask_about_redirect(tx: Transaction, job: Job, seen: str | None, now: datetime) -> None:
    """One question at most, about the redirect that was seen just now; older ones are withdrawn."""
    uri = _new_home(job, seen)
    tx.run("suggestions.withdraw_redirects", source_id=job.source.id, target=uri)
    if uri is None:
        return
    old, new = urlsplit(job.source.uri), urlsplit(uri)
    upgrade = (old.scheme, new.scheme) == ("http", "https") and old.hostname == new.hostname
    tx.run("suggestions.offer_redirect", source_id=job.source.id, target=uri, https_upgrade=upgrade, now=now)


def _new_home(job: Job, target: str | None) -> str | None:
    """The canonical uri to which the page has moved, if it is one that a source may have."""
    try:
        uri = canonicalise(target) if target else job.source.uri
    except ValueError:
        return None
    # A link that works for whoever knows it is no address to keep.
    return None if uri == job.source.uri or secrets.find(uri) else uri


def _hold(tx: Transaction, job: Job, doubtful: Doubtful, now: datetime) -> str:
    """Keep the text aside and ask a person; a newer doubtful text takes the place of one not yet answered."""
    tx.run("suggestions.make_way_for_review", source_id=job.source.id)
    held_id = held_texts.insert(tx, doubtful.held)
    suggestions.offer(
        tx,
        tenant_id=job.source.tenant_id,
        source_id=job.source.id,
        kind="review_change",
        reason=doubtful.held.reason,
        detail={"characters": len(doubtful.held.text), "final_url": doubtful.held.final_url},
        held_text_id=held_id,
        now=now,
    )
    _record_attempt(tx, job, Outcome.NEEDS_REVIEW, None, now)
    _close(tx, job, "done", Outcome.NEEDS_REVIEW, None, now)
    return Outcome.NEEDS_REVIEW


def _quarantine(tx: Transaction, job: Job, denied: Denied, now: datetime) -> str:
    """The old version stays; the text waits, redacted, for a person to release or drop it."""
    source, said = job.source, denied.screening
    deposits.hold(tx, source.tenant_id, source.id, Deposit.PAGE, said, denied.title, {}, now, job.event.correlation_id)
    _record_attempt(tx, job, Outcome.QUARANTINED, "the page holds what a deny pattern keeps out", now)
    _close(tx, job, "failed", Outcome.QUARANTINED, "the page holds what a deny pattern keeps out", now)
    return Outcome.QUARANTINED


def _fail(tx: Transaction, job: Job, failed: Failed, now: datetime) -> str:
    """Record the failure and let the table of spec 1.1 say what follows."""
    gone_in_a_row = _record_attempt(tx, job, failed.outcome, failed.detail, now)
    if gate := _GATES.get(failed.outcome):
        _log(tx, job, "refuse", now, gate=gate, reason=failed.outcome)
    settings = nights.settings_of(job.tenant)
    night = current_night(settings, now)
    step = next_step(
        failed.outcome,
        now=now,
        attempts=job.event.attempts + 1,
        consecutive_gone=gone_in_a_row,
        retry_after=failed.retry_after,
        is_night=job.event.night,
        night_end=night.ends_at if night else None,
        next_night_start=next_start(settings, now),
    )
    if step.at is not None:
        tx.run(
            "events.retry",
            id=job.event.id,
            available_at=step.at,
            at_night=step.kind == "next_night",
            outcome=failed.outcome,
            error=failed.detail,
        )
        return failed.outcome
    _close(tx, job, "failed", failed.outcome, failed.detail, now)
    suggestions.tell_failure(tx, job.source.id, failed.outcome)
    if step.kind == "gone":
        suggestions.offer(
            tx,
            tenant_id=job.source.tenant_id,
            source_id=job.source.id,
            kind="gone",
            reason=failed.outcome,
            detail={"in_a_row": gone_in_a_row},
            now=now,
        )
    return failed.outcome


def _log(tx: Transaction, job: Job, outcome: str, now: datetime, **more: Any) -> None:
    """What the gates made of a page; a deposit's own row was written when it came."""
    source = job.source
    deposits.log(tx, source.tenant_id, Deposit.PAGE, outcome, source.id, now, job.event.correlation_id, **more)


def _record_attempt(tx: Transaction, job: Job, outcome: Outcome, error: str | None, now: datetime) -> int:
    return sources.record_attempt(tx, job.source.id, outcome, error, now=now, gone=outcome.is_gone)


def _close(tx: Transaction, job: Job, state: str, outcome: Outcome, error: str | None, now: datetime) -> None:
    events.finish(tx, job.event.id, state, outcome, error, now)
