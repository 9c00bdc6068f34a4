"""Expected against seen, key by key."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from pydantic.alias_generators import to_camel

from chalicelib.knowledge.contract import WireResult
from tests.cases.provider_scene import CLASSES, Scene, status_of
from tests.cases.ssrf_words import Unreadable
from tests.scripted_provider import Says
from tests.tenants import Answer

Given = dict[str, Any]
Mismatches = Iterator[str]
ANSWERING = 5
"""Seconds that a busy machine may take for the answer from whose arrival a pause counts."""
WIRE = {"contractVersion", "results", *(to_camel(name) for name in WireResult.model_fields)}
"""What the contract knows."""


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


def pauses(span: float, seen: float) -> Mismatches:
    """A pause of ``span`` seconds, which counts from the answer's arrival, on a clock that runs."""
    yield from differs(
        f"a pause of {seen:g} s for one of {span:g} s", True, span <= seen <= span + bool(span) * ANSWERING
    )


def in_words(pattern: str, mismatches: Mismatches) -> Callable[[Any], Mismatches]:
    """Compare what words that fit ``pattern`` ask for. Raises Unreadable for others, which ask for something else."""

    def compare(words: Any) -> Mismatches:
        if isinstance(words, bool) or not re.search(pattern, str(words), re.I):
            raise Unreadable(str(words))
        return mismatches

    return compare


def _word(words: Any) -> str:
    """How a provider did, as agents are told it, from other words for it."""
    text = str(words).lower()
    if text in (*CLASSES, "circuit_open", "disabled"):
        return text
    if re.search("version|malformed|invalid|contract|redirect|too large", text):
        return "contract_error"
    if re.search("secret|unauthori|certificate|config", text):
        return "config_error"
    raise Unreadable(text)


def _forwarded(wanted: bool, says: Says, seen: Answer) -> Mismatches:
    """Whether a field that the contract does not know stands in the answer."""
    sent = json.loads(says.body)
    keys = set(sent) | {key for result in sent["results"] for key in result}
    passed_on = [key for key in keys - WIRE if f'"{key}"' in json.dumps(seen.json)]
    yield from differs("passed on", wanted, bool(passed_on))


def compare_answer(
    scene: Scene, says: Says, seen: Answer, shown: Answer, expected: Given, **more: Callable[[Any], Mismatches]
) -> Mismatches:
    """``seen`` by the route of the case, ``shown`` to the agent, who also learns how the provider did.

    ``more`` compares what was measured otherwise.
    """
    results = seen.json.get("results", [])
    found: dict[str, Callable[[Any], Mismatches]] = {
        "results": lambda count: differs("results", 0 if isinstance(count, str) else count, len(results)),
        "failure_class": lambda word: differs("class", word, CLASSES[status_of(shown)]),
        "partial_parse": lambda wanted: differs("used", wanted, bool(results)),
        "parsed": lambda wanted: differs("used", wanted, bool(results)),
        "treated_as_empty": lambda wanted: differs(
            "taken for an answer", wanted, status_of(shown) == "ok" and not results
        ),
        "status": lambda words: differs("status", _word(words), status_of(shown)),
        "http_status": lambda code: differs("status", 422 if code == 400 else code, seen.status),
        "extra_fields_forwarded": lambda wanted: _forwarded(wanted, says, seen),
        "rendered": in_words("escaped|plain|text", _verbatim(says, results)),
        "urls": lambda urls: differs("urls", urls, [one["url"] for one in results]),
        "fetched": lambda count: differs("fetched", count, len(scene.providers["p1"].asked) - 2 + (seen is shown)),
        "requests": lambda count: differs("requests", count, scene.asked()),
        "requests_sent": lambda count: differs("requests", count, scene.asked()),
        "connections": lambda count: differs("requests", count, scene.asked()),
        "health_warning": lambda wanted: differs("warned", wanted, scene.row()["label_warnings"] > 0),
        "result_keys": lambda keys: differs("keys", sorted(keys), sorted(results[0])),
        "envelope_keys": lambda keys: differs("envelope", sorted(keys), sorted(seen.json)),
        "result": lambda words: differs(
            f"result {words}", bool(re.search("fail|refuse|error", str(words))), status_of(shown) != "ok"
        ),
        "locale": lambda value: differs("locale", value, results[0]["locale"]),
        "freshness": lambda value: differs("freshness", value, shown.json["results"][0]["freshness"]),
        "score": lambda value: differs("score", value, shown.json["results"][0]["score"]),
        "audience": lambda value: differs("audience", value, shown.json["results"][0]["audience"]),
        "body_must_not_contain": lambda words: not_in(seen, *words),
        "must_not": in_words("overflow|crash|hang|500|exception|recursion", differs("answered", 200, seen.status)),
    }
    yield from by_table({**found, **more}, expected)


def not_in(seen: Answer, *words: str) -> Mismatches:
    text = json.dumps(seen.json)
    yield from (f"{word!r} was passed on" for word in words if f'"{word}"' in text or (word.isdigit() and word in text))


def _verbatim(says: Says, results: list[dict[str, Any]]) -> Mismatches:
    """Text stays text: nothing is interpreted on the way, so that whoever shows it can escape it as a whole."""
    sent = json.loads(says.body)["results"]
    for one, shown in zip(sent, results, strict=True):
        yield from differs("title", one["title"], shown["title"])
        yield from differs("snippet", one["snippet"], shown["snippet"])
