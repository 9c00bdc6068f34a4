"""The simulated night keeps the dispatcher's rules, whatever the numbers."""

from __future__ import annotations

import pytest

from bench.night import Wish, main, report, simulate

SMALL = Wish(tenants=40, sources=700, caps="30,200", workers=4, service_seconds=90, in_flight=60)


def test_every_event_under_a_cap_is_done_or_left() -> None:
    result = simulate(SMALL)
    offered = len(result.service) + result.late
    assert result.due == 40 * 100
    assert 40 * 30 <= offered <= 40 * 100
    assert result.late


def test_no_limit_is_overrun() -> None:
    result = simulate(SMALL)
    assert result.peak_running == SMALL.workers
    assert result.peak_waiting <= SMALL.in_flight
    assert result.peak_a_minute <= SMALL.in_flight


def test_nothing_is_dispatched_before_its_night_or_after_it() -> None:
    result = simulate(SMALL)
    assert min(result.lags) >= 0
    assert max(result.lags) <= 8 * 3600


def test_with_room_for_all_nobody_waits_longer_than_a_tick_for_each_k() -> None:
    result = simulate(Wish(tenants=20, sources=700, caps="100", per_tenant=25, workers=2000, in_flight=10_000))
    assert result.late == 0
    assert max(result.lags) <= 4 * 60
    assert set(result.waits) == {0.0}


def test_a_second_run_with_the_same_seed_says_the_same() -> None:
    assert report(SMALL, simulate(SMALL)) == report(SMALL, simulate(SMALL))


def test_the_command_takes_every_wish(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--tenants", "3", "--zones", "Pacific/Apia", "--windows", "23:00-01:00", "--caps", "7", "--workers", "9"])
    printed = capsys.readouterr().out
    assert "3 tenants" in printed
    assert "9 workers" in printed
    assert "for 1000 sources" in printed
