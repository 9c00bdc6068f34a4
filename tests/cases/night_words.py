"""Plays the night-window lines of the web library against the pure function."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from chalicelib.domain.night_window import (
    InvalidNightSetting,
    NightSettings,
    current_night,
    next_night,
    night_of,
    parse_settings,
    parse_timezone,
    zone_or_utc,
)

Given = dict[str, Any]
_STEP = timedelta(minutes=5)


def play_night(given: Given, expected: Given) -> Iterator[str]:
    """Yield every mismatch. What a case leaves out is a window of 23:00 to 05:00 in UTC."""
    if "tz_values" in given:
        yield from _zone_names(given["tz_values"])
        return
    settings = _settings(given)
    if settings is None:
        yield from _refused(expected)
    elif settings.start == settings.end:
        yield from (f"closed at {hour} h" for hour in range(24) if not current_night(settings, _at_hour(hour)))
    elif "now_sequence" in given:
        nights = {current_night(settings, _instant(now)) for now in given["now_sequence"]}
        if len(nights) != 1:
            yield f"{len(nights)} nights where the clock only steps back"
    elif "t" in given or "now" in given:
        yield from _at(settings, _instant(given.get("t") or given["now"]), expected)
    elif "date" in given:
        yield from _on(settings, date.fromisoformat(given["date"]), expected)
    else:
        yield f"no way to play {sorted(given)}"


def _settings(given: Given) -> NightSettings | None:
    start, _, end = given.get("window", "23:00-05:00").partition("-")
    try:
        return parse_settings(start.strip(), end.strip(), given.get("tz", "UTC"))
    except InvalidNightSetting:
        return None


def _refused(expected: Given) -> Iterator[str]:
    if "reject" not in str(expected.get("save", expected)):
        yield "the settings are refused"


def _zone_names(names: list[Any]) -> Iterator[str]:
    for name in names:
        try:
            parse_timezone(name)
            yield f"{name!r} was saved"
        except InvalidNightSetting as error:
            if not str(error):
                yield f"{name!r} is refused without a message"
        if isinstance(name, str) and zone_or_utc(name) != (ZoneInfo("UTC"), False):
            yield f"a stored {name!r} is not read as UTC"


def _at(settings: NightSettings, now: datetime, expected: Given) -> Iterator[str]:
    night, following = current_night(settings, now), next_night(settings, now)
    found = {
        "night_id": str(night.id) if night else None,
        "open": night is not None,
        "inside": night is not None,
        "in_window": night is not None,
        "next_start": following.starts_at,
        "next_start_utc": following.starts_at,
        "start_utc": (night or following).starts_at,
        "end_utc": (night or following).ends_at,
    }
    yield from _compare(found, expected)


def _on(settings: NightSettings, day: date, expected: Given) -> Iterator[str]:
    night = night_of(settings, day)
    zone = ZoneInfo(settings.timezone)
    local_start = night.starts_at.astimezone(zone)
    found = {
        "night_id": str(night.id),
        "start_utc": night.starts_at,
        "end_utc": night.ends_at,
        "length_h": (night.ends_at - night.starts_at) / timedelta(hours=1),
        "local_start": local_start.isoformat(timespec="minutes")[11:],
        "local_end": night.ends_at.astimezone(zone).isoformat(timespec="minutes")[11:],
        "skipped": night.is_empty,
        "runs": _openings(settings, night.starts_at - timedelta(hours=6), night.ends_at + timedelta(hours=6)),
    }
    yield from _compare(found, expected)


def _openings(settings: NightSettings, begin: datetime, end: datetime) -> int:
    """How often the window opens between two instants."""
    openings, was_open = 0, True
    while begin < end:
        is_open = current_night(settings, begin) is not None
        openings += is_open and not was_open
        was_open, begin = is_open, begin + _STEP
    return openings


def _compare(found: Given, expected: Given) -> Iterator[str]:
    for name, value in expected.items():
        if name in found:
            wanted = _instant(value) if isinstance(found[name], datetime) else value
            if found[name] != wanted:
                yield f"{name}: {found[name]} instead of {wanted}"


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _at_hour(hour: int) -> datetime:
    return datetime(2026, 11, 30, hour, tzinfo=UTC)
