"""``/v1/memory/retention`` and ``/v1/memory/deletion-requests``: which texts go, and who agreed."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from chalicelib.api import fields
from chalicelib.api.resource import Answer, Call, NoQuery, Nothing, Output, Query, Resource
from chalicelib.domain.cursor import cut
from chalicelib.services import deletion_requests, quotas
from chalicelib.services import retention as service

retention = Resource("retention")


class FiniteOut(Output):
    """A text with an end; ``last_recalled_at`` is null if it was never served."""

    chunk_id: UUID
    source_id: UUID
    source_name: str
    expires_at: datetime
    first_seen_at: datetime
    last_recalled_at: datetime | None


class RetentionOut(Output):
    """What a sweep would do now. With ``require_approval`` it asks, without it erases what has ended."""

    require_approval: bool
    idle_days: int
    open_requests: int
    to_erase: list[FiniteOut]
    to_ask: list[FiniteOut]


class SweptOut(Output):
    """What a sweep did: texts erased, questions asked, questions that lapsed."""

    erased: int
    asked: int
    lapsed: int


class DeletionRequestQuery(Query):
    """Which state, which page."""

    limit: fields.PageLimit = 50
    cursor: fields.PageCursor | None = None
    state: Literal["open", "approved", "refused", "lapsed"] = "open"


class DeletionRequestOut(Output):
    """A question whether a text may go. It holds while text, policy, end and last use are what they were."""

    id: UUID
    chunk_id: UUID
    source_id: UUID
    source_name: str
    policy_digest: str
    expires_at: datetime
    last_recalled_at: datetime | None
    state: str
    created_at: datetime
    lapses_at: datetime
    decided_at: datetime | None


class DeletionRequestPage(Output):
    """A page of questions, oldest first."""

    items: list[DeletionRequestOut]
    next_cursor: str | None


@retention.route(
    "GET", "/v1/memory/retention", action="memory.retention.read", access="write", answers={200: RetentionOut}
)
def show_retention(call: Call[Nothing, NoQuery]) -> Answer:
    """Show which texts a sweep would erase, or ask about."""
    found = service.preview(call.outside, call.who, call.now)
    return Answer(
        RetentionOut(
            require_approval=found.require_approval,
            idle_days=call.outside.settings.retention_idle_days,
            open_requests=found.open_requests,
            to_erase=[FiniteOut.model_validate(one) for one in found.to_erase],
            to_ask=[FiniteOut.model_validate(one) for one in found.to_ask],
        )
    )


@retention.route(
    "POST", "/v1/memory/retention", action="memory.retention.write", access="write", answers={200: SweptOut}
)
def apply_retention(call: Call[Nothing, NoQuery]) -> Answer:
    """Sweep now, as it is done every hour."""
    allowance = quotas.count_mutation(call.outside, call.who, call.now)
    swept = service.sweep(call.outside, call.who.tenant_id, call.now)
    return Answer(SweptOut.model_validate(swept), 200, allowance.headers())


@retention.route(
    "GET",
    "/v1/memory/deletion-requests",
    action="memory.retention.read",
    access="write",
    query=DeletionRequestQuery,
    answers={200: DeletionRequestPage},
)
def list_deletion_requests(call: Call[Nothing, DeletionRequestQuery]) -> Answer:
    """List questions whether a text may go."""
    query, limit = call.query, call.query.limit
    rows = deletion_requests.list_page(call.outside, call.who, state=query.state, after=query.cursor, limit=limit + 1)
    page, following = cut(rows, limit)
    items = [DeletionRequestOut.model_validate(row) for row in page]
    return Answer(DeletionRequestPage(items=items, next_cursor=following))


@retention.route(
    "POST",
    "/v1/memory/deletion-requests/{request_id}/approve",
    action="memory.retention.decide",
    access="write",
    answers={200: DeletionRequestOut},
)
def approve_deletion(call: Call[Nothing, NoQuery]) -> Answer:
    """Erase the text from every version, if it is still as it was when the question was asked."""
    asked, allowance = deletion_requests.approve(call.outside, call.who, call.ids["request_id"], call.now)
    return Answer(DeletionRequestOut.model_validate(asked), 200, allowance.headers())


@retention.route(
    "POST",
    "/v1/memory/deletion-requests/{request_id}/refuse",
    action="memory.retention.decide",
    access="write",
    answers={200: DeletionRequestOut},
)
def refuse_deletion(call: Call[Nothing, NoQuery]) -> Answer:
    """Keep the text; it is not asked about again for 30 days."""
    asked, allowance = deletion_requests.refuse(call.outside, call.who, call.ids["request_id"], call.now)
    return Answer(DeletionRequestOut.model_validate(asked), 200, allowance.headers())
