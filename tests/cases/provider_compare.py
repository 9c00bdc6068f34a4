"""Expected against seen, key by key."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.cases.provider_scene import CLASSES, Scene, status_of
from tests.cases.ssrf_words import Unreadable
from tests.scripted_provider import Says
from tests.tenants import Answer

Given = dict[str, Any]
Mismatches = Iterator[str]
WORDS_ONLY = {"rule", "note", "alternative", "why"}


def differs(what: str, expected: Any, seen: Any) -> Mismatches:
    if expected != seen:
        yield f"{what}: expected {expected!r}, was {seen!r}"


def by_table(found: dict[str, Callable[[Any], Mismatches]], expected: Given) -> Mismatches:
    unknown = set(expected) - set(found) - {"rule", "note", "alternative"}
    if unknown or not set(expected) & set(found):
        raise Unreadable(f"expected {sorted(unknown or expected)}")
    for name, compare in found.items():
        if name in expected:
            yield from compare(expected[name])


def compare_answer(scene: Scene, says: Says, seen: Answer, shown: Answer, expected: Given) -> Mismatches:
    """``seen`` by the route of the case, ``shown`` to the agent, who also learns how the provider did."""
    results = seen.json.get("results", [])
    found: dict[str, Callable[[Any], Mismatches]] = {
        "results": lambda count: differs("results", 0 if isinstance(count, str) else count, len(results)),
        "failure_class": lambda word: differs("class", word, CLASSES[status_of(shown)]),
        "partial_parse": lambda _: differs("results", [], results),
        "parsed": lambda _: differs("results", [], results),
        "treated_as_empty": lambda _: differs("taken for an answer", False, status_of(shown) == "ok"),
        "status": lambda _: differs("status", "contract_error", status_of(shown)),
        "http_status": lambda code: differs("status", 422 if code == 400 else code, seen.status),
        "extra_fields_forwarded": lambda _: not_in(seen, "_debug", "acl", "total"),
        "rendered": lambda _: _verbatim(says, results),
        "urls": lambda urls: differs("urls", urls, [one["url"] for one in results]),
        "fetched": lambda _: differs("requests", 2 - (seen is shown), len(scene.providers["p1"].asked)),
        "requests": lambda count: differs("requests", count, scene.asked()),
        "requests_sent": lambda count: differs("requests", count, scene.asked()),
        "connections": lambda count: differs("requests", count, scene.asked()),
        "health_warning": lambda wanted: differs("warned", wanted, scene.row()["label_warnings"] > 0),
        "result_keys": lambda keys: differs("keys", sorted(keys), sorted(results[0])),
        "envelope_keys": lambda keys: differs("envelope", sorted(keys), sorted(seen.json)),
        "result": lambda _: differs("status", True, status_of(shown) != "ok"),
        "locale": lambda value: differs("locale", value, results[0]["locale"]),
        "freshness": lambda value: differs("freshness", value, shown.json["results"][0]["freshness"]),
        "score": lambda value: differs("score", value, shown.json["results"][0]["score"]),
        "audience": lambda value: differs("audience", value, shown.json["results"][0]["audience"]),
        "body_must_not_contain": lambda words: not_in(seen, *words),
        "must_not": lambda _: differs("answered", 200, seen.status),
    }
    yield from by_table(found, expected)


def not_in(seen: Answer, *words: str) -> Mismatches:
    text = json.dumps(seen.json)
    yield from (f"{word!r} was passed on" for word in words if f'"{word}"' in text or (word.isdigit() and word in text))


def _verbatim(says: Says, results: list[dict[str, Any]]) -> Mismatches:
    """Text stays text: nothing is interpreted on the way, so that whoever shows it can escape it as a whole."""
    sent = json.loads(says.body)["results"]
    for one, shown in zip(sent, results, strict=True):
        yield from differs("title", one["title"], shown["title"])
        yield from differs("snippet", one["snippet"], shown["snippet"])
