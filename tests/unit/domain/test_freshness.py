from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.freshness import (
    DEFAULT_TTL,
    MAX_TTL,
    MIN_TTL,
    Staleness,
    Validators,
    stale_at,
    staleness,
    updated_validators,
    usable_validators,
)
from chalicelib.domain.outcome import Outcome

modest = settings(max_examples=50, deadline=None)

NOW = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
PAST, FUTURE = "Mon, 02 Nov 2026 10:00:00 GMT", "Wed, 02 Dec 2026 10:00:00 GMT"
ETAG = '"v1"'

instants = st.timedeltas(-2000 * DAY, 2000 * DAY).map(lambda delta: NOW + delta)
ttls = st.integers(MIN_TTL, MAX_TTL)


def test_the_bounds_are_five_minutes_a_week_and_a_year() -> None:
    assert (MIN_TTL, DEFAULT_TTL, MAX_TTL) == (300, 604_800, 31_536_000)


def test_a_source_never_fetched_is_stale_at_once() -> None:
    assert stale_at(None, DEFAULT_TTL) is None
    assert staleness(None, None, DEFAULT_TTL, NOW) == Staleness(True, "never_fetched", 0)
    assert staleness(None, None, DEFAULT_TTL, NOW, created_at=NOW - DAY) == Staleness(True, "never_fetched", 86_400)


def test_a_source_goes_stale_at_the_instant_its_ttl_ends() -> None:
    checked = NOW - timedelta(seconds=300)
    assert stale_at(checked, 300) == NOW
    assert staleness(checked, "unchanged", 300, NOW) == Staleness(True, "ttl_expired", 0)
    assert staleness(checked, "unchanged", 300, NOW - timedelta(microseconds=1)) == Staleness(False, None, 0)
    assert staleness(checked, "unchanged", 300, NOW + 90 * SECOND) == Staleness(True, "ttl_expired", 90)


@pytest.mark.parametrize("outcome", [word for word in Outcome if word.is_failure])
def test_a_failure_is_the_reason_of_a_stale_source_and_makes_no_fresh_one_stale(outcome: Outcome) -> None:
    assert staleness(NOW - DAY, outcome.value, 3600, NOW).reason == "last_refresh_failed"
    assert staleness(None, outcome.value, 3600, NOW).reason == "last_refresh_failed"
    assert not staleness(NOW - DAY, outcome.value, 2 * 86_400, NOW).stale


@pytest.mark.parametrize("outcome", [word for word in Outcome if not word.is_failure])
def test_without_a_failure_the_clock_is_the_reason(outcome: Outcome) -> None:
    assert staleness(NOW - DAY, outcome.value, 3600, NOW).reason == "ttl_expired"


def test_a_status_word_of_another_release_counts_as_a_failure() -> None:
    assert staleness(NOW - DAY, "http_teapot", 3600, NOW).reason == "last_refresh_failed"


@given(checked=st.none() | instants, created=st.none() | instants, ttl=ttls, now=instants)
@modest
def test_staleness_agrees_with_its_instant_and_has_no_negative_age(
    checked: datetime | None, created: datetime | None, ttl: int, now: datetime
) -> None:
    found = staleness(checked, None, ttl, now, created_at=created)
    since = stale_at(checked, ttl)
    assert found.stale == (since is None or now >= since) == (found.reason is not None)
    assert found.stale_for_seconds >= 0
    if found.stale and checked:
        assert timedelta(0) <= now - checked - timedelta(seconds=ttl + found.stale_for_seconds) < SECOND


def usable(etag: str | None = ETAG, last_modified: str | None = PAST, **changed: object) -> Validators:
    known = {"last_unconditional_at": NOW - DAY, "has_current": True, "pipeline_changed": False, "uri_changed": False}
    return usable_validators(etag, last_modified, now=NOW, **(known | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize("etag", ['"v1"', 'W/"v1"', "abc", '"abc-gzip"', '""', '"a b"', '"é"', "W/abc", '"\t"', " x "])
def test_an_etag_goes_back_as_it_came(etag: str) -> None:
    assert usable(etag=etag) == Validators(etag, PAST)


@pytest.mark.parametrize(
    "value", [None, "", " ", "\t", '"a\r\nHost: x"', '"a\nb"', '"\0"', '"\x7f"', '"日本"', '"\ud800"']
)
def test_a_blank_validator_or_one_that_fits_no_header_counts_as_none(value: str | None) -> None:
    assert usable(etag=value) == Validators(None, PAST)
    assert usable(last_modified=value) == Validators(ETAG, None)


def test_a_date_in_the_future_is_ignored_and_an_odd_one_goes_back_as_it_came() -> None:
    assert usable(last_modified=FUTURE) == Validators(ETAG, None)
    assert usable(last_modified="Wednesday, 02-Dec-26 10:00:00 GMT") == Validators(ETAG, None)
    assert usable(last_modified="Tue, 01 Jan 1980 00:00:01 GMT").last_modified == "Tue, 01 Jan 1980 00:00:01 GMT"
    assert usable(last_modified="yesterday").last_modified == "yesterday"


@pytest.mark.parametrize("why", [{"has_current": False}, {"pipeline_changed": True}, {"uri_changed": True}])
def test_a_check_is_unconditional_when_a_304_would_mean_nothing(why: dict[str, object]) -> None:
    assert usable() == Validators(ETAG, PAST)
    assert usable(**why) == Validators(None, None)


@pytest.mark.parametrize(
    ("last", "conditional"),
    [
        (None, False),
        (NOW, True),
        (NOW - 7 * DAY + SECOND, True),
        (NOW - 7 * DAY, False),
        (NOW - 400 * DAY, False),
        (NOW + DAY, False),
    ],
)
def test_once_in_seven_days_a_check_goes_without_validators(last: datetime | None, conditional: bool) -> None:
    assert usable(last_unconditional_at=last) == (Validators(ETAG, PAST) if conditional else Validators())


def test_a_304_updates_each_validator_that_it_carries_and_keeps_the_other() -> None:
    stored = Validators('"v1"', PAST)
    later = "Tue, 03 Nov 2026 10:00:00 GMT"
    for received, expected in [
        (Validators(), stored),
        (Validators('"v2"', None), Validators('"v2"', PAST)),
        (Validators(None, later), Validators('"v1"', later)),
        (Validators("", ""), stored),
        (Validators(None, FUTURE), stored),
    ]:
        assert updated_validators(stored, received, not_modified=True, now=NOW) == expected


def test_the_validators_of_a_200_take_the_place_of_the_old_ones_also_if_there_are_none() -> None:
    stored = Validators('"v1"', PAST)
    for received, expected in [
        (Validators('"b"', PAST), Validators('"b"', PAST)),
        (Validators('"b"', None), Validators('"b"', None)),
        (Validators(), Validators()),
        (Validators("", " "), Validators()),
        (Validators('"b"', FUTURE), Validators('"b"', None)),
    ]:
        assert updated_validators(stored, received, not_modified=False, now=NOW) == expected


headers = st.none() | st.text() | instants.map(lambda instant: format_datetime(instant, usegmt=True))


@given(etag=headers, last_modified=headers, not_modified=st.booleans())
@modest
def test_what_is_stored_can_be_sent(etag: str | None, last_modified: str | None, not_modified: bool) -> None:
    stored = updated_validators(Validators(), Validators(etag, last_modified), not_modified=not_modified, now=NOW)
    assert usable(*stored) == stored
    for value in stored:
        assert value is None or (value.encode("latin-1") and "\n" not in value and "\r" not in value)
    assert set(stored) <= {etag, last_modified, None}
