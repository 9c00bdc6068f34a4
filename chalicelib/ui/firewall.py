"""``/ui/admin/memory/firewall``: the mode, how decisions fell by day, and the last of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, Literal
from urllib.parse import urlencode

from chalicelib.api import fields
from chalicelib.api.firewall import DecisionCode
from chalicelib.api.resource import Answer, Input, NoQuery, Nothing
from chalicelib.domain import firewall_mode
from chalicelib.domain.cursor import cut
from chalicelib.domain.firewall_mode import Mode
from chalicelib.services import audit, policies
from chalicelib.services.audit import DayCount, Sought
from chalicelib.services.explanation import in_force
from chalicelib.ui import words
from chalicelib.ui.page import PageQuery, Visit, go_to, page, pages
from chalicelib.ui.stacked_bars import Series, stacked_bars

PLACE = "admin/memory/firewall"
ROWS = 50

firewall = pages("ui_firewall")


class DecisionsQuery(PageQuery):
    """Which decisions, and before which; ``saved`` after a change."""

    decision: DecisionCode | None = None
    chunk_id: fields.Uuid | None = None
    trace_id: fields.Name | None = None
    at: fields.Instant | None = None
    before: fields.PageCursor | None = None
    saved: Literal["mode"] | None = None


class ModeIn(Input):
    """A mode; blank takes the deployment's."""

    mode: str


@firewall.route(
    "GET",
    "/ui/admin/memory/firewall",
    action="firewall.audit.read",
    access="write",
    query=DecisionsQuery,
    answers={200: "text/html"},
)
def show_firewall_page(visit: Visit[Nothing, DecisionsQuery]) -> Answer:
    """The mode in force, decisions by day, and the last decisions."""
    call, query = visit.call, visit.call.query
    sought = Sought(query.decision, query.chunk_id, query.trace_id, query.at)
    rows = audit.decisions(call.outside, call.who, sought, call.now, before=query.before, limit=ROWS + 1)
    decided, following = cut(rows, ROWS)
    asked = query.model_dump(mode="json", exclude_none=True, exclude={"before", "saved"})
    return page(
        visit,
        "firewall.html",
        **_mode(visit),
        **_by_day(visit),
        saved=query.saved,
        sought=sought,
        first=query.before is None,
        newest=f"?{urlencode(asked)}",
        older=following and f"?{urlencode({**asked, 'before': following})}",
        decisions=words.DECISIONS,
        decided=decided,
    )


@firewall.route(
    "POST",
    "/ui/admin/memory/firewall/mode",
    action="firewall.write",
    access="write",
    body=ModeIn,
    answers={303: "text/html"},
)
def set_mode_by_form(visit: Visit[ModeIn, NoQuery]) -> Answer:
    """Choose the tenant's mode."""
    call = visit.call
    policies.set_mode(call.outside, call.who, call.body.mode or None, call.now)
    return go_to(visit, f"{PLACE}?saved=mode")


def _mode(visit: Visit[Any, Any]) -> dict[str, Any]:
    outside, who = visit.call.outside, visit.call.who
    own, settings = who.firewall_mode, outside.settings
    configured = {"LARDER_FIREWALL_MODE": settings.firewall_mode, "LARDER_FIREWALL_FLOOR": settings.firewall_floor}
    return {
        "mode": in_force(outside, who),
        "own": own,
        "modes": list(Mode),
        "floor": settings.firewall_floor or None,
        "deployment": settings.firewall_mode or None,
        "default": firewall_mode.DEFAULT,
        "faults": firewall_mode.faults(**configured, mode=own),
    }


def _by_day(visit: Visit[Any, Any]) -> dict[str, Any]:
    """The chart, and the same as a table."""
    call = visit.call
    days = last_days(audit.first_day(call.now), call.now.date())
    stack = stack_of(audit.decisions_by_day(call.outside, call.who, call.now), words.DECISIONS)
    return {"days": days, "stack": stack, "chart": stacked_bars(days, stack, title="Decisions by day")}


def last_days(first: date, last: date) -> list[date]:
    """Every day from ``first`` to ``last``."""
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def stack_of(counts: Sequence[DayCount], known: dict[str, str]) -> list[Series]:
    """A series for each word that is known, in their order; its class is the word."""
    return [
        Series(name, word.replace("_", "-"), {row.day: row.count for row in counts if row.what == word})
        for word, name in known.items()
    ]
