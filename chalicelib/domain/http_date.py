"""HTTP dates: the three formats of RFC 9110, 5.6.7, read without the process's locale."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_ZONE = r"(?:GMT|UTC|[+-]0000)"
_FORMATS = tuple(
    re.compile(pattern, re.ASCII | re.IGNORECASE)
    for pattern in (
        rf"[a-z]{{3}}, (?P<day>[0-9]{{1,2}}) (?P<month>[a-z]{{3}}) (?P<year>[0-9]{{4}}) {_TIME} {_ZONE}",  # IMF-fixdate
        rf"[a-z]{{6,9}}, (?P<day>[0-9]{{2}})-(?P<month>[a-z]{{3}})-(?P<year>[0-9]{{2}}) {_TIME} {_ZONE}",  # RFC 850
        rf"[a-z]{{3}} (?P<month>[a-z]{{3}}) (?P<day>[ 0-9][0-9]) {_TIME} (?P<year>[0-9]{{4}})",  # asctime
    )
)


def parse_http_date(value: str, *, now: datetime) -> datetime | None:
    """Return the instant in UTC, or None if ``value`` is no HTTP date.

    Lenient where servers are sloppy and the meaning is plain (case, ``UTC`` or ``+0000`` for ``GMT``, a wrong
    weekday, a leap second). A year of two digits that would lie more than 50 years after ``now`` is of the century
    before (RFC 9110).
    """
    for pattern in _FORMATS:
        if match := pattern.fullmatch(value.strip(" \t")):
            return _instant(match, now)
    return None


def _instant(match: re.Match[str], now: datetime) -> datetime | None:
    year, day, hour, minute, second = (int(match[name]) for name in ("year", "day", "hour", "minute", "second"))
    month = match["month"].lower()
    if month not in _MONTHS or second > 60:
        return None
    if len(match["year"]) == 2:
        year += now.year // 100 * 100
        year -= 100 if year > now.year + 50 else 0
    leap_second = timedelta(seconds=second // 60)
    try:
        return datetime(year, _MONTHS.index(month) + 1, day, hour, minute, min(second, 59), tzinfo=UTC) + leap_second
    except (ValueError, OverflowError):
        return None
