"""Circuits in Postgres: two processes with many callers each agree on every provider's state (spec 3.4)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.api import tables
from tests.knowledge import Household, deployment, household
from tests.postgres import TestServer
from tests.scripted_provider import ScriptedProvider, answer, result, serving, status

ROOT = Path(__file__).resolve().parents[2]
PROCESSES, THREADS, ROUNDS = 2, 10, 5  # a hundred searches

CALLER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from uuid import UUID
from chalicelib import bootstrap, settings
from chalicelib.knowledge.broker import Question
from chalicelib.services import knowledge_search

url, keys, tenant, now = sys.argv[1:5]
rounds, threads = map(int, sys.argv[5:])

def run(number):
    built = bootstrap.build(settings.read({"DATABASE_URL": url, "LARDER_KEYS": keys}))
    policy = replace(built.fetch_policy, allow_private_networks=True, allowed_ports=frozenset(range(1, 65536)))
    outside = replace(built, fetch_policy=policy)
    found, at = [], datetime.fromisoformat(now)
    for _ in range(rounds):
        answer = knowledge_search.search(outside, UUID(tenant), Question("kettle"), lambda: at)
        found.append(",".join(one.status for one in answer.consulted))
    outside.database.close()
    return found

with ThreadPoolExecutor(threads) as pool:
    for found in pool.map(run, range(threads)):
        print("\\n".join(found))
"""


@pytest.fixture
def house(server: TestServer) -> Iterator[Household]:
    with deployment(server) as made:
        yield household(made)


def rush(house: Household, now: datetime) -> list[list[str]]:
    """A hundred searches by two processes; the words for the providers, a search each."""
    made = house.deployment
    url = made.server.url(made.database_name, "larder_app")
    arguments = [sys.executable, "-c", CALLER, url, str(made.server.keys), str(house.tenant.id), now.isoformat()]
    arguments += [str(ROUNDS), str(THREADS)]
    callers = [
        subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    told = [caller.communicate(timeout=120) for caller in callers]
    assert [caller.returncode for caller in callers] == [0] * PROCESSES, told[0][1][-2000:]
    return [line.split(",") for out, _ in told for line in out.splitlines() if line and not line.startswith("{")]


def state(house: Household, provider: dict[str, object]) -> dict[str, object]:
    query = (
        "select epoch, transient_failures, hard_failures, pauses, open_until, stopped from knowledge_circuits "
        "where provider_id = %s and lane = 'main'"
    )
    names = ("epoch", "transient", "hard", "pauses", "open_until", "stopped")
    with tables.superuser(house.deployment) as connection:
        row = connection.execute(query, (provider["id"],)).fetchone()
    return {} if row is None else dict(zip(names, row, strict=True))


def test_a_hundred_searches_by_two_processes_leave_each_circuit_in_one_state(house: Household) -> None:
    now = datetime.now(UTC)
    with serving(answer(result()), status(500), status(401)) as (good, failing, refusing):
        ids = [house.register(one, name=name) for one, name in ((good, "a"), (failing, "b"), (refusing, "c"))]
        found = rush(house, now)
        asked = [len(one.asked) for one in (good, failing, refusing)]
    assert len(found) == PROCESSES * THREADS * ROUNDS
    assert {words[0] for words in found} == {"ok"}
    assert asked[0] == len(found)
    assert state(house, ids[0]) == {}, "what never failed has no row"

    counted = {"epoch": 1, "transient": 5, "hard": 0, "pauses": 1, "open_until": now + timedelta(seconds=30)}
    assert state(house, ids[1]) == {**counted, "stopped": False}
    assert {words[1] for words in found} == {"timeout", "circuit_open"}
    assert 5 <= asked[1] == sum(words[1] == "timeout" for words in found) <= 5 + PROCESSES * THREADS

    stopped = {"epoch": 1, "transient": 0, "hard": 3, "pauses": 0, "open_until": None, "stopped": True}
    assert state(house, ids[2]) == stopped
    assert {words[2] for words in found} == {"config_error", "disabled"}
    assert 3 <= asked[2] == sum(words[2] == "config_error" for words in found) <= 3 + PROCESSES * THREADS
    assert [one["status"] for one in house.providers()] == ["active", "active", "auto_disabled"]
    assert house.providers()[2]["config_generation"] == 2, "it was disabled once"


def test_of_all_processes_one_request_probes(house: Household) -> None:
    now = datetime.now(UTC)
    with serving(status(500)) as (failing,):
        one = house.register(failing)
        rush(house, now)
        asked = len(failing.asked)
        rush(house, now + timedelta(seconds=30))
        assert len(failing.asked) == asked + 1
        assert state(house, one)["open_until"] == now + timedelta(seconds=90), "the pause doubled"
        failing.behave = answer(result())
        rush(house, now + timedelta(seconds=90))
        assert state(house, one)["open_until"] is None
        assert _is_fine(failing, house)


def _is_fine(provider: ScriptedProvider, house: Household) -> bool:
    before = len(provider.asked)
    return house.ask().json["providers"][0]["status"] == "ok" and len(provider.asked) == before + 1
