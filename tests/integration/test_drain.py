"""A drain under load and faults ends with one outcome an event, whoever dies on the way, the database included."""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.drain.run import Drain, Load, permissions
from bench.drain.site import Site, serve
from bench.drain.verdict import faults
from infra.postgres import embedded
from tests import postgres
from tests.integration import rows
from tests.postgres import TestServer
from tests.tenants import Deployment

LOAD = Load(
    tenants=12,
    sources=12,
    workers=2,
    rounds=1,
    failing=0.2,
    hanging=0.1,
    duplicates=0.4,
    killed=0.25,
    fetch_seconds=1.0,
)


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(LOAD.tenants, LOAD.failing, LOAD.hanging, LOAD.seed) as site:
        yield site


@pytest.fixture
def stage(server: TestServer, database: str, site: Site) -> Iterator[Deployment]:
    deployment = Deployment(server, database, permissions(site))
    yield deployment
    deployment.close()


@pytest.fixture
def own_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestServer]:
    """A server that nobody else uses."""
    folder = Path(tempfile.mkdtemp(prefix="larder-test-own-"))
    monkeypatch.setenv(postgres._DATA, str(folder / "data"))
    yield TestServer()
    embedded(folder / "data", cleanup_mode="stop").stop()
    shutil.rmtree(folder)


def test_every_event_of_a_bad_night_ends_once(stage: Deployment, site: Site) -> None:
    drain = Drain(stage, site, LOAD)
    figures = drain.run()
    assert list(faults(stage, site, LOAD.rounds)) == []
    assert figures.kills
    assert drain.delivery.duplicated
    assert site.fetches["failed"]
    assert site.fetches["hung"]


def test_a_database_that_crashes_in_the_middle_is_waited_for(own_server: TestServer, site: Site) -> None:
    stage = Deployment(own_server, own_server.create(), permissions(site))
    came_back: list[float] = []

    def crash() -> None:
        process = own_server.server.get_postmaster_info().process
        assert process is not None
        process.send_signal(signal.SIGQUIT)  # PostgreSQL's "immediate" shutdown: no connection ends in peace
        process.wait(30)

        def start() -> None:
            time.sleep(1)
            own_server.server.start()
            came_back.append(time.monotonic())

        threading.Thread(target=start).start()

    drain = Drain(stage, site, LOAD, fault=crash)
    figures = drain.run()
    assert came_back
    assert figures.failed_ticks, "the tick ran while the database was away"
    assert list(faults(stage, site, LOAD.rounds)) == []
    stage.close()


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ("update kb_events set state = 'running' where id = (select min(id::text)::uuid from kb_events)", "still open"),
        ("delete from kb_events where id = (select min(id::text)::uuid from kb_events)", "have not 1 events"),
        ("update kb_versions set event_id = gen_random_uuid()", "no event that wrote them"),
        ("update kb_versions set system_time = tstzrange(lower(system_time), now() + '1 day')", "no current version"),
        ("update kb_versions set version = version + 1", "leave a gap"),
        ("update kb_chunks set text = 'x' || text", "not the page's"),
        ("delete from kb_versions", "wrote no version"),
    ],
)
def test_the_verdict_notices(stage: Deployment, site: Site, damage: str, complaint: str) -> None:
    calm = Load(tenants=1, sources=1, workers=1, rounds=1, failing=0, hanging=0, duplicates=0, killed=0)
    site.failing = site.hanging = 0
    Drain(stage, site, calm).run()
    assert list(faults(stage, site, 1)) == []
    rows.sql(stage, damage)
    assert complaint in "\n".join(faults(stage, site, 1))
