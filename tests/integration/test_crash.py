"""Killed at every step of a refresh by SIGKILL, and delivered many times over: one version, no lost event."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.services import scheduling
from chalicelib.storage.connection import Database
from chalicelib.workers import refresh as worker
from tests.integration import rows
from tests.integration.cycle import Cycle, DyingDatabase, die, killed, missed
from tests.integration.test_refresh import LONG, URL
from tests.tenants import Deployment

DAY = rows.instant("2026-11-29T12:00:00")
NEW = LONG.replace("pump number 7", "valve number 7")


@pytest.fixture
def cycle(deployment: Deployment) -> Cycle:
    return Cycle(deployment, DAY)


def prepared(cycle: Cycle) -> Any:
    """A source with one version, a new text on the web, and an event that was sent."""
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)
    cycle.refresh(acme, source)
    cycle.later(hours=1)
    cycle.web.page(URL, NEW)
    rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    scheduling.tick(cycle.deployment.worker, now=cycle.now)
    return acme, source


def recover(cycle: Cycle) -> None:
    """What happens after a crash: the lease runs out, the tick sweeps, the message comes again."""
    for _ in range(3):
        cycle.later(minutes=16)
        cycle.deliver()


def check(cycle: Cycle, acme: Any, source: Any, crashed_at: str) -> None:
    assert len(cycle.versions(source)) == 2, crashed_at
    assert cycle.text(acme, source) == NEW, crashed_at
    assert cycle.text(acme, source, DAY + timedelta(minutes=1)) == LONG, crashed_at
    assert cycle.open_event(source) is None, crashed_at
    states = rows.sql(
        cycle.deployment, "select state, outcome from kb_events where source_id = %s order by created_at", source.id
    )
    assert states == [{"state": "done", "outcome": "new_version"}] * 2, crashed_at


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_every_statement_of_a_refresh(server: Any, after: bool) -> None:
    """The n-th statement of the worker is its last, for every n, until one run needs fewer statements than n."""
    deployment = Deployment(server, server.create())
    at = 0
    alive = False
    while not alive:
        at += 1
        cycle = Cycle(deployment, DAY)
        acme, source = prepared(cycle)
        message = deployment.queue.messages.pop()
        dying = replace(
            cycle.outside,
            database=DyingDatabase(server.url(deployment.database_name, "larder_worker"), at, after=after),
        )
        alive = not killed(lambda: worker.run(dying, message.event_id, clock=lambda: cycle.now))  # noqa: B023
        missed(deployment)
        recover(cycle)
        check(cycle, acme, source, f"{'after' if after else 'before'} statement {at}")
        rows.empty(deployment)
    deployment.close()
    server.drop(deployment.database_name)
    assert at > 10, "a refresh has more steps than that"


def test_killed_while_it_fetches_and_while_it_embeds(cycle: Cycle) -> None:
    acme, source = prepared(cycle)

    class Dying:
        model_id, dimension = "test-words", 384

        def embed(self, texts: Any) -> Any:
            die()

        def fits(self, text: str) -> bool:
            return True

    def dying_fetch(*args: Any, **kwargs: Any) -> Any:
        die()

    url = cycle.deployment.server.url(cycle.deployment.database_name, "larder_worker")
    for broken in ({"fetch": dying_fetch}, {"embedder": Dying()}):
        message = cycle.deployment.queue.messages.pop()
        outside = replace(cycle.outside, database=Database(url), **broken)  # type: ignore[arg-type]
        assert killed(lambda: worker.run(outside, message.event_id, clock=lambda: cycle.now))  # noqa: B023
        cycle.later(minutes=16)
        scheduling.tick(cycle.deployment.worker, now=cycle.now)
    recover(cycle)
    check(cycle, acme, source, "fetch and embed")


def test_four_workers_and_duplicate_deliveries_write_one_version_a_source(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    sources = rows.add_many(cycle.deployment, acme, 12, cycle.now)
    for source in sources:
        cycle.web.page(source.uri, LONG + f"\nPage {source.uri}")
        rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    scheduling.tick(cycle.deployment.worker, now=cycle.now)
    messages = [message.event_id for message in cycle.deployment.queue.messages] * 4

    def deliver(share: list[Any]) -> None:
        outside = replace(
            cycle.outside,
            database=Database(cycle.deployment.server.url(cycle.deployment.database_name, "larder_worker")),
        )
        for event_id in share:
            worker.run(outside, event_id, clock=lambda: cycle.now)

    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=deliver, args=(messages[start::4],)) for start in range(4)]
    for process in workers:
        process.start()
    for process in workers:
        process.join()
    assert [process.exitcode for process in workers] == [0] * 4
    assert rows.sql(cycle.deployment, "select count(*) as n from kb_versions") == [{"n": 12}]
    assert rows.sql(cycle.deployment, "select distinct state, outcome from kb_events") == [
        {"state": "done", "outcome": "new_version"}
    ]


def test_a_worker_that_lost_its_lease_writes_nothing(cycle: Cycle) -> None:
    """The older job finishes after the newer one: its text is discarded."""
    acme, source = prepared(cycle)
    slow_message = cycle.deployment.queue.messages.pop()

    def slow_fetch(url: str, **more: Any) -> Any:
        old_page = cycle.web(url, validators=None, no_cache=True)
        cycle.later(minutes=16)
        cycle.web.page(URL, NEW + "\nNewer still.")
        assert cycle.deliver() == "new_version"
        return old_page

    url = cycle.deployment.server.url(cycle.deployment.database_name, "larder_worker")
    outside = replace(cycle.outside, fetch=slow_fetch, database=Database(url))
    assert worker.run(outside, slow_message.event_id, clock=lambda: cycle.now) == "lost_lease"
    assert cycle.text(acme, source) == NEW + "\nNewer still."
    assert len(cycle.versions(source)) == 2
