"""Plays where a provider may lead: names, addresses, what the guard refuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from chalicelib import bootstrap
from chalicelib.knowledge.broker import Question
from chalicelib.services import knowledge_search
from tests.api.tables import superuser
from tests.cases import ssrf_certificates as certificates
from tests.cases.provider_compare import Given, Mismatches, by_table, differs
from tests.cases.provider_deadline import TIMES, hurried
from tests.cases.provider_scene import CLASSES, NOW, Scene
from tests.cases.provider_stage import stage, strict, tenant, through
from tests.cases.ssrf_words import Unreadable
from tests.cases.ssrf_world import World
from tests.scripted_provider import answer, result


def names(given: Given, expected: Given) -> Mismatches:
    """A provider whose name leads somewhere: registered by the route, called through the guard."""
    url = given.get("base_url") or "https://wiki.example.com/"
    private = bool(given.get("allow_private_network"))
    acknowledge = {"acknowledge": "ssrf-risk"} if private else {}
    if "sequence" in given:
        each = [[answers] for answers in given["sequence"]]
    else:
        each = [[[address]] for address in given.get("dns_each") or []] or [[given["dns"]]]
    timed = any(name in given or name in expected for name in TIMES)
    outcomes = []
    with Scene() as scene:
        made = scene.house.register(url, "agent_only", allow_private_network=private, **acknowledge)
        for answers in each:
            world = _world({"wiki.example.com": answers[0]})
            try:
                with hurried(timed) as timing:
                    (one,) = _search(scene, world).consulted
            finally:
                world.close()
            outcomes.append((one.status, len(world.contacts), [one.address for one in world.contacts], timing))
            _mend(made["id"])
    limits = {name: given[name] for name in TIMES if name in given}
    for key, value in {**limits, **dict(expected.items())}.items():
        if key == "registration_or_call":
            yield from differs("call", "config_error", outcomes[-1][0])
        elif key == "connections":
            yield from differs("connections", value, outcomes[-1][1])
        elif key == "allowed":
            yield from differs("allowed", value, [found[0] == "ok" for found in outcomes])
            yield from differs("connections", sum(value), sum(found[1] for found in outcomes))
        elif key == "second_call":
            refused = re.search("refuse|reject|block", str(value)) is not None
            if refused:
                yield from differs("first call", "ok", outcomes[0][0])
            yield from differs("second call", "config_error" if refused else str(value), outcomes[1][0])
        elif key == "failure_class":
            yield from differs("class", value, CLASSES[outcomes[-1][0]])
        elif key == "status":
            yield from differs("status", value, outcomes[-1][0])
        elif key in TIMES:
            yield from differs("in time", True, outcomes[-1][3].is_within(value))
        elif key not in ("rule", "note"):
            raise Unreadable(key)


def certificate(given: Given, expected: Given) -> Mismatches:
    """A provider that shows such a certificate. Nothing may be asked before it is verified."""
    words = str(given["tls"] if "tls" in given else given["certificate"])
    host = urlsplit(str(given.get("base_url") or "https://wiki.example.com/")).hostname or ""
    with Scene() as scene:
        scene.house.register(f"https://{host}", "agent_only")
        world = _world({host: ["1.1.1.1"]}, certificate=words)
        try:
            found = _search(scene, world)
        finally:
            world.close()
        status, asked = found.consulted[0].status, len(world.requests)
        lane = scene.house.providers()[0]["health"]
        yield from by_table(
            {
                "failure_class": lambda word: differs("class", word, CLASSES[status]),
                "results": lambda count: differs("results", count, len(found.results)),
                "status": lambda word: differs("status", word, status),
                "requests_sent": lambda count: differs("asked", count, asked),
                "requests": lambda count: differs("asked", count, asked),
                "request_sent": lambda wanted: differs("asked", wanted, asked > 0),
                "body_sent": lambda wanted: differs("asked", wanted, asked > 0),
                "signature_sent": lambda wanted: differs("asked", wanted, asked > 0),
                "connections": lambda count: differs("connections", count, len(world.contacts)),
                "disable_counter": lambda count: differs("counted", count, lane[0]["hard_failures"] if lane else 0),
            },
            expected,
        )


def address(given: Given, expected: Given) -> Mismatches:
    """An address alone: may it be registered, where the development switch is off?"""
    house = tenant()
    with mock.patch.object(bootstrap, "outside", strict):
        body = {"name": "x", "base_url": given["base_url"], "exposure_profile": "agent_only"}
        made = house.tenant.post("/v1/knowledge/providers", body)
    yield from by_table(
        {
            "http_status": lambda code: differs("status", 422 if code == 400 else code, made.status),
            "registration_or_call": lambda word: differs("refused", word == "refused", made.status == 422),
            "registration": lambda word: differs("refused", word in ("refused", "reject"), made.status == 422),
            "connections": lambda count: differs("connections", count, 0),
        },
        expected,
    )


def _search(scene: Scene, world: World, *, outside: Any = None, now: datetime = NOW) -> knowledge_search.Answer:
    question = Question("reset password")
    found = outside or strict()
    return knowledge_search.search(found, scene.house.tenant.id, question, lambda: now, post=through(world))


def _world(answers: dict[str, Any], response: Callable[[Any], Any] | None = None, certificate: str = "valid") -> World:
    def tls(name: str, address: str) -> Any:
        return certificates.server_context(certificate, name or "wiki.example.com", address, tuple(answers))

    body = answer(result()).body
    plain = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    return World(answers=answers, answer=response or (lambda request: [plain]), tls_for=tls)


def _mend(ident: str) -> None:
    with superuser(stage()) as connection:
        connection.execute("delete from knowledge_circuits where provider_id = %s", (ident,))
