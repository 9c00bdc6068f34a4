"""``/v1/kb/suggestions``: what the system proposes and a person decides."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, model_validator

from chalicelib.api import events, fields, problem
from chalicelib.api.resource import Answer, Call, Input, NoQuery, Nothing, Output, Query, Resource
from chalicelib.domain.cursor import cut
from chalicelib.errors import Problem
from chalicelib.services import bulk_approval
from chalicelib.services import suggestions as service
from chalicelib.storage.suggestions import Suggestion

suggestions = Resource("suggestions")


class PageQuery(Query):
    """Which page."""

    limit: fields.PageLimit = 50
    cursor: fields.PageCursor | None = None


class SnoozeIn(Input):
    """For how long."""

    days: Annotated[int, Field(ge=1, le=365)]


class BulkIn(Input):
    """Either ``ids`` or ``all``."""

    ids: Annotated[list[fields.Uuid], Field(min_length=1, max_length=1000)] | None = None
    all: bool = False

    @model_validator(mode="after")
    def _one_of_both(self) -> BulkIn:
        if (self.ids is None) != self.all:
            raise ValueError("must have either ids or all: true")
        return self


class SuggestionOut(Output):
    """A question about a source. ``stale_for_seconds`` counts from ``stale_since`` to now."""

    id: UUID
    source_id: UUID
    source_uri: str | None
    source_name: str | None
    kind: str
    state: str
    reason: str
    detail: dict[str, Any]
    stale_since: datetime | None
    stale_for_seconds: int | None
    created_at: datetime
    snoozed_until: datetime | None
    decided_at: datetime | None


class SuggestionPage(Output):
    """A page of open suggestions, oldest first."""

    items: list[SuggestionOut]
    next_cursor: str | None


class ApprovedOut(Output):
    """An approved suggestion; ``event`` is missing where approving switched the source off."""

    suggestion_id: UUID
    event: events.EventOut | None


class BulkResult(Output):
    """What became of one suggestion: a status, and the event or the problem."""

    suggestion_id: UUID
    status: int
    event: events.EventOut | None = None
    problem: dict[str, object] | None = None


class BulkOut(Output):
    """What became of each suggestion, in order."""

    results: list[BulkResult]


def shown(suggestion: Suggestion, now: datetime) -> SuggestionOut:
    """The suggestion as callers see it at ``now``."""
    columns = {name: getattr(suggestion, name) for name in SuggestionOut.model_fields if hasattr(suggestion, name)}
    since = suggestion.stale_since
    return SuggestionOut(**columns, stale_for_seconds=max(0, int((now - since).total_seconds())) if since else None)


@suggestions.route(
    "GET",
    "/v1/kb/suggestions",
    action="kb.suggestions.read",
    access="read",
    query=PageQuery,
    answers={200: SuggestionPage},
)
def list_suggestions(call: Call[Nothing, PageQuery]) -> Answer:
    """List open suggestions; asking brings them up to date."""
    limit = call.query.limit
    rows = service.list_page(call.outside, call.who, after=call.query.cursor, limit=limit + 1, now=call.now)
    page, following = cut(rows, limit)
    return Answer(SuggestionPage(items=[shown(row, call.now) for row in page], next_cursor=following))


@suggestions.route(
    "POST",
    "/v1/kb/suggestions/approve",
    action="kb.suggestions.decide",
    access="write",
    body=BulkIn,
    answers={200: BulkOut},
)
def approve_suggestions(call: Call[BulkIn, NoQuery]) -> Answer:
    """Approve many suggestions, each with its own result."""
    done, allowance = bulk_approval.approve_many(
        call.outside, call.who, call.body.ids, correlation_id=call.correlation_id, now=call.now
    )
    return Answer(BulkOut(results=[_result(ident, outcome) for ident, outcome in done]), 200, allowance.headers())


@suggestions.route(
    "POST",
    "/v1/kb/suggestions/{suggestion_id}/approve",
    action="kb.suggestions.decide",
    access="write",
    answers={202: ApprovedOut, 200: ApprovedOut},
)
def approve_suggestion(call: Call[Nothing, NoQuery]) -> Answer:
    """Approve a suggestion: it is scheduled, not run."""
    approved, allowance = service.approve(
        call.outside, call.who, call.ids["suggestion_id"], correlation_id=call.correlation_id, now=call.now
    )
    event = events.shown(approved.event) if approved.event else None
    body = ApprovedOut(suggestion_id=approved.suggestion_id, event=event)
    return Answer(body, 202 if event else 200, allowance.headers())


@suggestions.route(
    "POST",
    "/v1/kb/suggestions/{suggestion_id}/snooze",
    action="kb.suggestions.decide",
    access="write",
    body=SnoozeIn,
    answers={200: SuggestionOut},
)
def snooze_suggestion(call: Call[SnoozeIn, NoQuery]) -> Answer:
    """Put a suggestion off for some days."""
    suggestion, allowance = service.snooze(call.outside, call.who, call.ids["suggestion_id"], call.body.days, call.now)
    return Answer(shown(suggestion, call.now), 200, allowance.headers())


@suggestions.route(
    "POST",
    "/v1/kb/suggestions/{suggestion_id}/dismiss",
    action="kb.suggestions.decide",
    access="write",
    answers={200: SuggestionOut},
)
def dismiss_suggestion(call: Call[Nothing, NoQuery]) -> Answer:
    """Dismiss a suggestion until the source was checked again or one more TTL has passed."""
    suggestion, allowance = service.dismiss(call.outside, call.who, call.ids["suggestion_id"], call.now)
    return Answer(shown(suggestion, call.now), 200, allowance.headers())


def _result(ident: UUID, outcome: service.Approved | Problem) -> BulkResult:
    if isinstance(outcome, Problem):
        return BulkResult(suggestion_id=ident, status=outcome.status, problem=problem.document(outcome))
    event = events.shown(outcome.event) if outcome.event else None
    return BulkResult(suggestion_id=ident, status=202 if event else 200, event=event)
