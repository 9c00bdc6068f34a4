"""What works at the same time on the same rows takes them in one order, or doesn't wait: nobody is ever a victim."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, time, timedelta
from time import sleep
from typing import Any

import psycopg
import pytest

from chalicelib.services import bulk_approval, embeddings, scheduling, sources, suggestions, tenant_settings
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import sources as stored_sources
from chalicelib.storage import suggestions as stored_suggestions
from tests.integration import rows
from tests.tenants import Deployment

DAY = rows.instant("2026-11-29T12:00:00")


class Crew:
    """Those who work at the same time, each with a connection of its own that it keeps."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._at: dict[tuple[int, str], Outside] = {}

    def at_once(self, *jobs: tuple[str, Callable[[Outside], Any]]) -> None:
        """Run each job as the role that it names, all starting together; faults are raised."""
        start, faults = threading.Barrier(len(jobs)), []

        def run(outside: Outside, job: Callable[[Outside], Any]) -> None:
            try:
                with outside.database.transaction():
                    pass
                start.wait()
                job(outside)
            except Exception as fault:
                faults.append(fault)

        threads = [
            threading.Thread(target=run, args=(self._one(place, role), job)) for place, (role, job) in enumerate(jobs)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise faults[0]

    def _one(self, place: int, role: str) -> Outside:
        if (place, role) not in self._at:
            self._at[place, role] = self._deployment.build(role)
        return self._at[place, role]

    def close(self) -> None:
        for one in self._at.values():
            one.database.close()


@pytest.fixture
def crew(deployment: Deployment) -> Iterator[Crew]:
    crew = Crew(deployment)
    yield crew
    crew.close()


def test_workers_with_the_same_texts_in_another_order(crew: Crew) -> None:
    texts = [f"A paragraph that many pages share, number {number}." for number in range(64)]

    def embed(seed: int) -> Callable[[Outside], None]:
        def run(outside: Outside) -> None:
            draw = random.Random(seed)
            for _ in range(15):
                embeddings.embed(outside, draw.sample(texts, len(texts)), DAY)
                with outside.database.transaction() as tx:
                    tx.run("embeddings.evict", rows=20)

        return run

    crew.at_once(*(("larder_worker", embed(seed)) for seed in range(6)))


def test_a_list_of_suggestions_beside_a_batch_of_updates(deployment: Deployment, crew: Crew) -> None:
    acme = deployment.tenant()
    who = rows.principal(acme)
    added = rows.add_many(deployment, acme, 60, DAY)
    wanted = [sources.Wanted(source.uri, name="again") for source in random.Random(3).sample(added, len(added))]
    for _ in range(15):
        rows.sql(deployment, "delete from kb_suggestions")
        crew.at_once(
            ("larder_app", lambda outside: suggestions.list_page(outside, who, after=None, limit=100, now=DAY)),
            ("larder_app", lambda outside: sources.upsert_many(outside, who, wanted, DAY)),
        )


def list_all(outside: Outside, who: Principal) -> object:
    return suggestions.list_page(outside, who, after=None, limit=100, now=DAY)


def approve_all(outside: Outside, who: Principal) -> object:
    return bulk_approval.approve_many(outside, who, None, correlation_id=None, now=DAY)


@pytest.mark.parametrize("ask", [list_all, approve_all])
def test_who_asks_for_suggestions_waits_for_a_worker_that_has_the_source_and_not_the_other_way_round(
    deployment: Deployment, ask: Callable[[Outside, Principal], object]
) -> None:
    acme = deployment.tenant()
    who = rows.principal(acme)
    source = rows.add(deployment, acme, "http://acme.example.com/", DAY)
    (question,) = suggestions.list_page(deployment.outside, who, after=None, limit=9, now=DAY - timedelta(days=2))
    suggestions.snooze(deployment.outside, who, question.id, 1, DAY - timedelta(days=2))
    with (
        psycopg.connect(deployment.server.url(deployment.database_name, "postgres")) as worker,
        ThreadPoolExecutor(1) as pool,
    ):
        worker.execute("select from kb_sources where id = %s for no key update", (source.id,))
        asking = pool.submit(ask, deployment.outside, who)
        wait_until_blocked(deployment)
        worker.execute("update kb_suggestions set state = 'closed' where source_id = %s", (source.id,))
        worker.commit()
        asking.result(timeout=30)


def wait_until_blocked(deployment: Deployment) -> None:
    """Until somebody waits for a lock."""
    for _ in range(300):
        if rows.sql(deployment, "select pid from pg_locks where not granted"):
            return
        sleep(0.02)
    raise AssertionError("nobody waits")


def test_all_suggestions_approved_beside_lists_updates_and_work(deployment: Deployment, crew: Crew) -> None:
    acme = deployment.tenant()
    who = rows.principal(acme)
    added = rows.add_many(deployment, acme, 60, DAY)
    wanted = [sources.Wanted(source.uri, name="again") for source in random.Random(5).sample(added, len(added))]
    fault = "a fault that is told"

    def work(outside: Outside) -> None:
        for source in random.Random(7).sample(added, len(added)):
            with outside.database.transaction(acme.id) as tx:
                stored_sources.get(tx, source.id, lock=True)
                stored_sources.record_attempt(tx, source.id, "internal_error", fault, now=DAY)
                stored_suggestions.tell_failure(tx, source.id, "internal_error")

    for _ in range(10):
        rows.sql(deployment, "delete from kb_suggestions; delete from kb_events")
        list_all(deployment.outside, who)
        rows.sql(deployment, "update kb_suggestions set state = 'snoozed', snoozed_until = %s", DAY)
        crew.at_once(
            ("larder_app", lambda outside: list_all(outside, who)),
            ("larder_app", lambda outside: list_all(outside, who)),
            ("larder_app", lambda outside: approve_all(outside, who)),
            ("larder_app", lambda outside: sources.upsert_many(outside, who, wanted, DAY)),
            ("larder_worker", work),
        )


QUEUED_AGAIN = """
insert into kb_events (tenant_id, source_id, night, available_at, approved_at, source_generation, created_at)
select tenant_id, source_id, night, available_at + %s, approved_at + %s, source_generation, created_at + %s from queued
"""
"""As it was queued in the first night, for another."""


def test_a_tick_beside_a_change_of_the_window(deployment: Deployment, crew: Crew) -> None:
    acme = deployment.tenant()
    who = rows.principal(acme)
    added = rows.add_many(deployment, acme, 60, DAY)

    def change(now: datetime) -> Callable[[Outside], Any]:
        return lambda outside: tenant_settings.update(
            outside, who, tenant_settings.Changes(night_start=time(2), night_end=time(3)), now
        )

    rows.set_window(deployment, acme, "22:00", "06:00", cap=1000)
    for source in added:
        rows.queue(deployment, acme, source, "night", DAY)
    rows.sql(deployment, "create table queued as table kb_events")
    for night in range(12):
        rows.sql(deployment, "delete from kb_events")
        rows.set_window(deployment, acme, "22:00", "06:00", cap=1000)
        rows.sql(deployment, QUEUED_AGAIN, *[timedelta(days=night)] * 3)
        assert len(rows.sql(deployment, "select id from kb_events where state = 'pending'")) == len(added)
        late = DAY + timedelta(days=night, hours=11)
        crew.at_once(
            ("larder_app", change(late)),
            ("larder_worker", lambda outside, late=late: scheduling.tick(outside, now=late)),  # type: ignore[misc]
        )
