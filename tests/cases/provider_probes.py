"""Plays many questions at once: who is let in, and who is told that the circuit is open."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta

from chalicelib.domain.provider_circuit import Circuit, admit, failed
from chalicelib.domain.provider_failure import FailureClass
from chalicelib.knowledge.broker import Question
from chalicelib.services import knowledge_search
from tests.api.tables import superuser
from tests.cases.provider_compare import Given, Mismatches, by_table, differs, pauses
from tests.cases.provider_scene import NOW, Scene
from tests.cases.provider_stage import stage
from tests.cases.provider_words import behaviour
from tests.cases.ssrf_words import Unreadable

_STATES = {"half-open": 30, "open": 10, "closed": 0}


def probes(given: Given, expected: Given) -> Mismatches:
    """Many at once, each on a connection of its own: on a circuit that is half-open, unless the case says another."""
    callers = given["concurrent_requests"]
    state = str(given.get("state", "half-open")).replace("_", "-").replace("half open", "half-open")
    if state not in _STATES:
        raise Unreadable(state)
    words = str(given.get("provider", "ok"))
    says = behaviour(words)
    let_in = {"half-open": 1, "open": 0, "closed": callers}[state]
    with Scene() as scene:
        scene.add(replace(says, pause=0.3))
        if state != "closed":
            _open_circuit(scene)
        asked = scene.asked()
        deployments = [stage().build("larder_app") for _ in range(callers)]
        ports = stage().outside.fetch_policy
        now = NOW + timedelta(seconds=_STATES[state])

        def search(number: int) -> knowledge_search.Answer:
            outside = replace(deployments[number], fetch_policy=ports)
            return knowledge_search.search(outside, scene.house.tenant.id, Question("x"), lambda: now)

        with ThreadPoolExecutor(callers) as pool:
            found = list(pool.map(search, range(callers)))
        for one in deployments:
            one.database.close()
        told = [one.consulted[0].status for one in found]
        lane = scene.lane() or {}
        open_until = lane.get("open_until")
        sent = scene.asked() - asked
        yield from differs("asked", let_in, sent)
        yield from differs("turned away", callers - let_in, told.count("circuit_open"))
        yield from by_table(
            {
                "probes": lambda count: differs("probes", count, sent),
                "requests_sent": lambda count: differs("asked", count, sent),
                "provider_calls": lambda count: differs("asked", count, sent),
                "rejected": lambda count: differs("turned away", count, told.count("circuit_open")),
                "circuit_open": lambda value: differs(
                    "open", value, told.count("circuit_open") if type(value) is int else open_until is not None
                ),
                **{
                    name: lambda word: differs("others", {word}, set(told) - ({"ok"} if let_in else set()))
                    for name in ("others", "other_statuses", "rest")
                },
                "circuit": lambda word: differs("circuit", word, "open" if open_until else "closed"),
                "open_for_s": lambda span: pauses(
                    span, (datetime.fromisoformat(str(open_until)) - now).total_seconds() if open_until else 0
                ),
            },
            expected,
        )


def _open_circuit(scene: Scene) -> None:
    """Five transient failures in a row, as the domain counts them."""
    circuit = Circuit()
    for _ in range(5):
        permit, circuit = admit(circuit, NOW)
        circuit = failed(circuit, permit, FailureClass.TRANSIENT, NOW)
    with superuser(stage()) as connection:
        connection.execute(
            "insert into knowledge_circuits (provider_id, lane, tenant_id, epoch, transient_failures, pauses, "
            "open_until, last_failure, last_reason, last_failure_at) "
            "values (%s, 'main', %s, %s, %s, %s, %s, 'transient', 'http_500', %s)",
            (
                scene.registered["p1"]["id"],
                scene.house.tenant.id,
                circuit.epoch,
                circuit.transient_failures,
                circuit.pauses,
                circuit.open_until,
                NOW,
            ),
        )
