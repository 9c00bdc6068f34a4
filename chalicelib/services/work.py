"""Events as the tenant sees them: list and cancel."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from chalicelib.errors import Conflict, NotFound
from chalicelib.services import quotas
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import events
from chalicelib.storage.events import Event


def list_page(
    outside: Outside,
    who: Principal,
    *,
    state: str | None,
    source_id: UUID | None,
    before: tuple[datetime, UUID] | None,
    limit: int,
) -> list[Event]:
    """One page of events, newest first."""
    time, ident = before or (None, None)
    with outside.database.transaction(who.tenant_id) as tx:
        return tx.all(
            "events.page",
            Event,
            tenant_id=who.tenant_id,
            state=state,
            source_id=source_id,
            before_time=time,
            before_id=ident,
            limit=limit,
        )


def cancel(outside: Outside, who: Principal, event_id: UUID, now: datetime) -> tuple[Event, quotas.Allowance]:
    """End an event that is not finished; a worker that has it will find its lease gone. Raises NotFound, Conflict."""
    with quotas.mutation(outside, who, now) as (tx, allowance):
        cancelled = tx.one("events.cancel", Event, id=event_id, now=now)
        if cancelled is not None:
            return cancelled, allowance
        event = events.get(tx, event_id)
        if event is None:
            raise NotFound("there is no such event")
        raise Conflict(f"the event is {event.state}", code="event_finished", state=event.state)
