"""The night window: when a tenant lets Larder fetch, as wall-clock times in the tenant's time zone.

A night belongs to a local date D. It starts at the first instant whose wall clock shows the start on D *or later*,
and ends (exclusive) at the first instant whose wall clock shows the end or later: on D if the end is after the start,
else on the next date that the zone has. This one rule, *when the clock first reaches*, settles every odd case:

- A start or end that does not exist (the clock jumps over it) becomes the first instant after the jump.
- A start or end that happens twice is the first of the two. So no night opens twice, a night whose start and end both
  happen twice has the length that the tenant asked for, and none runs on at a wall-clock time after its end.
- A jump forward inside a night shortens it, a jump back lengthens it.
- The function from wall clock to instant is monotone, so nights never overlap. With equal start and end a night lasts
  until the next begins: they stand back to back, without a gap.
- A night that falls wholly into a jump has no length and is skipped. A date that the zone never had (Apia,
  2011-12-30) has no night of its own: the night before ends on the morning that really came next.

The night's id is its date D. That is the local date of its start, except where a jump over midnight moved the start
to D + 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import count
from zoneinfo import ZoneInfo, available_timezones

_ONE_DAY = timedelta(days=1)
_NOT_PLACES = frozenset({"Factory", "localtime", "posixrules"})
"""Names that some systems' databases hold and that mean no place, or another place on every machine."""


class InvalidNightSetting(ValueError):
    """A setting of the window is not usable; ``field`` is ``night_start``, ``night_end`` or ``timezone``."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


@dataclass(frozen=True)
class NightSettings:
    """The window of a tenant. Made from stored rows as they are; what a caller sends goes through `parse_settings`."""

    start: time
    end: time
    timezone: str


@dataclass(frozen=True)
class Night:
    """One night: ``starts_at <= t < ends_at``, both in UTC. ``id`` is the local date that it belongs to."""

    id: date
    starts_at: datetime
    ends_at: datetime

    @property
    def is_empty(self) -> bool:
        """The night has no length: it fell into a jump of the clock, or the zone never had its date."""
        return self.starts_at == self.ends_at

    def __contains__(self, instant: datetime) -> bool:
        return self.starts_at <= instant < self.ends_at


def parse_settings(start: object, end: object, timezone: object) -> NightSettings:
    """Check what a caller sent: times as ``HH:MM``, an IANA name in its exact spelling.

    Raises `InvalidNightSetting` for the first that is wrong.
    """
    return NightSettings(parse_time("night_start", start), parse_time("night_end", end), parse_timezone(timezone))


def parse_time(field: str, value: object) -> time:
    """Read ``HH:MM``, 00:00 to 23:59, ASCII digits only. Raises `InvalidNightSetting`."""
    if not isinstance(value, str) or not re.fullmatch(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]", value):
        raise InvalidNightSetting(field, "must be a time of day as HH:MM, 00:00 to 23:59")
    return time(int(value[:2]), int(value[3:]))


def parse_timezone(value: object) -> str:
    """Return ``value`` if it is the exact name of an IANA time zone. Raises `InvalidNightSetting`."""
    if not isinstance(value, str) or value not in known_zones():
        raise InvalidNightSetting("timezone", "must be an IANA time zone name such as Europe/Berlin")
    return value


@cache
def known_zones() -> frozenset[str]:
    """Return the names of all time zones. Reads the time zone database once a process."""
    return frozenset(available_timezones() - _NOT_PLACES)


def zone_or_utc(name: str) -> tuple[ZoneInfo, bool]:
    """Return the zone and True, or UTC and False if a stored row holds a name that is no zone (any more).

    One tenant's bad row must not stop the scheduler for the others; `doctor` reports it.
    """
    if name in known_zones():
        try:
            return ZoneInfo(name), True
        except (ValueError, KeyError, OSError):  # a database that lists a zone and can't read it
            pass
    return ZoneInfo("UTC"), False


def night_of(settings: NightSettings, local_date: date) -> Night:
    """Return the night of ``local_date``; it may be empty (see `Night.is_empty`)."""
    zone, _ = zone_or_utc(settings.timezone)
    starts_at = _first_reached(local_date, settings.start, zone)
    if not _exists(local_date, zone):
        return Night(local_date, starts_at, starts_at)
    end_date = local_date if settings.end > settings.start else _next_existing(local_date, zone)
    return Night(local_date, starts_at, _first_reached(end_date, settings.end, zone))


def current_night(settings: NightSettings, now: datetime) -> Night | None:
    """Return the night that contains ``now`` (aware), or None while the window is closed."""
    today = _local_date(settings, now)
    # Two days back, for a night that spans a date the zone never had; one ahead, for a clock set back over midnight.
    nights = (night_of(settings, today + days * _ONE_DAY) for days in range(-2, 2))
    return next((night for night in nights if now in night), None)


def next_start(settings: NightSettings, now: datetime) -> datetime:
    """Return the first start of a night strictly after ``now`` (aware), in UTC."""
    return next_night(settings, now).starts_at


def next_night(settings: NightSettings, now: datetime) -> Night:
    """Return the first night that starts strictly after ``now`` (aware)."""
    # No night of an earlier date can start after now: the clock has reached its start already.
    nights = _nights_from(settings, _local_date(settings, now))
    return next(night for night in nights if night.starts_at > now and not night.is_empty)


def _nights_from(settings: NightSettings, first: date) -> Iterator[Night]:
    return (night_of(settings, first + days * _ONE_DAY) for days in count())


def _local_date(settings: NightSettings, now: datetime) -> date:
    zone, _ = zone_or_utc(settings.timezone)
    return now.astimezone(zone).date()


def _exists(day: date, zone: ZoneInfo) -> bool:
    return _first_reached(day, time(0), zone).astimezone(zone).date() == day


def _next_existing(day: date, zone: ZoneInfo) -> date:
    return _first_reached(day + _ONE_DAY, time(0), zone).astimezone(zone).date()


def _first_reached(day: date, clock: time, zone: ZoneInfo) -> datetime:
    """Return the first instant, in UTC, at which the zone's wall clock shows ``day`` ``clock`` or later."""
    wall = datetime.combine(day, clock)
    # PEP 495: of a time that happens twice fold=0 is the first. Of a time in a jump fold=0 lies after the jump.
    after = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if _wall(after, zone) == wall:
        return after
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    while (seconds := (after - before) // timedelta(seconds=1)) > 1:  # offsets and so jumps are whole seconds
        middle = before + timedelta(seconds=seconds // 2)
        before, after = (before, middle) if _wall(middle, zone) >= wall else (middle, after)
    return after


def _wall(instant: datetime, zone: ZoneInfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)
