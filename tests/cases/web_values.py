"""Values of a case: what it says under one of several names, its instants and durations."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.cases.generator_words import Unreadable

Given = dict[str, Any]
NIGHT = datetime(2026, 11, 29, 23, tzinfo=UTC)
"""When a case happens that doesn't say so: in the default window, an hour after it opened."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def now_of(given: Given) -> datetime:
    """The case's instant."""
    for key in ("now", "t", "time", "at"):
        if re.match(r"\d{4}-", str(given.get(key))):
            return instant(str(given[key]))
    return NIGHT


def told(given: Given, *names: str, default: Any = None) -> Any:
    """What the case says under the first of the names that it has."""
    return next((given[name] for name in names if name in given), default)


def instant(text: str) -> datetime:
    """An ISO instant, in UTC unless it says another offset. Raises Unreadable."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Unreadable(text) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def duration(spoken: Any) -> timedelta:
    """``600``, ``10 minutes``, ``7 days``, ``a week``. Raises Unreadable."""
    if isinstance(spoken, int | float):
        return timedelta(seconds=spoken)
    text = re.sub(r"\b(an?|one)\b", "1", re.sub(r"\bten\b", "10", str(spoken).lower()))
    found = re.search(r"([\d.,]+)\s*(s|m|h|d|w)(?!o)", text)
    if found is None:
        raise Unreadable(str(spoken))
    return timedelta(seconds=float(found[1].replace(",", "")) * _UNITS[found[2]])
