"""Plays what the key of a kept answer holds."""

from __future__ import annotations

import re

from tests.cases.provider_compare import Given, Mismatches, by_table, differs
from tests.cases.provider_scene import Scene
from tests.scripted_provider import answer, result


def tuples(given: Given, expected: Given) -> Mismatches:
    """Requests that differ in one thing are different requests."""
    names = {str: "locale", bool: "localeFallback", int: "limit"}
    with Scene() as scene:
        scene.add(answer(result("d1")), capabilities=["locale", "localeFallback"])
        asked = 0
        for pair in given["pairs"]:
            for value in pair:
                is_query = isinstance(value, str) and not re.fullmatch(r"[A-Za-z]{2,3}(-\w+)*", value)
                more = {"query" if is_query else names[type(value)]: value}
                if isinstance(value, bool):
                    more["locale"] = "fr"
                scene.house.ask(**more)
                asked += 1
        hits = asked - scene.asked()
        yield from by_table(
            {
                "cross_hits": lambda count: differs("cross hits", count, hits),
                "cache_hits": lambda count: differs("hits", count, hits),
                "requests_sent": lambda count: differs("asked", count, scene.asked()),
            },
            expected,
        )
