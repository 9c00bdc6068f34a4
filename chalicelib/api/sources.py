"""``/v1/kb/sources``: what is kept fresh."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, WithJsonSchema

from chalicelib.api import events, fields, problem
from chalicelib.api.resource import Answer, Call, Input, NoQuery, Nothing, Output, Query, Resource
from chalicelib.domain.cursor import cut
from chalicelib.domain.freshness import MAX_TTL, MIN_TTL
from chalicelib.errors import Problem
from chalicelib.services import approvals
from chalicelib.services import sources as service
from chalicelib.storage.sources import Source

sources = Resource("sources")


class SourceIn(Input):
    """A source to add, or to update if its uri is known. What is left out stays, or takes its default."""

    uri: Annotated[str, Field(min_length=1, max_length=2048)]
    name: fields.Name | None = None
    refresh_ttl_seconds: Annotated[int, Field(ge=MIN_TTL, le=MAX_TTL)] | None = None
    keep_hidden_text: bool | None = None


_AnySource = Annotated[dict[str, object], WithJsonSchema({"$ref": "#/components/schemas/SourceIn"})]


class SourceBatchIn(Input):
    """Up to 100 sources at once. Each is judged by itself, so a bad one does not refuse the others."""

    sources: Annotated[list[_AnySource], Field(min_length=1, max_length=100)]


class ToggleIn(Input):
    """Which way; left out, it switches over."""

    active: bool | None = None


class QueueIn(Input):
    """When to refresh."""

    when: Literal["now", "night"]


class PageQuery(Query):
    """Which page."""

    limit: fields.PageLimit = 50
    cursor: fields.PageCursor | None = None


class SourceOut(Output):
    """A source and how fresh it is."""

    id: UUID
    uri: str
    name: str
    type: str
    active: bool
    published: bool
    keep_hidden_text: bool
    refresh_ttl_seconds: int
    last_attempt_at: datetime | None
    last_checked_at: datetime | None
    last_changed_at: datetime | None
    last_status: str | None
    last_error: str | None
    etag: str | None
    last_modified: str | None
    current_version: int | None
    stale: bool
    stale_at: datetime | None
    stale_reason: str | None
    stale_for_seconds: int
    created_at: datetime
    updated_at: datetime


class SourcePage(Output):
    """A page of sources, oldest first."""

    items: list[SourceOut]
    next_cursor: str | None


class BatchResult(Output):
    """What became of one source of a batch: a status, and the source or the problem."""

    index: int
    status: int
    source: SourceOut | None = None
    problem: dict[str, object] | None = None


class BatchOut(Output):
    """What became of each source of a batch, in order."""

    results: list[BatchResult]


def shown(source: Source, now: datetime) -> SourceOut:
    """The source as callers see it at ``now``."""
    judged = service.judge(source, now)
    columns = {name: getattr(source, name) for name in SourceOut.model_fields if hasattr(source, name)}
    return SourceOut(
        **columns,
        stale=judged.stale,
        stale_at=service.goes_stale_at(source),
        stale_reason=judged.reason,
        stale_for_seconds=judged.stale_for_seconds,
    )


@sources.route(
    "GET", "/v1/kb/sources", action="kb.sources.read", access="read", query=PageQuery, answers={200: SourcePage}
)
def list_sources(call: Call[Nothing, PageQuery]) -> Answer:
    """List the sources with their freshness."""
    limit = call.query.limit
    rows = service.list_page(call.outside, call.who, after=call.query.cursor, limit=limit + 1)
    page, following = cut(rows, limit)
    return Answer(SourcePage(items=[shown(row, call.now) for row in page], next_cursor=following))


@sources.route(
    "POST",
    "/v1/kb/sources",
    action="kb.sources.write",
    access="write",
    body=SourceIn,
    answers={201: SourceOut, 200: SourceOut},
)
def put_source(call: Call[SourceIn, NoQuery]) -> Answer:
    """Add a source, or update the one that has this uri."""
    done, allowance = service.upsert(call.outside, call.who, _wanted(call.body), call.now)
    return Answer(shown(done.source, call.now), 201 if done.created else 200, allowance.headers())


@sources.route(
    "POST",
    "/v1/kb/sources/batch",
    action="kb.sources.write",
    access="write",
    body=SourceBatchIn,
    answers={200: BatchOut},
)
def put_sources(call: Call[SourceBatchIn, NoQuery]) -> Answer:
    """Add or update up to 100 sources, each with its own result."""
    checked = [_checked(item) for item in call.body.sources]
    good = [_wanted(item) for item in checked if isinstance(item, SourceIn)]
    done, allowance = service.upsert_many(call.outside, call.who, good, call.now)
    outcomes = iter(done)
    results = [
        _result(index, next(outcomes) if isinstance(item, SourceIn) else item, call.now)
        for index, item in enumerate(checked)
    ]
    return Answer(BatchOut(results=results), 200, allowance.headers())


@sources.route("GET", "/v1/kb/sources/{source_id}", action="kb.sources.read", access="read", answers={200: SourceOut})
def show_source(call: Call[Nothing, NoQuery]) -> Answer:
    """Show one source."""
    return Answer(shown(service.show(call.outside, call.who, call.ids["source_id"]), call.now))


@sources.route(
    "POST",
    "/v1/kb/sources/{source_id}/toggle",
    action="kb.sources.write",
    access="write",
    body=ToggleIn,
    answers={200: SourceOut},
)
def toggle_source(call: Call[ToggleIn, NoQuery]) -> Answer:
    """Switch a source off or on without deleting anything."""
    source, allowance = service.set_active(call.outside, call.who, call.ids["source_id"], call.body.active, call.now)
    return Answer(shown(source, call.now), 200, allowance.headers())


@sources.route(
    "POST",
    "/v1/kb/sources/{source_id}/queue",
    action="kb.sources.refresh",
    access="write",
    body=QueueIn,
    answers={202: events.EventOut, 200: events.EventOut},
)
def queue_source(call: Call[QueueIn, NoQuery]) -> Answer:
    """Have a source refreshed now or in the next night."""
    scheduled, allowance = approvals.queue(
        call.outside,
        call.who,
        call.ids["source_id"],
        call.body.when,
        correlation_id=call.correlation_id,
        now=call.now,
    )
    return Answer(events.shown(scheduled.event), 202 if scheduled.created else 200, allowance.headers())


def _wanted(body: SourceIn) -> service.Wanted:
    return service.Wanted(body.uri, body.name, body.refresh_ttl_seconds, body.keep_hidden_text)


def _checked(item: dict[str, object]) -> SourceIn | Problem:
    try:
        return SourceIn.model_validate(item)
    except ValueError as error:
        return problem.invalid(error)  # type: ignore[arg-type]


def _result(index: int, outcome: service.Upserted | Problem, now: datetime) -> BatchResult:
    if isinstance(outcome, Problem):
        return BatchResult(index=index, status=outcome.status, problem=problem.document(outcome))
    return BatchResult(index=index, status=201 if outcome.created else 200, source=shown(outcome.source, now))
