"""Any sequence of refreshes and crashes: every past instant reads back exactly what was current."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.fetching.errors import Reason
from chalicelib.services import scheduling
from chalicelib.workers import refresh as worker
from tests.integration import rows
from tests.integration.cycle import Cycle, DyingDatabase, killed, missed
from tests.integration.test_refresh import LONG, URL
from tests.postgres import TestServer
from tests.tenants import Deployment, deployed

DAY = rows.instant("2026-11-29T12:00:00")
TEXTS = [
    LONG,
    LONG.replace("pump", "valve"),
    LONG.replace("number 3", "number three"),
    "\n".join(reversed(LONG.split("\n"))),
]

steps = st.lists(
    st.one_of(
        st.tuples(st.just("text"), st.integers(0, len(TEXTS) - 1)),
        st.tuples(st.just("crash"), st.integers(1, 16)),
        st.tuples(st.just("fail"), st.just(0)),
        st.tuples(st.just("clock back"), st.integers(1, 90)),
    ),
    min_size=1,
    max_size=8,
)


@pytest.fixture(scope="module")
def emptied(server: TestServer) -> Iterator[Deployment]:
    """The database of all examples, each of which empties it first."""
    with deployed(server) as deployment:
        yield deployment


@given(steps=steps)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_past_instant_reads_back_what_was_current(emptied: Deployment, steps: list[tuple[str, int]]) -> None:
    deployment = emptied
    rows.empty(deployment)
    cycle = Cycle(deployment, DAY)
    acme = deployment.tenant()
    source = rows.add(deployment, acme, URL, cycle.now)
    latest = cycle.now
    seen: dict[Any, str | None] = {}
    for what, number in steps:
        play(cycle, acme, source, what, number)
        latest = max(latest, cycle.now)
        versions = cycle.versions(source)
        if versions:  # what is current now, at the instant from which it is
            text = cycle.text(acme, source, versions[-1]["system_time"].lower)
            seen.setdefault(versions[-1]["system_time"].lower, text)
        cycle.now = max(latest, cycle.now)
        cycle.later(hours=1)
    for instant, text in seen.items():
        assert cycle.text(acme, source, instant) == text
    assert_ranges_are_whole(cycle, source)


def play(cycle: Cycle, acme: Any, source: Any, what: str, number: int) -> None:
    deployment = cycle.deployment
    if what == "text":
        cycle.web.page(URL, TEXTS[number])
        assert cycle.refresh(acme, source) in ("new_version", "unchanged")
        assert cycle.text(acme, source, cycle.now + timedelta(days=1)) == TEXTS[number]
    elif what == "clock back":
        cycle.later(minutes=-number)
        cycle.web.page(URL, TEXTS[number % len(TEXTS)])
        cycle.refresh(acme, source)
    elif what == "fail":
        cycle.web.fails(URL, Reason.ADDRESS)
        assert cycle.refresh(acme, source) == "refused"
    else:
        cycle.web.page(URL, TEXTS[number % len(TEXTS)])
        rows.queue(deployment, acme, source, "now", cycle.now)
        scheduling.tick(deployment.worker, now=cycle.now)
        dying = DyingDatabase(deployment.server.url(deployment.database_name, "larder_worker"), number, after=False)
        for message in [deployment.queue.messages.pop()] if deployment.queue.messages else []:
            outside = replace(cycle.outside, database=dying)
            killed(lambda: worker.run(outside, message.event_id, clock=lambda: cycle.now))  # noqa: B023
        missed(deployment)
        for _ in range(3):
            cycle.later(minutes=16)
            cycle.deliver()
        assert cycle.text(acme, source, cycle.now + timedelta(days=1)) == TEXTS[number % len(TEXTS)]


def assert_ranges_are_whole(cycle: Cycle, source: Any) -> None:
    ranges = [version["system_time"] for version in cycle.versions(source)]
    for earlier, later in pairwise(ranges):
        assert earlier.upper == later.lower
    assert [one for one in ranges if one.upper is None] == ranges[-1:]


def test_overlapping_versions_are_refused_by_the_database_itself(deployment: Deployment) -> None:
    cycle = Cycle(deployment, DAY)
    acme = deployment.tenant()
    source = rows.add(deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)
    cycle.refresh(acme, source)
    with pytest.raises(psycopg.errors.ExclusionViolation):
        rows.sql(
            deployment,
            "insert into kb_versions select "
            "(jsonb_populate_record(v, jsonb_build_object('version', 2, 'event_id', null))).* from kb_versions v",
        )
