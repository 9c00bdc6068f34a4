from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.night_window import (
    InvalidNightSetting,
    Night,
    NightSettings,
    current_night,
    known_zones,
    next_night,
    next_start,
    night_of,
    parse_settings,
    zone_or_utc,
)

modest = settings(max_examples=30, deadline=None)

DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)


def window(text: str, zone: str) -> NightSettings:
    start, end = text.split("-")
    return parse_settings(start, end, zone)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


NIGHTS = [
    ("plain", "Europe/Berlin", "22:00-05:00", "2026-11-30", "2026-11-30 21:00", "2026-12-01 04:00"),
    ("plain, not over midnight", "Europe/Berlin", "01:00-05:00", "2026-11-30", "2026-11-30 00:00", "2026-11-30 04:00"),
    ("leap day", "Asia/Tokyo", "23:00-05:00", "2028-02-29", "2028-02-29 14:00", "2028-02-29 20:00"),
    ("start happens twice", "America/Nuuk", "23:00-05:00", "2026-10-24", "2026-10-25 00:00", "2026-10-25 07:00"),
    ("start is jumped over", "Africa/Cairo", "00:00-05:00", "2026-04-24", "2026-04-23 22:00", "2026-04-24 02:00"),
    (
        "start jumps to the next date",
        "America/Nuuk",
        "23:30-05:00",
        "2026-03-28",
        "2026-03-29 01:00",
        "2026-03-29 06:00",
    ),
    ("jump inside", "America/New_York", "23:00-05:00", "2026-03-07", "2026-03-08 04:00", "2026-03-08 09:00"),
    ("jump back inside", "America/New_York", "23:00-05:00", "2026-10-31", "2026-11-01 03:00", "2026-11-01 10:00"),
    (
        "jump of half an hour",
        "Australia/Lord_Howe",
        "23:00-05:00",
        "2026-10-03",
        "2026-10-03 12:30",
        "2026-10-03 18:00",
    ),
    ("jump of two hours", "Antarctica/Troll", "23:00-05:00", "2026-03-28", "2026-03-28 23:00", "2026-03-29 03:00"),
    ("end is jumped over", "Europe/Berlin", "22:00-02:30", "2026-03-28", "2026-03-28 21:00", "2026-03-29 01:00"),
    ("end happens twice", "Europe/Berlin", "22:00-02:30", "2026-10-24", "2026-10-24 20:00", "2026-10-25 00:30"),
    ("both happen twice", "Europe/Berlin", "02:15-02:45", "2026-10-25", "2026-10-25 00:15", "2026-10-25 00:45"),
    (
        "clock back for Ramadan",
        "Africa/Casablanca",
        "23:00-05:00",
        "2026-02-14",
        "2026-02-14 22:00",
        "2026-02-15 05:00",
    ),
    (
        "date that never was, in between",
        "Pacific/Apia",
        "22:00-05:00",
        "2011-12-29",
        "2011-12-30 08:00",
        "2011-12-30 15:00",
    ),
    (
        "date that happened twice inside",
        "Pacific/Kwajalein",
        "22:00-05:00",
        "1969-09-30",
        "1969-09-30 11:00",
        "1969-10-01 17:00",
    ),
    (
        "offset with seconds",
        "Africa/Monrovia",
        "22:00-05:00",
        "1971-06-01",
        "1971-06-01 22:44:30",
        "1971-06-02 05:44:30",
    ),
    (
        "jump that ends between minutes",
        "Africa/Monrovia",
        "00:15-05:00",
        "1972-01-07",
        "1972-01-07 00:44:30",
        "1972-01-07 05:00",
    ),
    ("whole day", "Europe/Berlin", "05:00-05:00", "2026-11-30", "2026-11-30 04:00", "2026-12-01 04:00"),
    ("whole day of 23 hours", "Europe/Berlin", "00:00-00:00", "2026-03-29", "2026-03-28 23:00", "2026-03-29 22:00"),
    ("whole day from a jump", "Europe/Berlin", "02:30-02:30", "2026-03-29", "2026-03-29 01:00", "2026-03-30 00:30"),
]


@pytest.mark.parametrize(("zone", "text", "day", "start", "end"), [n[1:] for n in NIGHTS], ids=[n[0] for n in NIGHTS])
def test_a_night_starts_and_ends_when_the_clock_first_reaches_its_times(
    zone: str, text: str, day: str, start: str, end: str
) -> None:
    night = night_of(window(text, zone), date.fromisoformat(day))
    assert night == Night(date.fromisoformat(day), utc(start), utc(end))


def test_a_job_after_midnight_belongs_to_the_evening_before() -> None:
    night = current_night(window("23:00-05:00", "Europe/Berlin"), utc("2026-12-01 02:00"))
    assert night is not None
    assert night.id == date(2026, 11, 30)


def test_the_end_is_exclusive_and_the_start_is_not() -> None:
    berlin = window("23:00-05:00", "Europe/Berlin")
    night = night_of(berlin, date(2026, 11, 30))
    assert current_night(berlin, night.starts_at) == night
    assert current_night(berlin, night.starts_at - timedelta(microseconds=1)) is None
    assert current_night(berlin, night.ends_at - timedelta(microseconds=1)) == night
    assert current_night(berlin, night.ends_at) is None


def test_a_night_does_not_open_again_when_its_start_comes_round_twice() -> None:
    nuuk = window("23:00-05:00", "America/Nuuk")
    first = next_start(nuuk, utc("2026-10-24 12:00"))
    assert first == utc("2026-10-25 00:00")
    assert next_start(nuuk, first) == utc("2026-10-26 01:00")


def test_a_clock_set_back_over_midnight_stays_in_the_night_that_had_begun() -> None:
    st_johns = window("00:00-05:00", "America/St_Johns")
    again_23_30 = utc("2010-11-07 03:00")  # at 00:01 of the 7th the clock went back to 23:01 of the 6th
    night = current_night(st_johns, again_23_30)
    assert night == Night(date(2010, 11, 7), utc("2010-11-07 02:30"), utc("2010-11-07 08:30"))
    assert next_start(st_johns, again_23_30) == utc("2010-11-08 03:30")


def test_a_clock_that_steps_back_does_not_make_a_second_night() -> None:
    london = window("23:00-05:00", "Europe/London")
    nights = [current_night(london, utc(f"2026-11-30 {clock}")) for clock in ("23:30", "23:10", "23:31")]
    assert {night.id for night in nights if night} == {date(2026, 11, 30)}


def test_a_night_that_falls_into_a_jump_is_skipped() -> None:
    new_york = window("02:00-03:00", "America/New_York")
    assert night_of(new_york, date(2026, 3, 8)).is_empty
    assert next_night(new_york, utc("2026-03-08 00:00")).id == date(2026, 3, 9)
    assert current_night(new_york, utc("2026-03-08 07:00")) is None


def test_a_date_that_the_zone_never_had_has_no_night() -> None:
    apia = window("22:00-05:00", "Pacific/Apia")
    assert night_of(apia, date(2011, 12, 30)).is_empty
    assert next_night(apia, utc("2011-12-30 08:00")).id == date(2011, 12, 31)
    morning = current_night(apia, utc("2011-12-30 14:59"))  # 04:59 of the 31st, the morning after the 29th
    assert morning is not None
    assert morning.id == date(2011, 12, 29)


NO_TIMES = [
    "24:00",
    "7:00",
    "07:0",
    "07:60",
    "-7:00",
    "07:00:00",
    " 07:00",
    "07:00\n",
    "٠٧:٠٠",
    "０７:００",
    "07.00",
    "",
]


@pytest.mark.parametrize("clock", [*NO_TIMES, None, 700, time(7)])
def test_a_time_is_hours_and_minutes_and_nothing_else(clock: object) -> None:
    with pytest.raises(InvalidNightSetting) as caught:
        parse_settings("22:00", clock, "UTC")
    assert caught.value.field == "night_end"


UNKNOWN_ZONES = ["Europe/Kiyv", "", "../../etc/passwd", "UTC+2", "europe/berlin", "/etc/localtime", "Europe/Berlin\0"]
NO_PLACES = ["localtime", "Factory", "posixrules", "tzdata.zi", "Europe", "Europe/", "Europe/Berlin ", "Europe\\Berlin"]


@pytest.mark.parametrize("name", [*UNKNOWN_ZONES, *NO_PLACES, None, 7, ["UTC"], b"UTC"])
def test_a_zone_is_an_exact_name_of_the_database(name: object) -> None:
    with pytest.raises(InvalidNightSetting) as caught:
        parse_settings("22:00", "05:00", name)
    assert caught.value.field == "timezone"


@pytest.mark.parametrize("name", ["UTC", "Europe/Kyiv", "America/Argentina/Ushuaia", "Etc/GMT+2", "Asia/Calcutta"])
def test_links_and_fixed_zones_are_accepted(name: str) -> None:
    assert parse_settings("22:00", "05:00", name) == NightSettings(time(22), time(5), name)
    assert zone_or_utc(name) == (ZoneInfo(name), True)


@pytest.mark.parametrize("name", UNKNOWN_ZONES)
def test_a_stored_row_with_a_bad_zone_has_its_nights_in_utc(name: str) -> None:
    assert zone_or_utc(name) == (ZoneInfo("UTC"), False)
    assert next_start(NightSettings(time(22), time(5), name), utc("2026-11-30 12:00")) == utc("2026-11-30 22:00")


# Properties, over every zone and near the instants at which its clock is changed.


def clock_changes(zone: ZoneInfo, year: int) -> list[datetime]:
    """Instants within a day of those at which the zone's offset changes in a year."""
    steps = [datetime(year, 1, 1, tzinfo=UTC) + n * DAY for n in range(366)]
    offsets = [step.astimezone(zone).utcoffset() for step in steps]
    return [step for step, (before, after) in zip(steps, pairwise(offsets), strict=False) if before != after]


@st.composite
def moments(draw: st.DrawFn, first_year: int = 1840) -> tuple[NightSettings, datetime]:
    """A window in any zone, and an instant close to a change of its clock if there is one in the year."""
    name = draw(st.sampled_from(sorted(known_zones())))
    year = draw(st.integers(first_year, 2050))
    near = draw(st.sampled_from(clock_changes(ZoneInfo(name), year) or [datetime(year, 6, 1, tzinfo=UTC)]))
    now = (
        near + draw(st.integers(-60 * 60, 60 * 60)) * MINUTE + timedelta(microseconds=draw(st.sampled_from([0, 0, 1])))
    )
    clocks = st.integers(0, 3).map(lambda hour: time(hour, 30)) | st.sampled_from([time(0), time(2), time(3), time(23)])
    start, end = draw(clocks | st.times()), draw(clocks | st.times())
    return NightSettings(start.replace(second=0, microsecond=0), end.replace(second=0, microsecond=0), name), now


def nights_around(window: NightSettings, now: datetime) -> list[Night]:
    nights = [night_of(window, now.date() + days * DAY) for days in range(-5, 6)]
    return [night for night in nights if not night.is_empty]


@given(moments())
@modest
def test_nights_come_in_order_and_never_overlap(moment: tuple[NightSettings, datetime]) -> None:
    window, now = moment
    for night, following in pairwise(nights_around(window, now)):
        assert night.starts_at < night.ends_at <= following.starts_at
        if window.start == window.end:
            assert night.ends_at == following.starts_at, "the whole day leaves no gap"


@given(moments())
@modest
def test_the_next_start_is_the_first_strictly_in_the_future(moment: tuple[NightSettings, datetime]) -> None:
    window, now = moment
    found = next_night(window, now)
    starts = [night.starts_at for night in nights_around(window, now)]
    assert next_start(window, now) == found.starts_at == min(start for start in starts if start > now)
    assert found.starts_at.tzinfo is UTC
    assert current_night(window, found.starts_at) == found == night_of(window, found.id)
    assert next_start(window, now + (found.starts_at - now) / 2) == found.starts_at
    assert next_night(window, found.starts_at).id > found.id, "no night is named twice"


@given(moments())
@modest
def test_the_current_night_is_the_one_that_contains_now(moment: tuple[NightSettings, datetime]) -> None:
    window, now = moment
    assert current_night(window, now) == next((night for night in nights_around(window, now) if now in night), None)


@given(moments())
@modest
def test_a_night_has_the_date_and_the_times_of_its_settings_unless_the_clock_was_changed(
    moment: tuple[NightSettings, datetime],
) -> None:
    window, now = moment
    zone = ZoneInfo(window.timezone)
    for night in nights_around(window, now):
        begin, end = night.starts_at.astimezone(zone), night.ends_at.astimezone(zone)
        shown_before = (night.starts_at - timedelta(microseconds=1)).astimezone(zone).replace(tzinfo=None)
        nominal = datetime.combine(night.id, window.start)
        assert shown_before < nominal <= begin.replace(tzinfo=None)
        if begin.utcoffset() == (night.starts_at - DAY).astimezone(zone).utcoffset():
            assert (begin.date(), begin.time()) == (night.id, window.start)
            if begin.utcoffset() == end.utcoffset():
                whole = (datetime.combine(night.id, window.end) - nominal) % DAY or DAY
                assert (night.ends_at - night.starts_at) % DAY in (whole % DAY, timedelta(0))


def watched(window: NightSettings, begin: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    """Look at the wall clock each minute: the nights that open after ``begin`` and close before ``end``.

    The night of a date opens when the clock first shows its start or more, and closes when the clock first shows its
    end or more: on the same date, or on the date that came next.
    """
    zone = ZoneInfo(window.timezone)
    minutes = [begin + n * MINUTE for n in range((end - begin) // MINUTE)]
    walls = [minute.astimezone(zone).replace(tzinfo=None) for minute in minutes]
    dates = sorted({wall.date() for wall in walls})
    mornings = dates[1:] if window.end <= window.start else dates
    nights = []
    for day, morning in zip(dates, mornings, strict=False):
        opens, closes = datetime.combine(day, window.start), datetime.combine(morning, window.end)
        start = next((minute for minute, wall in zip(minutes, walls, strict=True) if wall >= opens), end)
        stop = next((minute for minute, wall in zip(minutes, walls, strict=True) if wall >= closes), end)
        if begin < start < stop < end:
            nights.append((start, stop))
    return nights


@given(moments(first_year=1975))  # since then every offset is of whole minutes
@settings(max_examples=10, deadline=None)
def test_a_watchman_who_looks_at_the_clock_each_minute_sees_the_same_nights(
    moment: tuple[NightSettings, datetime],
) -> None:
    window, now = moment
    now = now.replace(second=0, microsecond=0)
    begin, end = now - 3 * DAY, now + 3 * DAY
    expected = watched(window, begin, end)
    found = [(n.starts_at, n.ends_at) for n in nights_around(window, now) if begin < n.starts_at and n.ends_at < end]
    assert found == expected
    assert next_start(window, now) == next(start for start, _ in expected if start > now)
