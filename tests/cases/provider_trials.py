"""Plays one question to a provider that does as the words say: by an admin, by a route; and what is logged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from chalicelib.knowledge import signing
from tests.cases.provider_compare import Given, Mismatches, by_table, compare_answer, differs
from tests.cases.provider_deadline import TIMES, Timing, hurried
from tests.cases.provider_scene import CLASSES, Scene
from tests.cases.provider_stage import log
from tests.cases.provider_words import behaviour, class_of
from tests.cases.ssrf_words import Unreadable
from tests.scripted_provider import Says, answer, result


def trial(given: Given, expected: Given) -> Mismatches:
    """The admin's own question: nothing is counted, nothing is kept."""
    words = str(given["provider"])
    with Scene() as scene:
        given.get("route")
        scene.add(behaviour(words))
        tried = scene.house.act(scene.registered["p1"], "test")
        path = f"/v1/knowledge/providers/{scene.registered['p1']['id']}/test"
        bare = scene.house.tenant.read_only("POST", path, {})
        yield from differs("class", class_of(words), CLASSES[tried.json["status"]])
        yield from by_table(
            {
                "failure_counter_delta": lambda count: differs("counted", count, scene.count("knowledge_circuits")),
                "cache_writes": lambda count: differs("kept", count, scene.kept),
                "admin_only": lambda wanted: differs("admin only", wanted, bare.status == 403),
                "http_status": lambda code: differs("status", code, tried.status),
                "failure_class": lambda word: differs("class", word, CLASSES[tried.json["status"]]),
                "status": lambda word: differs("status", word, tried.json["status"]),
                "requests_sent": lambda count: differs("asked", count, scene.asked()),
                "results": lambda count: differs("results", count, len(tried.json["results"])),
            },
            expected,
        )


def once(given: Given, expected: Given) -> Mismatches:
    """A provider that does as the words say, and would answer a retry. Timed where the case has a limit."""
    words = str(given["provider"])
    limits = [name for name in TIMES if name in {*given, *expected}]
    with Scene() as scene:
        scene.add(
            lambda _: behaviour(words, patient=bool(limits)) if scene.asked() <= 1 else answer(result()),
            profile=given.get("profile") or "customer_safe",
        )
        with hurried(bool(limits)) as timing:
            seen = scene.by_route(given.get("route"))
        lane = "widget" if "widget" in str(given.get("route")) else "main"
        told = (scene.lane(lane) or {}).get("last_failure")
        yield from differs("class", class_of(words), told and str(told))
        measured: dict[str, Callable[[Any], Mismatches]] = {
            "failure_class": lambda word: differs("class", word, told and str(told)),
            "treated_as_empty": lambda wanted: differs("taken for an answer", wanted, told is None),
            **{name: partial(_in_time, timing) for name in TIMES},
        }
        for name in set(limits) & set(given):
            yield from _in_time(timing, given[name])
        yield from compare_answer(scene, Says(), seen, seen, expected, **measured)


def _in_time(timing: Timing, limit: float) -> Mismatches:
    yield from differs(f"in time ({timing})", True, timing.is_within(limit))


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
    hidden["signature"] = [one.headers[signing.SIGNATURE_HEADER.lower()] for one in asked]
    hidden["body"] = [one.body.decode() for one in asked]
    hidden["nonce"] = [one.headers[signing.REQUEST_HEADER.lower()] for one in asked]
    hidden["v1"] = [one.headers[signing.SIGNATURE_HEADER.lower()].rpartition("v1=")[2] for one in asked]
    for word in [*expected["log_must_not_contain"], "query"]:
        name = word.lower().split()[0].removesuffix("s")
        if name not in hidden:
            raise Unreadable(word)
        for value in hidden[name]:
            if value in told:
                yield f"the log has a {word}"
