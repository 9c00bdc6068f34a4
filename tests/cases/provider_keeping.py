"""Plays the cache: who finds what again."""

from __future__ import annotations

import re

from tests.cases.provider_compare import Given, Mismatches, by_table, differs
from tests.cases.provider_scene import Scene
from tests.cases.provider_words import behaviour
from tests.scripted_provider import answer, result
from tests.tenants import Answer


def steps(given: Given, expected: Given) -> Mismatches:
    """Questions and changes one after the other."""
    seen: list[tuple[str, int, int, Answer]] = []
    with Scene() as scene:
        scene.add(answer(result("d1")))
        for step in given["sequence"]:
            before = (scene.asked(), scene.kept)
            got = _step(scene, step)
            seen.append((step, scene.asked() - before[0], scene.kept - before[1], got))
        last = seen[-1]
        results = last[3].json.get("results", [])
        yield from by_table(
            {
                "second_cache_hit": lambda wanted: differs("asked again", not wanted, last[1] > 0),
                "cache_hit": lambda wanted: differs("asked again", not wanted, last[1] > 0),
                "cache_writes": lambda count: differs("kept", count, sum(one[2] for one in seen)),
                "cross_hits": lambda count: differs("asked", len(seen) - count, scene.asked()),
                "requests_sent": lambda count: differs("asked", count, scene.asked()),
                "widget_cache_hit": lambda _: differs("asked by the widget", 1, last[1]),
                "provider_called": lambda _: differs("asked", 1, last[1]),
                "cache_writes_by_widget": lambda count: differs("kept", count, last[2]),
                "second_results": lambda count: differs("results", count, len(results)),
                "second": lambda _: differs("results", [], results),
            },
            expected,
        )


def _step(scene: Scene, step: str) -> Answer:
    lowered = step.lower()
    one = scene.registered["p1"]
    if lowered.startswith("delete"):
        return scene.house.remove(one)
    if lowered.startswith("rotate"):
        return scene.house.act(one, "rotate-secret")
    if re.match(r"(patch|change|disable|config)", lowered):
        return scene.house.change(
            one, **({"status": "disabled"} if "disable" in lowered else {"capabilities": ["scoring"]})
        )
    if lowered.startswith(("agent", "assistant", "widget", "customer")):
        talk = {"conversationId": "c-1"} if "conversation" in lowered else {}
        if re.match(r"agent (b|2|two|other)\b", lowered):
            return scene.house.ask(token=scene.house.tenant.post("/v1/agents", {"name": "Bob"}).json["token"], **talk)
        return scene.by_route(lowered.split()[0], **talk)
    scene.providers["p1"].behave = behaviour(step)
    return scene.house.ask()


def tuples(given: Given, expected: Given) -> Mismatches:
    """Requests that differ in one thing are different requests."""
    names = {str: "locale", bool: "localeFallback", int: "limit"}
    with Scene() as scene:
        scene.add(answer(result("d1")), capabilities=["locale", "localeFallback"])
        asked = 0
        for pair in given["pairs"]:
            for value in pair:
                more = {names[type(value)]: value}
                if isinstance(value, bool):
                    more["locale"] = "fr"
                scene.house.ask(**more)
                asked += 1
        yield from differs("cross hits", expected["cross_hits"], asked - scene.asked())
