"""Plays failures: their classes, the circuit, probes, trials, and what is logged."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from chalicelib.domain.provider_circuit import Circuit, admit, failed
from chalicelib.domain.provider_failure import FailureClass
from chalicelib.knowledge import signing
from chalicelib.knowledge.broker import Question
from chalicelib.services import knowledge_search, public_search
from tests.api.tables import superuser
from tests.cases.provider_compare import Given, Mismatches, by_table, compare_answer, differs
from tests.cases.provider_scene import CLASSES, NOW, Scene
from tests.cases.provider_stage import log, stage
from tests.cases.provider_words import behaviour
from tests.scripted_provider import Says, answer, result, status


def status_code(given: Given, expected: Given) -> Mismatches:
    """A status from the provider: its class, what is counted, when it is asked again."""
    headers = {"Retry_After": str(given["retry_after"])} if given.get("retry_after") is not None else {}
    now = datetime.fromisoformat(given["now"]) if "now" in given else NOW
    with Scene() as scene, log() as lines:
        scene.add(status(given["status"], **headers))
        search = partial(knowledge_search.search, stage().outside, scene.house.tenant.id, Question("x"))
        first = search(now)
        lane = scene.lane() or {}
        yield from by_table(
            {
                "failure_class": lambda word: differs("class", word, CLASSES[first.consulted[0].status]),
                "results": lambda count: differs("results", count, len(first.results)),
                "treated_as_empty": lambda _: differs("status", False, first.consulted[0].status == "ok"),
                "operator_notified": lambda _: differs(
                    "logged", True, any("a provider failed" in one for one in lines)
                ),
                "disable_after": lambda _: _disabled_after(scene, search, now, 3),
                "disable_counter": lambda count: differs("counted", count, lane.get("hard_failures")),
                "not_called_for_s": lambda seconds: _not_called_for(scene, search, now, seconds),
                "backoff": lambda _: _default_backoff(scene, search, now),
            },
            expected,
        )


def _disabled_after(scene: Scene, search: Callable[[datetime], Any], now: datetime, count: int) -> Mismatches:
    for number in range(1, count):
        yield from differs("status", "active", scene.row()["status"])
        search(now + timedelta(seconds=number))
    yield from differs("status", "auto_disabled", scene.row()["status"])
    asked = scene.asked()
    yield from differs("word", "disabled", search(now + timedelta(days=1)).consulted[0].status)
    yield from differs("asked", asked, scene.asked())


ANSWERING = 5
"""Seconds that a busy machine may take for the answer from whose arrival a pause counts."""


def _not_called_for(scene: Scene, search: Callable[[datetime], Any], now: datetime, seconds: int) -> Mismatches:
    asked = scene.asked()
    early = search(now + timedelta(seconds=seconds - 1))
    yield from differs("early", ("circuit_open", asked), (early.consulted[0].status, scene.asked()))
    search(now + timedelta(seconds=seconds + ANSWERING))
    yield from differs("in time", asked + 1, scene.asked())


def _default_backoff(scene: Scene, search: Callable[[datetime], Any], now: datetime) -> Mismatches:
    """It counts towards the circuit, which opens for thirty seconds after five of them."""
    for _ in range(4):
        search(now)
    yield from differs("asked", 5, scene.asked())
    yield from _not_called_for(scene, search, now, 30)


def probes(given: Given, expected: Given) -> Mismatches:
    """Many at once on a half-open circuit, each on a connection of its own."""
    callers = given["concurrent_requests"]
    with Scene() as scene:
        scene.add(Says(pause=0.3, body=answer(result()).body))
        _open_circuit(scene)
        asked = scene.asked()
        deployments = [stage().build("larder_app") for _ in range(callers)]
        ports = stage().outside.fetch_policy

        def search(number: int) -> knowledge_search.Answer:
            outside = replace(deployments[number], fetch_policy=ports)
            return knowledge_search.search(outside, scene.house.tenant.id, Question("x"), NOW + timedelta(seconds=30))

        with ThreadPoolExecutor(callers) as pool:
            found = list(pool.map(search, range(callers)))
        for one in deployments:
            one.database.close()
        yield from differs("probes", expected["probes"], scene.asked() - asked)
        words = sorted(one.consulted[0].status for one in found)
        yield from differs("words", ["circuit_open"] * (callers - 1) + ["ok"], words)


def _open_circuit(scene: Scene) -> None:
    """Five transient failures in a row, as the domain counts them."""
    circuit = Circuit()
    for _ in range(5):
        permit, circuit = admit(circuit, NOW)
        circuit = failed(circuit, permit, FailureClass.TRANSIENT, NOW)
    with superuser(stage()) as connection:
        connection.execute(
            "insert into knowledge_circuits (provider_id, lane, tenant_id, epoch, transient_failures, pauses, "
            "open_until) values (%s, 'main', %s, %s, %s, %s, %s)",
            (
                scene.registered["p1"]["id"],
                scene.house.tenant.id,
                circuit.epoch,
                circuit.transient_failures,
                circuit.pauses,
                circuit.open_until,
            ),
        )


def trial(given: Given, expected: Given) -> Mismatches:
    """The admin's own question: nothing is counted, nothing is kept."""
    with Scene() as scene:
        scene.add(behaviour(str(given["provider"])))
        tried = scene.house.act(scene.registered["p1"], "test")
        path = f"/v1/knowledge/providers/{scene.registered['p1']['id']}/test"
        bare = scene.house.tenant.read_only("POST", path, {})
        yield from differs("status", (200, "timeout"), (tried.status, tried.json["status"]))
        yield from by_table(
            {
                "failure_counter_delta": lambda count: differs("counted", count, scene.count("knowledge_circuits")),
                "cache_writes": lambda count: differs("kept", count, scene.kept),
                "admin_only": lambda _: differs("without an admin token", 403, bare.status),
            },
            expected,
        )


def once(given: Given, expected: Given) -> Mismatches:
    """A provider that fails once and would answer a retry."""
    words = str(given["provider"])
    with Scene() as scene:
        scene.add(lambda _: behaviour(words) if scene.asked() <= 1 else answer(result()))
        seen = scene.house.ask()
        yield from compare_answer(scene, Says(), seen, seen, expected)


def quiet(given: Given, expected: Given) -> Mismatches:
    """What is logged while a provider answers, refuses, fails and babbles."""
    secret = "the query that nobody may read"
    with Scene() as scene, log() as lines:
        for number, event in enumerate(given["events"]):
            scene.add(behaviour(event), f"p{number}")
        scene.house.ask(query=secret)
        scene.house.visit(query=secret)
        asked = [question for one in scene.providers.values() for question in one.questions]
    told = "\n".join(lines)
    yield from differs("events", True, len(asked) >= len(given["events"]) and bool(lines))
    hidden = {"query": [secret], "secret": [one["secret"] for one in scene.registered.values()]}
    hidden["nonce"] = [one.headers[signing.REQUEST_HEADER.lower()] for one in asked]
    hidden["v1"] = [one.headers[signing.SIGNATURE_HEADER.lower()].rpartition("v1=")[2] for one in asked]
    for word in [*expected["log_must_not_contain"], "query"]:
        for value in hidden[word.split()[0]]:
            if value in told:
                yield f"the log has a {word}"


def run(given: Given, expected: Given) -> Mismatches:
    """Answers one after the other, each asked for a second after the one before."""
    with Scene() as scene:
        scene.add(answer(result()))
        word = str(given.get("route", "agent"))
        seen, now = [], NOW
        for number, step in enumerate(given["sequence"]):
            scene.providers["p1"].behave = answer(result()) if step in (200, "200") else behaviour(str(step))
            now = NOW + timedelta(seconds=number)
            if "widget" in word:
                public_search.search(stage().outside, scene.house.tenant.id, "widget", Question("x"), now)
            else:
                seen.append(_as_agent(scene, now))
        state = scene.row()["status"]
        lane = scene.lane("widget" if "widget" in word else "main") or {}
        until = lane.get("open_until")
        pause = (datetime.fromisoformat(until) - now).total_seconds() if until else 0
        open_or_closed = "open" if until else "closed"
        yield from by_table(
            {
                "status": lambda word: differs("status", word, state),
                "auto_disabled": lambda wanted: differs("status", wanted, state == "auto_disabled"),
                "disabled": lambda wanted: differs("status", wanted, state == "auto_disabled"),
                "circuit": lambda word: differs("circuit", word, open_or_closed),
                "circuit_open": lambda wanted: differs("circuit", wanted, open_or_closed == "open"),
                "open_for_s": lambda seconds: differs("pause", seconds, pause),
                "open_s": lambda seconds: differs("pause", seconds, pause),
                "requests_sent": lambda count: differs("asked", count, scene.asked()),
                "agent_status": lambda word: differs("for agents", word, _as_agent(scene, now)),
                "agents_affected": lambda wanted: differs("for agents", wanted, _as_agent(scene, now) == "disabled"),
            },
            expected,
        )


def _as_agent(scene: Scene, now: datetime) -> str:
    found = knowledge_search.search(stage().outside, scene.house.tenant.id, Question("x"), now)
    return found.consulted[0].status
