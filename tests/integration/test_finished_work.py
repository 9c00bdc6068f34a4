"""Finished work goes after a while, in small parts, fairly; what something still tells of or depends on stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from chalicelib import bootstrap
from chalicelib.services import enforcement, finished_work, history, scheduling, suggestions
from chalicelib.services.finished_work import Dropped
from chalicelib.storage.sources import Source
from tests.integration import rows
from tests.integration.cycle import Cycle
from tests.postgres import TestServer
from tests.tenants import Deployment, Tenant, deployed

NOW = rows.instant("2026-11-29T12:00:00")
KEPT = timedelta(days=90)
OLD = NOW - KEPT - timedelta(seconds=1)
URL = "http://a.example.com/"


@pytest.fixture(scope="module")
def furnished(server: TestServer) -> Iterator[Deployment]:
    """The database of all tests of this file."""
    with deployed(server) as deployment:
        yield deployment


@pytest.fixture
def deployment(furnished: Deployment) -> Deployment:
    rows.empty(furnished)
    return furnished


def finished(deployment: Deployment, source: Source, at: datetime, state: str = "done", **more: Any) -> UUID:
    """An event of the source that ended at ``at``; its id."""
    values = {
        "tenant_id": source.tenant_id, "source_id": source.id, "state": state, "night": True, "available_at": at,
        "approved_at": at, "source_generation": 1, "created_at": at, "finished_at": at, **more,
    }  # fmt: skip
    return insert(deployment, "kb_events", values)


def answered(deployment: Deployment, source: Source, at: datetime, state: str, kind: str, **more: Any) -> UUID:
    """A suggestion of the source that was answered at ``at``; its id."""
    values = {
        "tenant_id": source.tenant_id, "source_id": source.id, "kind": kind, "state": state, "reason": "ttl_expired",
        "created_at": at - timedelta(days=1), "decided_at": at, **more,
    }  # fmt: skip
    return insert(deployment, "kb_suggestions", values)


def insert(deployment: Deployment, table: str, values: dict[str, Any]) -> UUID:
    columns, places = ", ".join(values), ", ".join(["%s"] * len(values))
    statement = f"insert into {table} ({columns}) values ({places}) returning id"
    return UUID(str(rows.sql(deployment, statement, *values.values())[0]["id"]))


def left(deployment: Deployment, table: str = "kb_events") -> set[UUID]:
    return {row["id"] for row in rows.sql(deployment, f"select id from {table}")}


def drop(deployment: Deployment, now: datetime = NOW) -> Dropped:
    return finished_work.drop(deployment.worker, now=now)


@pytest.fixture(autouse=True)
def ticked(deployment: Deployment) -> None:
    """The place of the walk is kept beside the time of the last tick."""
    with deployment.worker.database.transaction() as tx:
        tx.run("scheduler.ticked", now=OLD)


@pytest.fixture
def acme(deployment: Deployment) -> Tenant:
    return deployment.tenant("acme", plan="scale")


@pytest.fixture
def source(deployment: Deployment, acme: Tenant) -> Source:
    return rows.add(deployment, acme, URL, NOW)


@pytest.mark.parametrize("state", ["done", "failed", "skipped", "cancelled"])
def test_a_finished_event_goes_after_its_days_and_not_before(
    deployment: Deployment, source: Source, state: str
) -> None:
    old = finished(deployment, source, OLD, state)
    kept = finished(deployment, source, NOW - KEPT, state)
    newest = finished(deployment, source, NOW, state)
    assert drop(deployment) == Dropped(events=1)
    assert left(deployment) == {kept, newest}
    assert old not in left(deployment)


def test_the_days_are_a_setting(deployment: Deployment, source: Source) -> None:
    shorter = replace(deployment.worker, settings=replace(deployment.worker.settings, work_kept_days=7))
    finished(deployment, source, NOW - timedelta(days=8))
    newest = finished(deployment, source, NOW)
    assert finished_work.drop(shorter, now=NOW) == Dropped(events=1)
    assert left(deployment) == {newest}


def test_a_sources_last_finished_event_stays_however_old(deployment: Deployment, source: Source) -> None:
    finished(deployment, source, OLD - timedelta(days=2000))
    twins = sorted(finished(deployment, source, OLD - timedelta(days=1000)) for _ in range(2))
    assert drop(deployment) == Dropped(events=2)
    assert left(deployment) == {twins[1]}


@pytest.mark.parametrize("state", ["pending", "dispatched", "running"])
def test_work_that_is_not_finished_stays_however_old(deployment: Deployment, source: Source, state: str) -> None:
    waiting = finished(deployment, source, OLD, state, finished_at=None)
    newest = finished(deployment, source, NOW)
    assert drop(deployment) == Dropped()
    assert left(deployment) == {waiting, newest}


def test_an_event_that_wrote_a_version_stays_with_it_and_history_reads_as_before(deployment: Deployment) -> None:
    cycle = Cycle(deployment, OLD - timedelta(days=30))
    acme = deployment.tenant()
    source = rows.add(deployment, acme, URL, cycle.now)
    for text in ("Plums keep for a year.", "Plums keep for two years."):
        cycle.web.page(URL, text)
        assert cycle.refresh(acme, source) == "new_version"
        cycle.later(days=1)
    for _ in range(3):
        assert cycle.refresh(acme, source) == "unchanged"
        cycle.later(days=1)
    who, before = rows.principal(acme), cycle.versions(source)
    reading = enforcement.reading(deployment.outside, who, role=None, purpose=None, trace_id="test")

    def listed() -> Any:
        return history.list_page(deployment.outside, who, reading, source.id, before=None, limit=10, now=NOW)

    told = listed()
    assert drop(deployment) == Dropped(events=2)
    assert {version["event_id"] for version in before} < left(deployment)
    assert len(left(deployment)) == 3, "two that wrote, and the last"
    assert cycle.versions(source) == before
    assert listed() == told
    assert cycle.text(acme, source, before[0]["system_time"].lower) == "Plums keep for a year."
    assert cycle.text(acme, source) == "Plums keep for two years."


def test_an_event_stays_while_a_suggestion_tells_of_it(deployment: Deployment, source: Source) -> None:
    told = finished(deployment, source, OLD)
    newest = finished(deployment, source, NOW)
    asked = answered(deployment, source, NOW - KEPT, "closed", "refresh", event_id=told)
    assert drop(deployment) == Dropped()
    assert drop(deployment, NOW + timedelta(days=1)) == Dropped(events=1, suggestions=1)
    assert (left(deployment), left(deployment, "kb_suggestions")) == ({newest}, set())
    assert asked not in left(deployment, "kb_suggestions")


@pytest.mark.parametrize("kind", ["refresh", "review_change", "change_uri", "merge", "gone"])
@pytest.mark.parametrize("state", ["open", "snoozed", "approved", "closed"])
def test_of_suggestions_the_closed_go(deployment: Deployment, source: Source, state: str, kind: str) -> None:
    suggestion = answered(deployment, source, OLD, state, kind)
    recent = answered(deployment, source, NOW - KEPT, "closed", kind)
    assert drop(deployment) == Dropped(suggestions=int(state == "closed"))
    assert left(deployment, "kb_suggestions") == ({recent} if state == "closed" else {recent, suggestion})


@pytest.mark.parametrize(
    ("kind", "goes"), [("review_change", True), ("gone", True), ("change_uri", False), ("merge", False)]
)
def test_a_no_to_an_address_is_remembered_for_ever(
    deployment: Deployment, source: Source, kind: str, goes: bool
) -> None:
    answered(deployment, source, OLD, "dismissed", kind)
    assert drop(deployment, NOW + timedelta(days=3650)) == Dropped(suggestions=int(goes))


def test_a_no_to_a_refresh_counts_for_its_ttl_and_stays_as_long(deployment: Deployment, acme: Tenant) -> None:
    cycle = Cycle(deployment, OLD - timedelta(days=400))
    source = rows.add(deployment, acme, URL, cycle.now, refresh_ttl_seconds=31_536_000)
    cycle.web.page(URL, "Plums keep for a year.")
    cycle.refresh(acme, source)
    who, stale = rows.principal(acme), cycle.now + timedelta(days=366)
    (asked,) = suggestions.list_page(deployment.outside, who, after=None, limit=10, now=stale)
    suggestions.dismiss(deployment.outside, who, asked.id, stale)
    later = stale + timedelta(days=300)
    assert drop(deployment, later) == Dropped()
    assert suggestions.list_page(deployment.outside, who, after=None, limit=10, now=later) == []
    over = stale + timedelta(days=365, seconds=1)
    (again,) = suggestions.list_page(deployment.outside, who, after=None, limit=10, now=over)
    assert again.id != asked.id
    assert drop(deployment, over) == Dropped(suggestions=1)


def test_a_text_that_was_held_goes_once_nobody_will_need_it(deployment: Deployment, source: Source) -> None:
    values = {
        "tenant_id": source.tenant_id, "source_id": source.id, "reason": "shrunk", "text": "Plums.", "final_url": URL,
        "extractor_version": 1, "secret_rules_version": 1, "fetched_at": OLD,
    }  # fmt: skip
    asked_about, published, recent, forsaken = (
        insert(deployment, "kb_held_texts", values | {"fetched_at": at}) for at in (OLD, OLD, NOW, OLD)
    )
    answered(deployment, source, OLD, "open", "review_change", held_text_id=asked_about)
    finished(deployment, source, OLD, "pending", finished_at=None, held_text_id=published)
    done = finished(deployment, source, NOW, held_text_id=forsaken)
    assert drop(deployment) == Dropped(held_texts=1)
    assert left(deployment, "kb_held_texts") == {asked_about, published, recent}
    assert rows.event(deployment, done)["held_text_id"] is None


def test_a_tick_looks_at_so_many_sources_and_the_next_goes_on_from_there(
    deployment: Deployment, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finished_work, "SOURCES_A_BATCH", 2)
    monkeypatch.setattr(finished_work, "BATCHES_A_TICK", 2)
    globex = deployment.tenant("globex", plan="scale")
    for tenant in (acme, globex):
        for source in rows.add_many(deployment, tenant, 5, NOW):
            finished(deployment, source, OLD)
            finished(deployment, source, NOW)
    assert [drop(deployment).events for _ in range(4)] == [4, 4, 2, 0]
    assert len(left(deployment)) == 10


def test_a_round_begins_once_a_day(deployment: Deployment, source: Source) -> None:
    def leave() -> None:
        finished(deployment, source, OLD)
        finished(deployment, source, NOW)

    leave()
    assert drop(deployment) == Dropped(events=1)
    leave()
    assert drop(deployment, NOW + timedelta(hours=11)) == Dropped()
    assert drop(deployment, NOW + timedelta(hours=12)).events >= 1


def test_a_backlog_goes_in_bounded_parts(deployment: Deployment, acme: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finished_work, "SOURCES_A_BATCH", 1)
    monkeypatch.setattr(finished_work, "ROWS_A_SOURCE", 3)
    monkeypatch.setattr(finished_work, "ENOUGH_ROWS", 4)
    for source in rows.add_many(deployment, acme, 3, NOW):
        for day in range(5):
            finished(deployment, source, OLD - timedelta(days=day))
    assert [drop(deployment, NOW + timedelta(days=day)).events for day in range(4)] == [6, 4, 2, 0]
    assert len(left(deployment)) == 3


def test_two_ticks_at_once_do_not_do_it_twice(deployment: Deployment, source: Source) -> None:
    finished(deployment, source, OLD)
    finished(deployment, source, NOW)
    with deployment.worker.database.transaction() as tx:
        assert tx.row("finished_work.take_place", today=NOW.date())
        assert finished_work.drop(deployment.build("larder_worker"), now=NOW) == Dropped()
    assert drop(deployment) == Dropped(events=1)


def test_the_tick_does_it_and_says_how_much(deployment: Deployment, source: Source) -> None:
    finished(deployment, source, OLD)
    newest = finished(deployment, source, NOW)
    assert scheduling.tick(deployment.worker, now=NOW).dropped == Dropped(events=1)
    assert left(deployment) == {newest}


def test_what_is_gone_is_gone_from_the_routes_too(
    deployment: Deployment, acme: Tenant, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "outside", lambda: deployment.outside)
    old, newest = finished(deployment, source, OLD), finished(deployment, source, NOW)
    suggestion = answered(deployment, source, OLD, "closed", "refresh")
    assert acme.post(f"/v1/kb/events/{old}/cancel").status == 409
    assert drop(deployment) == Dropped(events=1, suggestions=1)
    page = acme.get("/v1/kb/events")
    assert (page.status, [event["event_id"] for event in page.json["items"]]) == (200, [str(newest)])
    for path in (f"/v1/kb/events/{old}/cancel", f"/v1/kb/suggestions/{suggestion}/approve"):
        assert acme.post(path).status == 404
    assert acme.get(f"/v1/kb/suggestions/{suggestion}/review").status == 404


def test_it_reads_a_sources_rows_by_an_index_and_no_table(deployment: Deployment, acme: Tenant) -> None:
    source, *_ = rows.add_many(deployment, acme, 30, NOW)
    rows.sql(
        deployment,
        "insert into kb_events (tenant_id, source_id, state, night, available_at, approved_at, source_generation, "
        "created_at, finished_at) select tenant_id, id, 'done', true, day, day, 1, day, day from kb_sources, "
        "generate_series(%s - interval '39 days', %s, interval '1 day') day",
        NOW,
        NOW,
    )
    rows.sql(deployment, "analyze kb_events")
    plan = rows.sql(
        deployment,
        "explain select f.id from kb_events f where f.source_id = %s and f.finished_at < now() "
        "and f.state in ('done', 'failed', 'skipped', 'cancelled')",
        source.id,
    )
    assert "kb_events_finished" in str(plan)
