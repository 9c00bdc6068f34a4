"""``/v1/memory``: notes and documents in, quarantine, deny patterns, forgetting."""

from __future__ import annotations

import base64
import binascii
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, model_validator

from chalicelib.api import events, fields
from chalicelib.api.resource import Answer, Call, Input, NoQuery, Nothing, Output, Query, Resource
from chalicelib.domain.answer_room import fits
from chalicelib.domain.ingest_gates import Deposit
from chalicelib.errors import Invalid, PayloadTooLarge
from chalicelib.services import deposits, policies, quarantine

memory = Resource("memory")

DOCUMENT_BYTES = 2 * 1024 * 1024
DOCUMENT_BODY = 3 * 1024 * 1024  # base64 and JSON around them


class Remembered(Input):
    """Fields that notes and documents share; a policy field left out takes its default by origin."""

    title: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    sensitivity: str | None = None
    expires_at: str | None = None
    permitted_roles: list[str] | None = None
    allowed_purposes: list[str] | None = None


class NoteIn(Remembered):
    """A note to remember."""

    text: Annotated[str, Field(min_length=1, max_length=100_000)]


class DocumentIn(Remembered):
    """A document: text as it is, or bytes as base64 with their type."""

    kind: Literal["document", "agent_output"] = "document"
    text: str | None = None
    content_base64: str | None = None
    content_type: Annotated[str, Field(max_length=200)] = "text/plain"

    @model_validator(mode="after")
    def _one_of_both(self) -> DocumentIn:
        if (self.text is None) == (self.content_base64 is None):
            raise ValueError("must have either text or content_base64")
        return self


class DepositOut(Output):
    """What came of a deposit: ``stored``, with the event that embeds it, or ``quarantined``, with the gate."""

    outcome: Literal["stored", "quarantined"]
    source_id: UUID | None
    event: events.EventOut | None
    redactions: int
    quarantine_id: UUID | None
    gate: str | None


class QuarantineQuery(Query):
    """Which state, which page."""

    limit: fields.PageLimit = 50
    cursor: fields.PageCursor | None = None
    state: Literal["held", "released", "dropped"] = "held"


class HeldOut(Output):
    """A text that a gate stopped, redacted; ``cut``: its end is left out, since no answer takes it."""

    id: UUID
    source_id: UUID | None
    deposit: str
    gate: str
    reason: str
    title: str | None
    text: str
    cut: bool
    state: str
    created_at: datetime
    decided_at: datetime | None


class HeldPage(Output):
    """A page of held texts, oldest first."""

    items: list[HeldOut]
    next_cursor: str | None


class PatternsIn(Input):
    """Deny patterns to add and to take away: literal substrings, case by case."""

    add: Annotated[list[fields.Printable], Field(max_length=100, default_factory=list)]
    remove: Annotated[list[fields.Printable], Field(max_length=100, default_factory=list)]


class PatternsOut(Output):
    """The tenant's deny patterns."""

    patterns: list[str]


class ForgetIn(Input):
    """Why, for the admin audit."""

    why: fields.Why = ""


class ForgetOut(Output):
    """How many rows lost their text."""

    erased: int


@memory.route(
    "POST", "/v1/memory/notes", action="memory.deposit", access="write", body=NoteIn, answers={202: DepositOut}
)
def remember_note(call: Call[NoteIn, NoQuery]) -> Answer:
    """Remember a note."""
    body = call.body
    with _gates(call, Deposit.NOTE):
        return _deposit(call, deposits.offered_text(Deposit.NOTE, body.text, body.title, _policy(body)))


@memory.route(
    "POST",
    "/v1/memory/documents",
    action="memory.deposit",
    access="write",
    body=DocumentIn,
    answers={202: DepositOut},
    body_limit=DOCUMENT_BODY,
)
def remember_document(call: Call[DocumentIn, NoQuery]) -> Answer:
    """Remember a document."""
    deposit = Deposit(call.body.kind)
    with _gates(call, deposit):
        return _deposit(call, _offered(deposit, call.body))


@memory.route(
    "GET",
    "/v1/memory/quarantine",
    action="memory.quarantine.read",
    access="write",
    query=QuarantineQuery,
    answers={200: HeldPage},
)
def list_quarantine(call: Call[Nothing, QuarantineQuery]) -> Answer:
    """List texts that a gate stopped: as many as asked for, or as fit into an answer."""
    query = call.query
    page, following = quarantine.list_page(
        call.outside, call.who, state=query.state, after=query.cursor, limit=query.limit
    )
    return Answer(HeldPage(items=[_held(row) for row in page], next_cursor=following))


@memory.route(
    "POST",
    "/v1/memory/quarantine/{held_id}/release",
    action="memory.quarantine.decide",
    access="write",
    answers={202: events.EventOut},
)
def release_quarantined(call: Call[Nothing, NoQuery]) -> Answer:
    """Let a text in that a person has read; the other gates still count."""
    event, allowance = quarantine.release(
        call.outside, call.who, call.ids["held_id"], correlation_id=call.correlation_id, now=call.now
    )
    return Answer(events.shown(event), 202, allowance.headers())


@memory.route(
    "POST",
    "/v1/memory/quarantine/{held_id}/drop",
    action="memory.quarantine.decide",
    access="write",
    answers={200: None},
)
def drop_quarantined(call: Call[Nothing, NoQuery]) -> Answer:
    """Let nothing of a text in."""
    allowance = quarantine.drop(call.outside, call.who, call.ids["held_id"], call.now)
    return Answer({}, 200, allowance.headers())


@memory.route(
    "GET",
    "/v1/memory/deny-patterns",
    action="memory.deny_patterns.read",
    access="write",
    answers={200: PatternsOut},
)
def list_deny_patterns(call: Call[Nothing, NoQuery]) -> Answer:
    """List the deny patterns."""
    return Answer(PatternsOut(patterns=quarantine.deny_patterns(call.outside, call.who)))


@memory.route(
    "POST",
    "/v1/memory/deny-patterns",
    action="memory.deny_patterns.write",
    access="write",
    body=PatternsIn,
    answers={200: PatternsOut},
)
def change_deny_patterns(call: Call[PatternsIn, NoQuery]) -> Answer:
    """Add and take away deny patterns; in force for the next text."""
    patterns, allowance = quarantine.change_deny_patterns(
        call.outside, call.who, add=call.body.add, remove=call.body.remove, now=call.now
    )
    return Answer(PatternsOut(patterns=patterns), 200, allowance.headers())


@memory.route(
    "POST",
    "/v1/memory/chunks/{chunk_id}/forget",
    action="memory.forget",
    access="write",
    body=ForgetIn,
    answers={200: ForgetOut},
)
def forget_chunk(call: Call[ForgetIn, NoQuery]) -> Answer:
    """Erase a chunk's text from every version, for good."""
    erased, allowance = policies.forget(call.outside, call.who, call.ids["chunk_id"], call.body.why, call.now)
    return Answer(ForgetOut(erased=erased), 200, allowance.headers())


def _offered(deposit: Deposit, body: DocumentIn) -> deposits.Offered:
    if body.text is not None and body.content_type.split(";")[0].strip() in ("text/plain", "text/markdown"):
        _small_enough(len(body.text.encode()))
        return deposits.offered_text(deposit, body.text, body.title, _policy(body))
    content = body.text.encode() if body.text is not None else _bytes(body.content_base64 or "")
    _small_enough(len(content))
    kind = f"{body.content_type}; charset=utf-8" if body.text is not None else body.content_type
    return deposits.offered_document(deposit, content, kind, body.title, _policy(body))


def _gates(call: Call[Any, Any], deposit: Deposit) -> AbstractContextManager[None]:
    return deposits.refusals_logged(call.outside, call.who, deposit, correlation_id=call.correlation_id, now=call.now)


def _deposit(call: Call[Any, Any], offered: deposits.Offered) -> Answer:
    done, allowance = deposits.deposit(
        call.outside, call.who, offered, correlation_id=call.correlation_id, now=call.now
    )
    return Answer(_shown(done), 202, allowance.headers())


def _shown(done: deposits.Deposited) -> DepositOut:
    return DepositOut(
        outcome="stored" if done.source else "quarantined",
        source_id=done.source.id if done.source else None,
        event=events.shown(done.event) if done.event else None,
        redactions=done.redactions,
        quarantine_id=done.quarantine_id,
        gate=done.gate,
    )


def _held(row: quarantine.Held) -> HeldOut:
    text = row.text if fits(row.text) else row.text[: quarantine.OCTETS_A_PAGE]  # a character is four bytes at most
    return HeldOut.model_validate({**asdict(row), "text": text, "cut": text != row.text})


def _policy(body: Remembered) -> dict[str, Any]:
    named = {"sensitivity", "expires_at", "permitted_roles", "allowed_purposes"}
    return body.model_dump(include=named, exclude_unset=True)


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        rule = "must be base64 (RFC 4648, section 4)"
        raise Invalid(f"content_base64: {rule}", field="content_base64", rule=rule) from None


def _small_enough(size: int) -> None:
    if size > DOCUMENT_BYTES:
        raise PayloadTooLarge(f"a document may have at most {DOCUMENT_BYTES} bytes", limit=DOCUMENT_BYTES)
