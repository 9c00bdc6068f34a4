from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.outcome import Outcome
from chalicelib.domain.retry import MAX_RETRY_AFTER, NextStep, next_step, parse_retry_after

modest = settings(max_examples=50, deadline=None)

NOW = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
NIGHT_END, NEXT_NIGHT = NOW + 2 * HOUR, NOW + 20 * HOUR

AGAIN = [
    Outcome.UNREACHABLE,
    Outcome.TIMEOUT,
    Outcome.HTTP_429,
    Outcome.HTTP_5XX,
    Outcome.EMBEDDING_FAILED,
    Outcome.INTERNAL_ERROR,
]
TWICE = [Outcome.HTTP_403, Outcome.HTTP_4XX]
FINAL = [word for word in Outcome if word not in [*AGAIN, *TWICE, Outcome.HTTP_404]]


def step(
    outcome: Outcome,
    *,
    attempts: int = 1,
    consecutive_gone: int = 0,
    night: bool = False,
    retry_after: timedelta | None = None,
) -> NextStep:
    return next_step(
        outcome,
        now=NOW,
        attempts=attempts,
        consecutive_gone=consecutive_gone,
        retry_after=retry_after,
        is_night=night,
        night_end=NIGHT_END,
        next_night_start=NEXT_NIGHT,
    )


@pytest.mark.parametrize("outcome", AGAIN)
def test_a_passing_failure_is_tried_again_in_ten_minutes_and_five_times_in_all(outcome: Outcome) -> None:
    kinds = [step(outcome, attempts=attempts) for attempts in range(1, 6)]
    assert kinds == [NextStep("retry", NOW + 10 * MINUTE)] * 4 + [NextStep("final")]


@pytest.mark.parametrize("outcome", TWICE)
def test_a_server_that_says_no_is_asked_twice(outcome: Outcome) -> None:
    assert step(outcome, attempts=1) == NextStep("retry", NOW + 10 * MINUTE)
    assert step(outcome, attempts=2) == NextStep("final")


@pytest.mark.parametrize("outcome", FINAL)
@pytest.mark.parametrize("night", [True, False])
def test_what_no_retry_can_better_is_final_at_once(outcome: Outcome, night: bool) -> None:
    assert step(outcome, night=night, retry_after=HOUR) == NextStep("final")


def test_a_refusal_by_the_guard_is_never_retried() -> None:
    assert Outcome.REFUSED in FINAL


@pytest.mark.parametrize("night", [True, False])
def test_a_missing_page_is_looked_for_the_next_night_and_is_gone_the_third_time(night: bool) -> None:
    kinds = [step(Outcome.HTTP_404, attempts=n, consecutive_gone=n, night=night) for n in (1, 2, 3)]
    assert kinds == [NextStep("next_night", NEXT_NIGHT), NextStep("next_night", NEXT_NIGHT), NextStep("gone")]


def test_a_page_missing_again_after_earlier_events_is_gone_on_the_first_attempt() -> None:
    assert step(Outcome.HTTP_404, attempts=1, consecutive_gone=3) == NextStep("gone")
    assert step(Outcome.HTTP_404, attempts=1, consecutive_gone=4) == NextStep("gone")


def test_an_event_whose_page_comes_and_goes_still_ends_after_five_failures() -> None:
    assert step(Outcome.HTTP_404, attempts=5, consecutive_gone=1) == NextStep("final")


@pytest.mark.parametrize(
    ("retry_after", "waits"),
    [(0 * MINUTE, 10 * MINUTE), (9 * MINUTE, 10 * MINUTE), (11 * MINUTE, 11 * MINUTE), (24 * HOUR, 24 * HOUR)],
)
def test_retry_after_counts_if_it_is_later_than_ten_minutes(retry_after: timedelta, waits: timedelta) -> None:
    assert step(Outcome.HTTP_429, retry_after=retry_after) == NextStep("retry", NOW + waits)


def test_a_night_event_keeps_to_the_night() -> None:
    inside = 2 * HOUR - MINUTE
    assert step(Outcome.HTTP_5XX, night=True) == NextStep("retry", NOW + 10 * MINUTE)
    assert step(Outcome.HTTP_5XX, night=True, retry_after=inside) == NextStep("retry", NOW + inside)
    assert step(Outcome.HTTP_5XX, night=True, retry_after=2 * HOUR) == NextStep("next_night", NEXT_NIGHT)
    assert step(Outcome.HTTP_5XX, night=True, retry_after=2 * HOUR, attempts=5) == NextStep("final")


def test_an_event_of_now_does_not_wait_for_the_night() -> None:
    assert step(Outcome.HTTP_5XX, retry_after=3 * HOUR) == NextStep("retry", NOW + 3 * HOUR)


def test_the_next_night_does_not_cut_retry_after_short() -> None:
    assert step(Outcome.HTTP_429, night=True, retry_after=24 * HOUR) == NextStep("next_night", NOW + 24 * HOUR)
    assert step(Outcome.HTTP_404, consecutive_gone=1, retry_after=24 * HOUR) == NextStep("next_night", NOW + 24 * HOUR)


def test_a_night_event_that_ran_on_after_the_night_waits_for_the_next() -> None:
    for night_end in (None, NOW, NOW - MINUTE):
        found = next_step(
            Outcome.TIMEOUT, now=NOW, attempts=1, is_night=True, night_end=night_end, next_night_start=NEXT_NIGHT
        )
        assert found == NextStep("next_night", NEXT_NIGHT)


@given(
    outcome=st.sampled_from(list(Outcome)),
    attempts=st.integers(1, 9),
    gone=st.integers(0, 5),
    retry_after=st.none() | st.timedeltas(timedelta(0), MAX_RETRY_AFTER),
    is_night=st.booleans(),
    night_end=st.none() | st.timedeltas(-HOUR, 24 * HOUR).map(lambda delta: NOW + delta),
    next_night=st.none() | st.timedeltas(MINUTE, 48 * HOUR).map(lambda delta: NOW + delta),
)
@modest
def test_every_event_ends_and_no_retry_comes_early(
    outcome: Outcome,
    attempts: int,
    gone: int,
    retry_after: timedelta | None,
    is_night: bool,
    night_end: datetime | None,
    next_night: datetime | None,
) -> None:
    found = next_step(
        outcome,
        now=NOW,
        attempts=attempts,
        consecutive_gone=gone,
        retry_after=retry_after,
        is_night=is_night,
        night_end=night_end,
        next_night_start=next_night,
    )
    assert (found.at is None) == (found.kind in ("final", "gone"))
    if found.at is not None:
        assert outcome.is_failure
        assert attempts < 5
        assert found.at >= NOW + max(10 * MINUTE, retry_after or 10 * MINUTE)
    if found.kind == "next_night" and next_night:
        assert found.at is not None
        assert found.at >= next_night
    if found.kind == "retry" and is_night:
        assert found.at is not None
        assert night_end is not None
        assert found.at < night_end


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", timedelta(0)),
        ("120", 2 * MINUTE),
        (" 120\t", 2 * MINUTE),
        ("000000000000120", 2 * MINUTE),
        ("86399", 24 * HOUR - timedelta(seconds=1)),
        ("86401", 24 * HOUR),
        ("9" * 5000, 24 * HOUR),
        ("Mon, 30 Nov 2026 02:30:00 GMT", 30 * MINUTE),
        ("Monday, 30-Nov-26 02:30:00 GMT", 30 * MINUTE),
        ("Mon Nov 30 02:30:00 2026", 30 * MINUTE),
        ("Mon, 30 Nov 2026 01:59:59 GMT", timedelta(0)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", timedelta(0)),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 24 * HOUR),
    ],
)
def test_retry_after_is_seconds_or_a_date_between_now_and_a_day(value: str, expected: timedelta) -> None:
    assert parse_retry_after(value, now=NOW) == expected


NO_SECONDS = [
    "",
    " ",
    "-1",
    "+1",
    "1.5",
    "1e3",
    "0x10",
    "1_000",
    "١٢٠",
    "１２０",
    "²",
    "120, 300",
    "120;",
    "NaN",
    "120\n",
    "1 2",
]
NO_DATES = ["soon", "2026-11-30T02:30:00Z", "Mon, 30 Feb 2026 02:30:00 GMT", "Mon, 30 Nov 2026 02:30:00"]


@pytest.mark.parametrize("value", [None, *NO_SECONDS, *NO_DATES])
def test_a_retry_after_that_cannot_be_read_counts_as_none(value: str | None) -> None:
    assert parse_retry_after(value, now=NOW) is None


@given(st.text() | st.text("0123456789 ,:GMTSunNov-") | st.integers().map(str))
@modest
def test_no_retry_after_breaks_it_or_leaves_the_bounds(value: str) -> None:
    wait = parse_retry_after(value, now=NOW)
    assert wait is None or timedelta(0) <= wait <= 24 * HOUR
