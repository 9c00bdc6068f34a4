"""``/v1/memory/consolidation``: texts that say nearly the same, and what an operator decides about them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from chalicelib.api import fields
from chalicelib.api.reading import reading_of
from chalicelib.api.resource import Answer, Call, Input, NoQuery, Nothing, Output, Query, Resource
from chalicelib.domain.cursor import cut
from chalicelib.services import consolidation as service
from chalicelib.services import near_duplicates, proposals, summaries
from chalicelib.services.enforcement import Served
from chalicelib.services.passages import Passage

consolidation = Resource("consolidation")

State = Literal["open", "writing", "accepted", "rejected", "undone", "lapsed", "failed"]


class Place(Input):
    """A chunk's place among the tenant's, as an answer named it."""

    source_id: fields.Uuid
    chunk_index: Annotated[int, Field(ge=0, le=2_147_483_647)]


class ScanIn(Input):
    """Where to go on; left out: at the beginning."""

    after: Place | None = None


class PlaceOut(Output):
    """Where to go on."""

    source_id: UUID
    chunk_index: int


class ScanOut(Output):
    """What one page of chunks brought. ``next_after`` null: that was the last page.

    ``full``: so many proposals wait for an answer that no more are made; ask again, with the same ``after``, later.
    """

    examined: int
    proposed: int
    next_after: PlaceOut | None
    full: bool


class ProposalQuery(Query):
    """Which state, which page."""

    limit: fields.PageLimit = 50
    cursor: fields.PageCursor | None = None
    state: State = "open"


class ProposalOut(Output):
    """Two texts that say nearly the same; the ``kept`` one would stay, or the written one be made of both.

    ``policy_digest`` is of what is said of either, its origin apart. ``reason``: why it lapsed or failed.
    """

    id: UUID
    kind: Literal["extractive", "written"]
    state: State
    similarity: float
    kept_source_id: UUID
    kept_source_name: str
    kept_chunk_id: UUID
    other_source_id: UUID
    other_source_name: str
    other_chunk_id: UUID
    policy_digest: str
    redactions: int
    model: str | None
    reason: str | None
    deposited_source_id: UUID | None
    quarantine_id: UUID | None
    created_at: datetime
    decided_at: datetime | None


class ProposalPage(Output):
    """A page of proposals, oldest first."""

    items: list[ProposalOut]
    next_cursor: str | None


class PassageOut(Output):
    """One text of a proposal that may be read."""

    text: str
    policy_warning: str | None


class ReadingQuery(Query):
    """As whom and what for."""

    role: fields.Name | None = None
    purpose: fields.Purpose | None = None


class ProposalShown(ProposalOut):
    """A proposal with its texts; null: gone, or not to be read by this reader. ``written`` while it is open."""

    kept: PassageOut | None
    other: PassageOut | None
    written: PassageOut | None


@consolidation.route(
    "POST",
    "/v1/memory/consolidation",
    action="memory.consolidation.propose",
    access="write",
    body=ScanIn,
    answers={200: ScanOut},
)
def scan_near_duplicates(call: Call[ScanIn, NoQuery]) -> Answer:
    """Look at one page of chunks and propose the near-duplicates found there."""
    place = call.body.after
    after = (place.source_id, place.chunk_index) if place else None
    found, allowance = near_duplicates.scan(call.outside, call.who, after, call.now)
    following = PlaceOut(source_id=found.next_place[0], chunk_index=found.next_place[1]) if found.next_place else None
    answer = ScanOut(examined=found.examined, proposed=found.proposed, next_after=following, full=found.full)
    return Answer(answer, 200, allowance.headers() if allowance else {})


@consolidation.route(
    "GET",
    "/v1/memory/consolidation",
    action="memory.consolidation.read",
    access="write",
    query=ProposalQuery,
    answers={200: ProposalPage},
)
def list_proposals(call: Call[Nothing, ProposalQuery]) -> Answer:
    """List proposals to consolidate two texts."""
    query, limit = call.query, call.query.limit
    rows = proposals.list_page(call.outside, call.who, state=query.state, after=query.cursor, limit=limit + 1)
    page, following = cut(rows, limit)
    items = [ProposalOut.model_validate(row) for row in page]
    return Answer(ProposalPage(items=items, next_cursor=following))


@consolidation.route(
    "GET",
    "/v1/memory/consolidation/{proposal_id}",
    action="memory.consolidation.show",
    access="write",
    query=ReadingQuery,
    answers={200: ProposalShown},
)
def show_proposal(call: Call[Nothing, ReadingQuery]) -> Answer:
    """Show a proposal with its texts, each as far as it may be read."""
    reading = reading_of(call, call.query.role, call.query.purpose)
    found = service.show(call.outside, call.who, reading, call.ids["proposal_id"], call.now)
    texts = {"kept": _text(found.kept), "other": _text(found.other), "written": _text(found.written)}
    return Answer(ProposalShown(**_columns(found.proposal), **texts))


@consolidation.route(
    "POST",
    "/v1/memory/consolidation/{proposal_id}/accept",
    action="memory.consolidation.decide",
    access="write",
    answers={200: ProposalOut},
)
def accept_proposal(call: Call[Nothing, NoQuery]) -> Answer:
    """Accept a proposal whose texts are as they were: an operator's alone."""
    asked, allowance = service.accept(
        call.outside, call.who, call.ids["proposal_id"], correlation_id=call.correlation_id, now=call.now
    )
    return Answer(ProposalOut.model_validate(asked), 200, allowance.headers())


@consolidation.route(
    "POST",
    "/v1/memory/consolidation/{proposal_id}/reject",
    action="memory.consolidation.decide",
    access="write",
    answers={200: ProposalOut},
)
def reject_proposal(call: Call[Nothing, NoQuery]) -> Answer:
    """Reject a proposal; nothing changes, and the pair is not proposed again."""
    asked, allowance = service.reject(call.outside, call.who, call.ids["proposal_id"], call.now)
    return Answer(ProposalOut.model_validate(asked), 200, allowance.headers())


@consolidation.route(
    "POST",
    "/v1/memory/consolidation/{accepted_id}/undo",
    action="memory.consolidation.decide",
    access="write",
    answers={200: ProposalOut},
)
def undo_proposal(call: Call[Nothing, NoQuery]) -> Answer:
    """Take an acceptance back: searches find the other text again. An operator's alone."""
    asked, allowance = service.undo(call.outside, call.who, call.ids["accepted_id"], call.now)
    return Answer(ProposalOut.model_validate(asked), 200, allowance.headers())


@consolidation.route(
    "POST",
    "/v1/memory/consolidation/{proposal_id}/write",
    action="memory.consolidation.write",
    access="write",
    answers={202: ProposalOut},
)
def write_proposal(call: Call[Nothing, NoQuery]) -> Answer:
    """Have a model write one text for both, as a proposal of its own: an operator's alone."""
    reading = reading_of(call, None, None)
    asked, allowance = summaries.ask(
        call.outside, call.who, reading, call.ids["proposal_id"], correlation_id=call.correlation_id, now=call.now
    )
    return Answer(ProposalOut.model_validate(asked), 202, allowance.headers())


def _columns(asked: proposals.Proposal) -> dict[str, object]:
    return ProposalOut.model_validate(asked).model_dump()


def _text(served: Served[Passage] | None) -> PassageOut | None:
    return PassageOut(text=served.row.text, policy_warning=served.warning) if served else None
