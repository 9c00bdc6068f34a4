"""What the queue calls: one message, one event, at most one new version."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from chalicelib import bootstrap, metrics
from chalicelib.metrics import Sample
from chalicelib.queueing.messages import CORRELATION_ATTRIBUTE, event_id_in
from chalicelib.services import outcomes, refresh
from chalicelib.services.clock import ClockAhead
from chalicelib.services.outside import Outside
from chalicelib.telemetry import log_unexpected, logger
from chalicelib.workers import writing
from chalicelib.workers.measured import Measured

Clock = Callable[[], datetime]

HOST_PATIENCE = timedelta(seconds=20)  # so long a worker waits for a busy host before it gives the event back
HOST_POLL_SECONDS = 0.25


def handle(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Do the messages of one delivery; the partial batch response names those that failed (Lambda, SQS)."""
    outside = bootstrap.outside()
    failures = [{"itemIdentifier": record["messageId"]} for record in records if not _succeeds(outside, record)]
    return {"batchItemFailures": failures}


def run(outside: Outside, event_id: UUID, *, clock: Clock) -> str:
    """Do one event, or write what a proposal waits for; how it ended, or ``nothing_to_do`` or ``postponed``.

    The clock is read before each move. Raises whatever is unexpected, after the event was made available to the next
    delivery.
    """
    job = refresh.begin(outside, event_id, now=clock())
    if job is None:
        return writing.run(outside, event_id, clock=clock) or "nothing_to_do"
    try:
        busy_until = _wait_for_host(outside, job, clock)
        if busy_until is not None:
            refresh.postpone(outside, job, until=busy_until)
            return "postponed"
        measured = Measured(outside)
        gathered = refresh.gather(measured.outside, job, now=clock())
        with outside.tracer.span("write"):
            result = outcomes.finish(outside, job, gathered, now=clock())
    except ClockAhead:
        refresh.postpone(outside, job, until=job.event.available_at)
        raise
    except Exception:
        outcomes.give_up(outside, job, now=clock())
        raise
    cause = gathered.cause if isinstance(gathered, refresh.Failed) else None
    logger.info("refreshed", event_id=str(event_id), source_id=str(job.source.id), result=result, cause=cause)
    outside.meter.emit(*measured.samples(gathered, result))
    return result


def _succeeds(outside: Outside, record: dict[str, Any]) -> bool:
    attributes = record.get("messageAttributes") or {}
    asked_by = (attributes.get(CORRELATION_ATTRIBUTE) or {}).get("stringValue")
    logger.set_correlation_id(asked_by or record["messageId"])
    samples = _age(record, datetime.now(UTC))
    try:
        run(outside, event_id_in(record["body"]), clock=lambda: datetime.now(UTC))
    except Exception as error:
        log_unexpected("a message failed", error)
        samples.append(metrics.MESSAGES_FAILED.of())
        return False
    finally:
        outside.meter.emit(*samples)
    return True


def _age(record: dict[str, Any], now: datetime) -> list[Sample]:
    """How long ago the queue took the message; an event source that doesn't say so is passed over."""
    sent = (record.get("attributes") or {}).get("SentTimestamp")
    return [metrics.QUEUE_AGE.of(max(0.0, now.timestamp() * 1000 - float(sent)))] if sent else []


def _wait_for_host(outside: Outside, job: refresh.Job, clock: Clock) -> datetime | None:
    """Take the host, waiting a little while another worker fetches from it; None if it is ours.

    Without the wait every worker but one would give its event back, and a site would get one page a tick.
    """
    deadline = time.monotonic() + HOST_PATIENCE.total_seconds()
    while True:
        now = clock()
        busy_until = refresh.take_host(outside, job, now=now)
        # A host that asked for peace for longer than we would wait is not worth waiting for.
        if busy_until is None or busy_until - now > refresh.FETCH_LEASE or time.monotonic() >= deadline:
            return busy_until
        time.sleep(HOST_POLL_SECONDS)
