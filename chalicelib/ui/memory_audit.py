"""``/ui/admin/memory-audit``: what came in and what the gates made of it, what they hold, and who read."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlencode

from chalicelib.api import fields
from chalicelib.api.resource import Answer, NoQuery, Nothing
from chalicelib.domain.cursor import cut
from chalicelib.services import audit, quarantine
from chalicelib.ui import words
from chalicelib.ui.firewall import last_days, stack_of
from chalicelib.ui.page import PageQuery, Visit, go_to, page, pages
from chalicelib.ui.stacked_bars import stacked_bars

PLACE = "admin/memory-audit"
ROWS = 25
HELD_ROWS = 10
SHOWN_CHARACTERS = 20_000  # of a held text; ten of them must fit into one answer

memory_audit = pages("ui_memory_audit")


class AuditQuery(PageQuery):
    """Which page of each list; ``done`` after a decision."""

    deposits: fields.PageCursor | None = None
    reads: fields.PageCursor | None = None
    held: fields.PageCursor | None = None
    state: Literal["held", "released", "dropped"] = "held"
    done: Literal["released", "dropped"] | None = None


@memory_audit.route(
    "GET",
    "/ui/admin/memory-audit",
    action="firewall.audit.read",
    access="write",
    query=AuditQuery,
    answers={200: "text/html"},
)
def show_memory_audit_page(visit: Visit[Nothing, AuditQuery]) -> Answer:
    """What came in, what is held, and who read."""
    call, query = visit.call, visit.call.query
    outside, who = call.outside, call.who
    deposits, more_deposits = cut(audit.deposits(outside, who, before=query.deposits, limit=ROWS + 1), ROWS)
    reads, more_reads = cut(audit.reads(outside, who, call.now, before=query.reads, limit=ROWS + 1), ROWS)
    held, more_held = quarantine.list_page(outside, who, state=query.state, after=query.held, limit=HELD_ROWS)
    by_day = audit.deposits_by_day(outside, who, call.now)
    days = last_days(audit.first_day(call.now), call.now.date())
    stack = stack_of(by_day, words.OUTCOMES)
    return page(
        visit,
        "memory_audit.html",
        query=query,
        days=days,
        stack=stack,
        chart=stacked_bars(days, stack, title="Texts by day"),
        redactions=sum(row.redactions for row in by_day),
        deposits=deposits,
        more_deposits=more_deposits and f"?{urlencode({'deposits': more_deposits})}",
        reads=reads,
        more_reads=more_reads and f"?{urlencode({'reads': more_reads})}",
        held=held,
        more_held=more_held and f"?{urlencode({'state': query.state, 'held': more_held})}",
        shown_characters=SHOWN_CHARACTERS,
    )


@memory_audit.route(
    "POST",
    "/ui/admin/memory-audit/quarantine/{held_id}/release",
    action="memory.quarantine.decide",
    access="write",
    answers={303: "text/html"},
)
def release_by_form(visit: Visit[Nothing, NoQuery]) -> Answer:
    """Let a text in that a person has read."""
    call = visit.call
    quarantine.release(call.outside, call.who, call.ids["held_id"], correlation_id=call.correlation_id, now=call.now)
    return go_to(visit, f"{PLACE}?done=released#quarantine")


@memory_audit.route(
    "POST",
    "/ui/admin/memory-audit/quarantine/{held_id}/drop",
    action="memory.quarantine.decide",
    access="write",
    answers={303: "text/html"},
)
def drop_by_form(visit: Visit[Nothing, NoQuery]) -> Answer:
    """Let nothing of a text in."""
    call = visit.call
    quarantine.drop(call.outside, call.who, call.ids["held_id"], call.now)
    return go_to(visit, f"{PLACE}?done=dropped#quarantine")
