"""``/v1/kb/events``: work, from approval to outcome."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from chalicelib.api import fields
from chalicelib.api.resource import Answer, Call, NoQuery, Nothing, Output, Query, Resource
from chalicelib.domain.cursor import cut
from chalicelib.services import work
from chalicelib.storage.events import Event

events = Resource("events")

State = Literal["pending", "dispatched", "running", "done", "failed", "skipped", "cancelled"]


class EventQuery(Query):
    """Which events, which page."""

    limit: fields.PageLimit = 50
    cursor: fields.PageCursor | None = None
    state: State | None = None
    source_id: fields.Uuid | None = None


class EventOut(Output):
    """One piece of work. ``outcome`` is the status word of its last attempt."""

    event_id: UUID
    source_id: UUID
    kind: str
    state: State
    when: Literal["now", "night"]
    available_at: datetime
    approved_at: datetime
    attempts: int
    outcome: str | None
    error: str | None
    created_at: datetime
    finished_at: datetime | None


class EventPage(Output):
    """A page of events, newest first."""

    items: list[EventOut]
    next_cursor: str | None


def shown(event: Event) -> EventOut:
    """The event as callers see it."""
    columns = {name: getattr(event, name) for name in EventOut.model_fields if hasattr(event, name)}
    return EventOut(**columns, event_id=event.id, when="night" if event.night else "now")


@events.route(
    "GET", "/v1/kb/events", action="kb.events.read", access="read", query=EventQuery, answers={200: EventPage}
)
def list_events(call: Call[Nothing, EventQuery]) -> Answer:
    """List events, newest first."""
    limit = call.query.limit
    rows = work.list_page(
        call.outside,
        call.who,
        state=call.query.state,
        source_id=call.query.source_id,
        before=call.query.cursor,
        limit=limit + 1,
    )
    page, following = cut(rows, limit)
    return Answer(EventPage(items=[shown(row) for row in page], next_cursor=following))


@events.route(
    "POST", "/v1/kb/events/{event_id}/cancel", action="kb.events.write", access="write", answers={200: EventOut}
)
def cancel_event(call: Call[Nothing, NoQuery]) -> Answer:
    """Cancel an event that is not finished."""
    event, allowance = work.cancel(call.outside, call.who, call.ids["event_id"], call.now)
    return Answer(shown(event), 200, allowance.headers())
