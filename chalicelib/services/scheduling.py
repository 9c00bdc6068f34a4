"""The dispatcher: once a minute, events whose time has come go to the workers, fairly and under every tenant's cap."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from chalicelib.domain.night_window import NightSettings, current_night, next_start
from chalicelib.keys import KeysUnusable
from chalicelib.queueing.messages import Message
from chalicelib.services import (
    evaluations,
    finished_work,
    ingest_log,
    outcomes,
    provider_secrets,
    retention,
    search_cache,
    summary_writing,
)
from chalicelib.services.clock import require_not_ahead
from chalicelib.services.outside import Outside
from chalicelib.storage.connection import Transaction
from chalicelib.storage.events import MAX_LEASES
from chalicelib.telemetry import log_unexpected

TENANTS_A_ROUND = 500  # run-queue rows that one transaction of the tick locks
LOST_AFTER = timedelta(minutes=15)  # dispatched so long ago, never leased, and nothing in the queue: sent again
DISABLED_SLEEP = timedelta(minutes=5)  # at most so long until a tenant that was switched on is served
HOUSEKEEPING_MINUTE = 7  # of every hour, away from the minutes at which nights start
HOST_ROWS_KEPT = timedelta(days=2)
NIGHT_ROWS_KEPT = timedelta(days=60)
DUE_COUNTED = 10_000  # a longer backlog is not worth counting every minute


@dataclass(frozen=True, slots=True)
class Ticked:
    """What one tick found and did, in events; ``caps_reached`` in tenants, ``dropped`` in rows of finished work."""

    due: int
    dispatched: int
    unsent: int
    caps_reached: int
    leases_swept: int
    lost_swept: int
    dropped: finished_work.Dropped


def tick(outside: Outside, *, now: datetime) -> Ticked:
    """One run of the dispatcher. Several at once are safe: each takes tenants that no other has.

    A crash at any point may send an event twice and never loses one: an event is marked and committed before it is
    sent, and what was marked and never arrived is swept back (spec 1.1). Raises ClockAhead: such a tick would send what
    is not due, and take their work from all who are at it.
    """
    with outside.database.transaction() as tx:
        require_not_ahead(outside, tx, now)
        tx.run("scheduler.ticked", now=now)
        swept = tx.rows("events.sweep_leases", now=now, max_leases=MAX_LEASES)
        due = tx.value("events.count_due", now=now, limit=DUE_COUNTED)
    exhausted = outcomes.end_exhausted(outside, now=now)
    if now.minute == HOUSEKEEPING_MINUTE:
        _tidy(outside, now)
    lost = _sweep_lost(outside, now)
    dispatched, unsent, caps_reached = _dispatch(outside, now) if outside.settings.enable_kb else (0, 0, 0)
    if outside.settings.enable_kb:
        summary_writing.dispatch(outside, now)
    _measure_queue(outside, now)
    dropped = finished_work.drop(outside, now=now)  # after all that somebody waits for
    leases = len(swept) + exhausted
    return Ticked(due, dispatched, unsent, caps_reached, leases_swept=leases, lost_swept=lost, dropped=dropped)


def _tidy(outside: Outside, now: datetime) -> None:
    """Once an hour, what reads whole tables: rows that nobody needs any more."""
    with outside.database.transaction() as tx:
        tx.run("hosts.forget_idle", before=now - HOST_ROWS_KEPT)
        tx.run("nights.forget_old", before=(now - NIGHT_ROWS_KEPT).date())
        tx.run("embeddings.evict", rows=outside.settings.embedding_cache_rows)
    try:
        evaluations.seal(outside, now=now)
    except KeysUnusable as error:
        log_unexpected("chains of decisions were not sealed", error)  # the next hour tries again; work goes on
    provider_secrets.sweep(outside, now)
    search_cache.sweep(outside, now)
    retention.sweep_all(outside, now=now)  # before old decisions go, from which it learns of the last use
    evaluations.retain(outside, now=now)
    ingest_log.retain(outside, now=now)


def _measure_queue(outside: Outside, now: datetime) -> None:
    """Write down how much waits: the API, which tells it, has no business with the queue."""
    depths = outside.queue.depths()
    with outside.database.transaction() as tx:
        tx.run("scheduler.measured", waiting=depths.waiting, dead=depths.dead, now=now)


def _sweep_lost(outside: Outside, now: datetime) -> int:
    """Return events whose message seems lost; only while the queue is empty, since a long queue is no loss."""
    with outside.database.transaction() as tx:
        candidate = tx.value("events.has_lost", before=now - LOST_AFTER)
    if not candidate or not outside.queue.is_idle():
        return 0
    with outside.database.transaction() as tx:
        return len(tx.rows("events.sweep_lost", before=now - LOST_AFTER))


def _dispatch(outside: Outside, now: datetime) -> tuple[int, int, int]:
    """How many events went out and how many the queue did not take, and how many tenants' caps leave no room."""
    dispatched = unsent = caps_reached = 0
    while True:
        with outside.database.transaction() as tx:
            room = outside.settings.dispatch_in_flight - tx.value("events.in_flight")
            if room <= 0:
                break
            due = tx.rows("events.lock_due_tenants", now=now, limit=TENANTS_A_ROUND)
            messages, full = _claim(tx, due, outside.settings.dispatch_per_tenant, room, now)
        failed = outside.queue.send(messages) if messages else []
        if failed:
            with outside.database.transaction() as tx:
                tx.run("events.undo_dispatch", ids=failed)
        dispatched += len(messages) - len(failed)
        unsent += len(failed)
        caps_reached += full
        # A tenant with more to do stands behind the others for the next tick: nobody is served twice in this one.
        if len(due) < TENANTS_A_ROUND or failed:
            break
    return dispatched, unsent, caps_reached


def _claim(
    tx: Transaction, due: list[dict[str, Any]], per_tenant: int, room: int, now: datetime
) -> tuple[list[Message], int]:
    """Mark what may go now as dispatched; tenants that are switched off sleep. Also how many caps leave no room."""
    disabled = [row["tenant_id"] for row in due if not row["enabled"]]
    tx.run("events.sleep_disabled", tenants=disabled, until=now + DISABLED_SLEEP)
    enabled = [row for row in due if row["enabled"]]
    windows = [_window(row, now) for row in enabled]
    nights = {
        "tenants": [row["tenant_id"] for row in enabled],
        "caps": [row["nightly_job_cap"] for row in enabled],
        "nights": [night for night, _ in windows],
    }
    rows = tx.rows(
        "events.dispatch",
        now=now,
        **nights,
        next_nights=[following for _, following in windows],
        per_tenant=per_tenant,
        limit=room,
    )
    full: int = tx.value("nights.count_full", **nights)
    return [Message(UUID(str(row["event_id"])), row["correlation_id"]) for row in rows], full


def _window(row: dict[str, Any], now: datetime) -> tuple[date | None, datetime]:
    """Tonight's id, None while the window is closed, and the next night's start."""
    settings = NightSettings(row["night_start"], row["night_end"], row["timezone"])
    night = current_night(settings, now)
    return (night.id if night else None), next_start(settings, now)
