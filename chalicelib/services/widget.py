"""The public widget: its token, the pages that may embed it, its limits, and the search behind them (spec 3.5)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from chalicelib.errors import Problem
from chalicelib.knowledge.broker import Clock, Question
from chalicelib.metrics import RATE_LIMITED
from chalicelib.services import consumers, public_search
from chalicelib.services.consumers import Consumer
from chalicelib.services.outside import Outside


class Refused(Problem):
    """The widget's one refusal: it looks the same whatever was wrong."""

    status, code, title = 403, "refused", "Refused"


def admit(outside: Outside, bearer: str | None, origin: str | None, address: str, now: datetime) -> Consumer:
    """The widget behind a token, if the page may embed it and its limits are not used up. Raises Refused."""
    try:
        asking = consumers.authenticate(outside.database, bearer, ["widget"])
    except Problem:
        raise Refused("refused") from None
    widget = asking.consumer
    if not (outside.settings.enable_kb and asking.tenant_enabled) or origin not in widget.origins:
        raise Refused("refused")
    hashed = outside.keys.sign("widget address", f"{widget.id} {address}".encode())[1]
    buckets = (
        (f"token {widget.id}", outside.settings.widget_per_token),
        (f"address {hashed}", outside.settings.widget_per_address),
    )
    with outside.database.transaction(widget.tenant_id) as tx:
        for bucket, limit in buckets:
            window = {"tenant_id": widget.tenant_id, "bucket": bucket, "limit": limit, "now": now}
            if tx.value("consumers.take_window", **window) is None:
                outside.meter.emit(RATE_LIMITED.of(1, "widget"))
                raise Refused("refused")
    return widget


def knows_origin(outside: Outside, origin: str | None) -> bool:
    """Whether any widget may stand in pages of this origin. A preflight carries no token, so it can't say which."""
    if not origin or len(origin) > 300 or not origin.isprintable():
        return False
    with outside.database.transaction() as tx:
        return bool(tx.value("consumers.origin_is_known", origin=origin))


def search(outside: Outside, widget: Consumer, question: Question, clock: Clock) -> list[dict[str, Any]]:
    """What customers may see; what a page causes counts on a lane of its own."""
    return public_search.search(outside, widget.tenant_id, "widget", question, clock)
