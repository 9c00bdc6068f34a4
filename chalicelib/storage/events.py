"""Events: one piece of work each, from approval to outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from chalicelib.storage.connection import Transaction
from chalicelib.storage.sources import Source

REFRESH = "KB_REFRESH_SOURCE"
PUBLISH = "KB_PUBLISH_REVIEW"
MAX_LEASES = 5  # leases that end without an outcome: the event kills its workers and must end (spec 1.1)


@dataclass(frozen=True, slots=True)
class Event:
    """A row of ``kb_events``; the columns are explained where they are made."""

    id: UUID
    tenant_id: UUID
    source_id: UUID
    kind: str
    state: str
    night: bool
    available_at: datetime
    approved_at: datetime
    source_generation: int
    held_text_id: UUID | None
    correlation_id: str | None
    counted_night: date | None
    attempts: int
    leases: int
    dispatched_at: datetime | None
    lease_until: datetime | None
    outcome: str | None
    error: str | None
    created_at: datetime
    finished_at: datetime | None


def insert(
    tx: Transaction,
    *,
    tenant_id: UUID,
    source_id: UUID,
    kind: str,
    night: bool,
    available_at: datetime,
    source_generation: int,
    held_text_id: UUID | None,
    correlation_id: str | None,
    now: datetime,
) -> Event | None:
    """A new pending event; None if the source has an open one already."""
    return tx.one(
        "events.insert",
        Event,
        tenant_id=tenant_id,
        source_id=source_id,
        kind=kind,
        night=night,
        available_at=available_at,
        source_generation=source_generation,
        held_text_id=held_text_id,
        correlation_id=correlation_id,
        now=now,
    )


def insert_nights(
    tx: Transaction, sources: Sequence[Source], *, available_at: datetime, correlation_id: str | None, now: datetime
) -> None:
    """A pending refresh in the night for each source of one tenant that has no open event, all in one statement."""
    tx.run(
        "events.insert_nights",
        tenant_id=sources[0].tenant_id,
        source_ids=[source.id for source in sources],
        generations=[source.generation for source in sources],
        kind=REFRESH,
        available_at=available_at,
        correlation_id=correlation_id,
        now=now,
    )


def open_of_sources(tx: Transaction, source_ids: Sequence[UUID]) -> list[Event]:
    """The pending, dispatched and running events of these sources, locked."""
    return tx.all("events.open_of_sources", Event, source_ids=list(source_ids))


def open_of_source(tx: Transaction, source_id: UUID) -> Event | None:
    """The source's pending, dispatched or running event, locked."""
    return tx.one("events.open_of_source", Event, source_id=source_id)


def get(tx: Transaction, event_id: UUID) -> Event | None:
    """The event, or None if there is none in this tenant."""
    return tx.one("events.get", Event, id=event_id)


def lease(tx: Transaction, event_id: UUID, *, token: UUID, now: datetime, until: datetime) -> Event | None:
    """The event, now running under ``token``; None if it isn't there to be had."""
    return tx.one("events.lease", Event, event_id=event_id, token=token, now=now, until=until, max_leases=MAX_LEASES)


def lock_running(tx: Transaction, event_id: UUID, token: UUID) -> Event | None:
    """The event, locked, if it is still this lease's; None if the lease was lost."""
    return tx.one("events.lock_running", Event, id=event_id, token=token)


def put_back(tx: Transaction, event_id: UUID, token: UUID, available_at: datetime) -> None:
    """Give the lease back unused: nothing was tried, so nothing is counted."""
    tx.run("events.put_back", id=event_id, token=token, available_at=available_at)


def finish(tx: Transaction, event_id: UUID, state: str, outcome: str, error: str | None, now: datetime) -> None:
    """Close the event as done, failed or skipped, and the approved suggestion that it came from."""
    failed = int(state == "failed")
    tx.run("events.finish", id=event_id, state=state, outcome=outcome, error=error, failed=failed, now=now)
