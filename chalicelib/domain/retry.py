"""What follows an attempt: the table of spec 1.1 as one pure function, and the reading of ``Retry-After``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from chalicelib.domain.http_date import parse_http_date
from chalicelib.domain.outcome import Outcome

RETRY_DELAY = timedelta(minutes=10)
MAX_RETRY_AFTER = timedelta(hours=24)
MAX_ATTEMPTS = 5
GONE_AFTER = 3
"""So many 404 or 410 in a row mean that the source is gone."""

_ATTEMPTS: dict[Outcome, int] = {
    Outcome.UNREACHABLE: MAX_ATTEMPTS,
    Outcome.TIMEOUT: MAX_ATTEMPTS,
    Outcome.HTTP_429: MAX_ATTEMPTS,
    Outcome.HTTP_5XX: MAX_ATTEMPTS,
    Outcome.EMBEDDING_FAILED: MAX_ATTEMPTS,
    Outcome.INTERNAL_ERROR: MAX_ATTEMPTS,
    Outcome.HTTP_404: MAX_ATTEMPTS,
    # A server that says no rarely changes its mind in ten minutes, and asking on looks like an attack.
    Outcome.HTTP_403: 2,
    Outcome.HTTP_4XX: 2,
}
"""How many failures an event may have; what is not listed is final at once (a refusal by the guard above all)."""


@dataclass(frozen=True)
class NextStep:
    """What happens to the event now.

    ``retry`` and ``next_night``: it becomes pending again and is available at ``at``. ``final``: it is closed.
    ``gone``: it is closed and a suggestion to give the source up is opened. ``at`` is None for the last two.
    """

    kind: Literal["retry", "next_night", "final", "gone"]
    at: datetime | None = None


def next_step(
    outcome: Outcome,
    *,
    now: datetime,
    attempts: int,
    consecutive_gone: int = 0,
    retry_after: timedelta | None = None,
    is_night: bool = False,
    night_end: datetime | None = None,
    next_night_start: datetime | None = None,
) -> NextStep:
    """Decide what follows ``outcome`` (spec 1.1).

    ``attempts`` counts the failures of this event and ``consecutive_gone`` the 404 and 410 in a row on the source,
    both with this one. ``night_end`` is the end of the night that contains ``now``, None outside of any; a night
    event's retry that falls at or after it waits for the next night, and even then not less than ``retry_after``.
    """
    if outcome.is_gone and consecutive_gone >= GONE_AFTER:
        return NextStep("gone")
    if attempts >= _ATTEMPTS.get(outcome, 0):
        return NextStep("final")
    at = now + max(RETRY_DELAY, retry_after or RETRY_DELAY)
    night_is_over = is_night and (night_end is None or at >= night_end)
    if outcome.is_gone or night_is_over:
        return NextStep("next_night", max(at, next_night_start or at))
    return NextStep("retry", at)


def parse_retry_after(value: str | None, *, now: datetime) -> timedelta | None:
    """Read a ``Retry-After`` header (RFC 9110, 10.2.3): seconds or an HTTP date, clamped to 0 to 24 hours (spec 1.7).

    None if there is no header or it can't be read: signs, fractions, other scripts' digits, two values in one header.
    """
    text = (value or "").strip(" \t")
    if re.fullmatch(r"[0-9]+", text):
        digits = text.lstrip("0")[:6]  # six digits are more than a day; int() of thousands of digits would raise
        return min(timedelta(seconds=int(digits or "0")), MAX_RETRY_AFTER)
    instant = parse_http_date(text, now=now)
    return None if instant is None else min(max(instant - now, timedelta(0)), MAX_RETRY_AFTER)
