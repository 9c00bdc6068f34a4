"""Scheduling: from a wish to refresh to an event that waits for its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from chalicelib.domain.night_window import next_start
from chalicelib.errors import Conflict, NotFound
from chalicelib.services import nights, quotas
from chalicelib.services.outside import Outside
from chalicelib.services.sources import require
from chalicelib.services.tokens import Principal
from chalicelib.storage import events, tenants
from chalicelib.storage.connection import Transaction
from chalicelib.storage.events import Event
from chalicelib.storage.sources import Source

When = Literal["now", "night"]


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The source's open event, and whether it is new."""

    event: Event
    created: bool


def queue(
    outside: Outside, who: Principal, source_id: UUID, when: When, *, correlation_id: str | None, now: datetime
) -> tuple[Scheduled, quotas.Allowance]:
    """Have the source refreshed, at once or in the next night.

    An event that is open already is returned as it is, or brought forward by ``now`` if it still waits.
    Raises NotFound, Conflict ``source_inactive``, RateLimited.
    """
    with quotas.mutation(outside, who, now) as (tx, allowance):
        source = require(tx, source_id, lock=True)
        return schedule(tx, source, when, correlation_id=correlation_id, now=now), allowance


def schedule_nights(
    tx: Transaction, pages: Sequence[Source], *, correlation_id: str | None, now: datetime
) -> dict[UUID, Event]:
    """``schedule`` for the night, for many pages of one tenant in few statements: the open event of each source.

    The caller has locked the sources, all of them pages that are switched on.
    """
    tenant = tenants.get(tx, pages[0].tenant_id) if pages else None
    if tenant is None:
        return {}
    start = next_start(nights.settings_of(tenant), now)
    events.insert_nights(tx, pages, available_at=start, correlation_id=correlation_id, now=now)
    return {event.source_id: event for event in events.open_of_sources(tx, [page.id for page in pages])}


def schedule(
    tx: Transaction,
    source: Source,
    when: When,
    *,
    correlation_id: str | None,
    now: datetime,
    kind: str = events.REFRESH,
    held_text_id: UUID | None = None,
) -> Scheduled:
    """Write the event, inside the caller's transaction, which has locked the source.

    Nothing may claim a night event before the next start of the tenant's night in the tenant's timezone (spec 1.1).
    """
    if not source.active:
        raise Conflict("the source is switched off", code="source_inactive")
    if kind == events.REFRESH and source.type != "url":
        raise Conflict("only a page can be refreshed", code="not_refreshable")
    tenant = tenants.get(tx, source.tenant_id)
    if tenant is None:
        raise NotFound("there is no such source")
    existing = events.open_of_source(tx, source.id)
    if existing is not None:
        moved = tx.one("events.bring_forward", Event, id=existing.id, now=now) if when == "now" else None
        return Scheduled(moved or existing, created=False)
    event = events.insert(
        tx,
        tenant_id=source.tenant_id,
        source_id=source.id,
        kind=kind,
        night=when == "night",
        available_at=now if when == "now" else next_start(nights.settings_of(tenant), now),
        source_generation=source.generation,
        held_text_id=held_text_id,
        correlation_id=correlation_id,
        now=now,
    )
    assert event is not None, "the source is locked, so nobody else can have made one"
    return Scheduled(event, created=True)
