from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.provider_circuit import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    PROBE_LEASE,
    Circuit,
    Permit,
    admit,
    failed,
    let_alone,
    pause,
    succeeded,
)
from chalicelib.domain.provider_failure import FailureClass

NOW = datetime(2026, 11, 30, tzinfo=UTC)
TRANSIENT, CONFIGURATION, CONTRACT = FailureClass
SECOND = timedelta(seconds=1)


def fail(circuit: Circuit, *kinds: FailureClass, now: datetime = NOW, retry_after: timedelta | None = None) -> Circuit:
    """One request after the other, each admitted and failing."""
    for kind in kinds:
        permit, circuit = admit(circuit, now)
        assert permit.granted
        circuit = failed(circuit, permit, kind, now, retry_after)
    return circuit


def succeed(circuit: Circuit, now: datetime = NOW) -> Circuit:
    permit, circuit = admit(circuit, now)
    assert permit.granted
    return succeeded(circuit, permit)


def opened() -> Circuit:
    return fail(Circuit(), *[TRANSIENT] * 5)


def test_four_transient_failures_leave_it_closed_and_the_fifth_opens_it_for_thirty_seconds() -> None:
    assert admit(fail(Circuit(), *[TRANSIENT] * 4), NOW)[0].verdict == "go"
    assert opened().open_until == NOW + timedelta(seconds=30)
    assert admit(opened(), NOW + 30 * SECOND - timedelta(microseconds=1))[0].verdict == "wait"


def test_a_success_ends_the_row() -> None:
    circuit = succeed(fail(Circuit(), *[TRANSIENT] * 4))
    assert admit(fail(circuit, *[TRANSIENT] * 4), NOW)[0].verdict == "go"


def test_half_open_lets_one_probe_through() -> None:
    due = NOW + 30 * SECOND
    circuit, verdicts = opened(), []
    for _ in range(20):
        permit, circuit = admit(circuit, due)
        verdicts.append(permit.verdict)
    assert verdicts == ["probe"] + ["wait"] * 19


def test_a_probe_that_never_reports_makes_room_for_another() -> None:
    due = NOW + 30 * SECOND
    _, circuit = admit(opened(), due)
    assert admit(circuit, due + PROBE_LEASE - SECOND)[0].verdict == "wait"
    assert admit(circuit, due + PROBE_LEASE)[0].verdict == "probe"


def test_a_probe_that_succeeds_closes_it_and_forgets() -> None:
    circuit = succeed(opened(), NOW + 30 * SECOND)
    assert admit(circuit, NOW + 30 * SECOND)[0].verdict == "go"
    assert fail(circuit, *[TRANSIENT] * 5, now=NOW).open_until == NOW + FIRST_PAUSE


def test_each_probe_that_fails_doubles_the_pause_up_to_fifteen_minutes() -> None:
    circuit, now, pauses = opened(), NOW, []
    for _ in range(8):
        assert circuit.open_until is not None
        pauses.append((circuit.open_until - now).total_seconds())
        now = circuit.open_until
        circuit = fail(circuit, TRANSIENT, now=now)
    assert pauses == [30, 60, 120, 240, 480, 900, 900, 900]


@pytest.mark.parametrize("kinds", [[CONFIGURATION] * 3, [CONTRACT] * 3, [CONTRACT, CONFIGURATION, CONTRACT]])
def test_three_configuration_or_contract_failures_in_a_row_stop_it_for_good(kinds: list[FailureClass]) -> None:
    assert not fail(Circuit(), *kinds[:2]).stopped
    circuit = fail(Circuit(), *kinds)
    assert circuit.stopped
    assert admit(circuit, NOW + timedelta(days=365))[0].verdict == "stopped"


def test_a_success_between_them_keeps_it_running() -> None:
    circuit = succeed(fail(Circuit(), CONFIGURATION, CONTRACT))
    assert not fail(circuit, CONFIGURATION, CONTRACT).stopped


def test_a_failure_of_the_other_class_does_not_end_a_row() -> None:
    assert fail(Circuit(), CONTRACT, TRANSIENT, CONTRACT, TRANSIENT, CONTRACT).stopped


def test_transient_failures_never_stop_it() -> None:
    circuit, now = Circuit(), NOW
    for _ in range(50):
        now = max(now, circuit.open_until or now)
        circuit = fail(circuit, TRANSIENT, now=now)
    assert not circuit.stopped


def test_a_wait_that_was_asked_for_is_kept_and_counts_towards_no_stop() -> None:
    circuit = fail(Circuit(), TRANSIENT, retry_after=120 * SECOND)
    assert admit(circuit, NOW + 119 * SECOND)[0].verdict == "wait"
    assert admit(circuit, NOW + 120 * SECOND)[0].verdict == "probe"
    assert (circuit.hard_failures, circuit.pauses) == (0, 0)


def test_a_wait_that_was_asked_for_does_not_shorten_a_pause() -> None:
    circuit = fail(Circuit(), *[TRANSIENT] * 4)
    assert fail(circuit, TRANSIENT, retry_after=SECOND).open_until == NOW + FIRST_PAUSE
    assert fail(circuit, TRANSIENT, retry_after=3600 * SECOND).open_until == NOW + timedelta(hours=1)


def test_a_wait_of_nothing_is_none() -> None:
    assert admit(fail(Circuit(), TRANSIENT, retry_after=timedelta(0)), NOW)[0].verdict == "go"


def test_what_was_in_flight_when_it_opened_says_nothing_afterwards() -> None:
    permit, _ = admit(Circuit(), NOW)
    circuit = opened()
    assert failed(circuit, permit, TRANSIENT, NOW + SECOND) == circuit
    assert succeeded(circuit, permit) == circuit


def test_a_hundred_failures_in_flight_open_it_once() -> None:
    circuit = Circuit()
    permits = [admit(circuit, NOW)[0] for _ in range(100)]
    for permit in permits:
        circuit = failed(circuit, permit, TRANSIENT, NOW)
    assert (circuit.pauses, circuit.open_until) == (1, NOW + FIRST_PAUSE)


def test_a_success_that_was_admitted_before_a_stop_does_not_lift_it() -> None:
    permit, circuit = admit(Circuit(), NOW)
    assert succeeded(fail(circuit, *[CONTRACT] * 3), permit).stopped


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([None, *FailureClass]), st.integers(0, 1000), st.integers(0, 7200)), max_size=40)
)
def test_it_is_never_open_longer_than_its_longest_pause_or_what_was_asked_for(
    steps: list[tuple[FailureClass | None, int, int]],
) -> None:
    circuit, now, longest = Circuit(), NOW, LONGEST_PAUSE
    for failure, seconds, retry_after in steps:
        now += timedelta(seconds=seconds)
        permit, circuit = admit(circuit, now)
        assert permit.granted == (permit.verdict in ("go", "probe"))
        if not permit.granted:
            continue
        before = circuit.epoch
        if failure is None:
            circuit = succeeded(circuit, permit)
            assert circuit == Circuit(epoch=circuit.epoch)
        else:
            asked = timedelta(seconds=retry_after) if failure is TRANSIENT else None
            circuit = failed(circuit, permit, failure, now, asked)
            longest = max(longest, asked or longest)
        assert circuit.epoch >= before
        assert circuit.open_until is None or circuit.open_until - now <= longest


def test_the_pause_has_no_overflow() -> None:
    assert pause(10**6) == LONGEST_PAUSE


def test_waits_that_were_asked_for_do_not_grow_and_are_no_probes_that_failed() -> None:
    circuit = Circuit()
    for number in range(1, 5):
        circuit = fail(circuit, TRANSIENT, now=circuit.open_until or NOW, retry_after=5 * SECOND)
        assert (circuit.transient_failures, circuit.pauses) == (number, 0)
        assert circuit.open_until == NOW + number * 5 * SECOND


def test_what_fails_behind_such_a_wait_is_one_failure_more_in_the_row() -> None:
    circuit = fail(Circuit(), TRANSIENT, retry_after=5 * SECOND)
    circuit = fail(circuit, TRANSIENT, now=NOW + 5 * SECOND)
    assert (circuit.transient_failures, circuit.pauses, circuit.open_until) == (2, 0, None)
    circuit = fail(circuit, TRANSIENT, TRANSIENT, TRANSIENT, now=NOW + 6 * SECOND)
    assert (circuit.pauses, circuit.open_until) == (1, NOW + 6 * SECOND + FIRST_PAUSE)


def test_a_lane_that_is_let_alone_counts_nothing_and_is_asked_by_one_first() -> None:
    counting = fail(Circuit(), TRANSIENT, TRANSIENT)
    waiting = let_alone(counting, NOW + 5 * SECOND)
    assert (waiting.transient_failures, waiting.pauses, waiting.open_until) == (2, 0, NOW + 5 * SECOND)
    assert admit(waiting, NOW)[0].verdict == "wait"
    assert succeeded(waiting, Permit("go", counting.epoch)) == waiting, "it was sent before"
    permit, probed = admit(waiting, NOW + 5 * SECOND)
    assert permit.verdict == "probe"
    assert succeeded(probed, permit).open_until is None


def test_a_lane_that_waits_longer_or_is_stopped_stays_so() -> None:
    waiting = let_alone(Circuit(), NOW + 5 * SECOND)
    assert let_alone(waiting, NOW + 4 * SECOND) == waiting
    stopped = fail(Circuit(), CONTRACT, CONTRACT, CONTRACT)
    assert let_alone(stopped, NOW + 5 * SECOND) == stopped
