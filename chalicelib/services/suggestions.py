"""Suggestions: what the system proposes and a person decides. Listing them generates them (spec 1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from chalicelib.errors import Conflict, NotFound
from chalicelib.services import quotas
from chalicelib.services.approvals import schedule
from chalicelib.services.outside import Outside
from chalicelib.services.sources import goes_stale_at, judge, require
from chalicelib.services.tokens import Principal
from chalicelib.storage import events, sources, suggestions
from chalicelib.storage.connection import Transaction
from chalicelib.storage.events import Event
from chalicelib.storage.sources import Source
from chalicelib.storage.suggestions import RefreshOffer, Suggestion


@dataclass(frozen=True, slots=True)
class Approved:
    """An approved suggestion and the event that it made; None where approving switches the source off."""

    suggestion_id: UUID
    event: Event | None


def list_page(
    outside: Outside, who: Principal, *, after: tuple[datetime, UUID] | None, limit: int, now: datetime
) -> list[Suggestion]:
    """One page of open suggestions, made current first."""
    with outside.database.transaction(who.tenant_id) as tx:
        generate(tx, who.tenant_id, now)
        return suggestions.page(tx, who.tenant_id, after=after, limit=limit)


def generate(tx: Transaction, tenant_id: UUID, now: datetime) -> None:
    """Bring the tenant's suggestions up to date: idempotent, and safe against a twin at the same instant."""
    suggestions.bring_up_to_date(tx, tenant_id, now)
    stale = sources.stale(tx, tenant_id, now)
    suggestions.offer_refreshes(tx, tenant_id, [_refresh_offer(source, now) for source in stale], now)


def _refresh_offer(source: Source, now: datetime) -> RefreshOffer:
    reason = judge(source, now).reason
    assert reason is not None
    detail = {"last_status": source.last_status} if reason == "last_refresh_failed" else {}
    return RefreshOffer(source.id, reason, detail, goes_stale_at(source) or source.created_at)


def approve(
    outside: Outside, who: Principal, suggestion_id: UUID, *, correlation_id: str | None, now: datetime
) -> tuple[Approved, quotas.Allowance]:
    """Do what the suggestion proposes. Raises NotFound, Conflict, RateLimited."""
    with quotas.mutation(outside, who, now) as (tx, allowance):
        return carry_out(tx, who, suggestion_id, correlation_id, now), allowance


def snooze(
    outside: Outside, who: Principal, suggestion_id: UUID, days: int, now: datetime
) -> tuple[Suggestion, quotas.Allowance]:
    """Put the question off for 1 to 365 days."""
    return _answer(outside, who, suggestion_id, "snoozed", now, now + timedelta(days=days))


def dismiss(
    outside: Outside, who: Principal, suggestion_id: UUID, now: datetime
) -> tuple[Suggestion, quotas.Allowance]:
    """Close the question until the source was checked again or one more TTL has passed."""
    return _answer(outside, who, suggestion_id, "dismissed", now, None)


def _answer(
    outside: Outside, who: Principal, suggestion_id: UUID, state: str, now: datetime, snoozed_until: datetime | None
) -> tuple[Suggestion, quotas.Allowance]:
    with quotas.mutation(outside, who, now) as (tx, allowance):
        _locked(tx, suggestion_id)
        suggestions.decide(
            tx, suggestion_id, state=state, now=now, decided_by=who.admin_token_id, snoozed_until=snoozed_until
        )
        decided = suggestions.get(tx, suggestion_id)
        assert decided is not None
        return decided, allowance


def _locked(tx: Transaction, suggestion_id: UUID) -> tuple[Suggestion, Source]:
    """The open suggestion and its source, both locked; the source first, as the worker locks them."""
    suggestions.lock_sources_of(tx, [suggestion_id])
    seen = suggestions.get(tx, suggestion_id)
    if seen is None:
        raise NotFound("there is no such suggestion")
    source = require(tx, seen.source_id, lock=True)
    suggestion = suggestions.get(tx, suggestion_id, lock=True)
    if suggestion is None:  # an old one, answered long ago, that went just now
        raise NotFound("there is no such suggestion")
    if suggestion.state != "open":
        raise Conflict(f"the suggestion is {suggestion.state}", code="suggestion_not_open", state=suggestion.state)
    return suggestion, source


def carry_out(
    tx: Transaction, who: Principal, suggestion_id: UUID, correlation_id: str | None, now: datetime
) -> Approved:
    """Do what the suggestion proposes, in the transaction of a mutation. Raises NotFound, Conflict, QuotaExceeded."""
    suggestion, source = _locked(tx, suggestion_id)
    event = _ACTIONS[suggestion.kind](tx, suggestion, source, correlation_id, now)
    suggestions.decide(
        tx,
        suggestion_id,
        state="approved" if event else "closed",
        now=now,
        decided_by=who.admin_token_id,
        event_id=event.id if event else None,
    )
    return Approved(suggestion_id, event)


def _refresh(tx: Transaction, _: Suggestion, source: Source, correlation_id: str | None, now: datetime) -> Event | None:
    return schedule(tx, source, "night", correlation_id=correlation_id, now=now).event


def _publish(
    tx: Transaction, suggestion: Suggestion, source: Source, correlation_id: str | None, now: datetime
) -> Event | None:
    """What was reviewed is at hand, so it needs no night: nothing is fetched."""
    open_event = events.open_of_source(tx, source.id)
    if open_event is not None:
        raise Conflict("a refresh of this source is under way", code="event_open", event_id=str(open_event.id))
    return schedule(
        tx,
        source,
        "now",
        correlation_id=correlation_id,
        now=now,
        kind=events.PUBLISH,
        held_text_id=suggestion.held_text_id,
    ).event


def _change_uri(
    tx: Transaction, suggestion: Suggestion, source: Source, correlation_id: str | None, now: datetime
) -> Event | None:
    changed = tx.one(
        "sources.change_uri",
        Source,
        id=source.id,
        tenant_id=source.tenant_id,
        uri=suggestion.detail["uri"],
        now=now,
    )
    if changed is None:
        raise Conflict("another source has this uri already", code="uri_taken")
    # An event that waits was approved for the old address: it gives way to the new one.
    open_event = events.open_of_source(tx, source.id)
    if open_event is not None:
        tx.row("events.cancel", id=open_event.id, now=now)
    return schedule(tx, changed, "night", correlation_id=correlation_id, now=now).event


def _deactivate(
    tx: Transaction, _: Suggestion, source: Source, correlation_id: str | None, now: datetime
) -> Event | None:
    tx.row("sources.set_active", id=source.id, active=False, now=now)
    return None


def _merge(
    tx: Transaction, suggestion: Suggestion, source: Source, correlation_id: str | None, now: datetime
) -> Event | None:
    """The other source stands for both: on, also if it was off. It takes this one's place in the plan, or a new one.

    Raises QuotaExceeded if both are off and the plan has no place for one more.
    """
    other = require(tx, UUID(suggestion.detail["other_source_id"]), lock=True)
    if not source.active and not other.active:
        quotas.check_source_quota(tx, source.tenant_id)
    tx.row("sources.set_active", id=source.id, active=False, now=now)
    tx.row("sources.set_active", id=other.id, active=True, now=now)
    return None


_ACTIONS = {
    "refresh": _refresh,
    "review_change": _publish,
    "change_uri": _change_uri,
    "merge": _merge,
    "gone": _deactivate,
}
