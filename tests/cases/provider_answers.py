"""Plays what becomes of one answer: its envelope, its results, their labels and links."""

from __future__ import annotations

from functools import partial

from tests.cases import provider_words
from tests.cases.provider_compare import Given, Mismatches, by_table, compare_answer, differs
from tests.cases.provider_scene import Scene
from tests.cases.ssrf_words import Unreadable
from tests.scripted_provider import JSON, Says, answer, result


def one_answer(given: Given, expected: Given) -> Mismatches:
    """A provider that answers so, asked by the agent, and by the route that the case names."""
    raw = {"_raw": given["response_raw"]} if "response_raw" in given else {"_b64": given.get("response_b64")}
    says = provider_words.response(given.get("response", raw), content_type=given.get("content_type", JSON))
    if "headers" in given:
        says = Says(says.status, says.body, {**says.headers, **given["headers"]})
    with Scene() as scene:
        profile = given.get("profile") or "customer_safe"
        scene.add(says, profile=profile, capabilities=given.get("capabilities", []))
        request = dict(given.get("request") or {})
        request |= {name: given[name] for name in ("limit", "locale") if name in given}
        seen = scene.by_route(given.get("route"), **request)
        asked = scene.asked()
        shown = seen if given.get("route") is None else scene.house.ask(**request)
        sent = {name: partial(differs, name, seen=asked) for name in ("requests", "requests_sent", "connections")}
        yield from compare_answer(scene, says, seen, shown, expected, **sent)


def withheld(given: Given, expected: Given) -> Mismatches:
    public = [result(f"p{number}") for number in range(given["public"])]
    internal = [result(f"i{number}", audience="internal") for number in range(given["internal"])]
    with Scene() as scene:
        scene.add(answer(*public, *internal))
        seen = scene.by_route(given.get("route"))
        yield from compare_answer(scene, Says(), seen, scene.house.ask(), expected)


def inert(given: Given, expected: Given) -> Mismatches:
    """Text that speaks to a model leaves as the text that it is, in a field of its own, and makes nothing happen."""
    with Scene() as scene:
        scene.add(answer(result(snippet=given["snippet"])))
        before = scene.house.providers()
        seen = scene.house.ask()
        yield from differs("snippet", given["snippet"], seen.json["results"][0]["snippet"])
        yield from differs("requests", 1, len(scene.providers["p1"].asked))
        after = scene.house.providers()
        yield from differs("registrations", before, after)
        yield from by_table(
            {
                "prompt_part": lambda words: differs("part", "quoted source data", words),
                "tools_available": lambda count: differs("tools", count, 0),
                "results": lambda count: differs("results", count, len(seen.json["results"])),
            },
            expected,
        )


def bomb(given: Given, expected: Given) -> Mismatches:
    with Scene() as scene:
        says = provider_words.bomb(given["decoded_bytes"])
        coding = (given.get("headers") or {}).get("Content-Encoding", "gzip")
        if coding != "gzip":
            raise Unreadable(coding)
        scene.add(says)
        yield from differs("packed", True, len(says.body) <= max(given["wire_bytes"], 4_000) * 2)
        seen = scene.house.ask()
        yield from compare_answer(scene, says, seen, seen, expected)
