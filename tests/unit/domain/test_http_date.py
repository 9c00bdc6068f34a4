from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.http_date import parse_http_date

modest = settings(max_examples=50, deadline=None)

NOW = datetime(2026, 11, 30, tzinfo=UTC)
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)

instants = st.integers(0, int((LAST - FIRST).total_seconds())).map(lambda seconds: FIRST + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    "value",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "sun, 06 nov 1994 08:49:37 gmt",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Mon, 06 Nov 1994 08:49:37 GMT",
        "\t Sun, 06 Nov 1994 08:49:37 GMT ",
    ],
)
def test_the_three_formats_and_their_plain_misspellings_are_read(value: str) -> None:
    assert parse_http_date(value, now=NOW) == datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "0",
        "-1",
        "1994-11-06T08:49:37Z",
        "Sun, 31 Feb 2026 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT",
        "Sun, 06 Now 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 08:49:37 +0100",
        "Sun, ٠٦ Nov ١٩٩٤ 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT\n",
        "Sun, 06 Nov 1994 08:49:37 GMT, Mon, 07 Nov 1994 08:49:37 GMT",
        "Fri, 31 Dec 9999 23:59:60 GMT",
    ],
)
def test_everything_else_is_no_date(value: str) -> None:
    assert parse_http_date(value, now=NOW) is None


def test_a_leap_second_is_the_second_after() -> None:
    assert parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT", now=NOW) == datetime(2017, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("year", "expected"), [("26", 2026), ("76", 2076), ("77", 1977), ("99", 1999), ("00", 2000)])
def test_a_year_of_two_digits_lies_at_most_fifty_years_ahead(year: str, expected: int) -> None:
    date = parse_http_date(f"Sunday, 06-Nov-{year} 08:49:37 GMT", now=NOW)
    assert date is not None
    assert date.year == expected


@given(instants)
@modest
def test_what_a_server_writes_is_what_is_read(instant: datetime) -> None:
    day, month = DAYS[instant.weekday()], MONTHS[instant.month - 1]
    fixdate = f"{day[:3]}, {instant:%d} {month} {instant.year:04} {instant:%H:%M:%S} GMT"
    asctime = f"{day[:3]} {month} {instant.day:2} {instant:%H:%M:%S} {instant.year:04}"
    rfc_850 = f"{day}, {instant:%d}-{month}-{instant.year % 100:02} {instant:%H:%M:%S} GMT"
    assert parse_http_date(fixdate, now=NOW) == parse_http_date(asctime, now=NOW) == instant
    if abs(instant - NOW) < timedelta(days=49 * 365):
        assert parse_http_date(rfc_850, now=NOW) == instant


@given(st.text(st.characters(exclude_categories=[])) | st.text("Sun, 06-Nov194:GMT\t"))
@modest
def test_no_text_breaks_it(value: str) -> None:
    instant = parse_http_date(value, now=NOW)
    assert instant is None or instant.tzinfo is UTC
