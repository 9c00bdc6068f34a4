"""Plays failures by status: their classes, what is counted, when a provider is asked again."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from chalicelib.knowledge.broker import Question
from chalicelib.services import knowledge_search
from tests.cases.provider_clock import seconds
from tests.cases.provider_compare import ANSWERING, Given, Mismatches, by_table, differs, in_words
from tests.cases.provider_scene import CLASSES, NOW, Scene
from tests.cases.provider_stage import log, stage
from tests.cases.provider_words import behaviour
from tests.cases.ssrf_words import Unreadable
from tests.scripted_provider import status


def status_code(given: Given, expected: Given) -> Mismatches:
    """A status from the provider: its class, what is counted, when it is asked again."""
    headers = {"Retry_After": str(given["retry_after"])} if given.get("retry_after") is not None else {}
    now = datetime.fromisoformat(given["now"]) if "now" in given else NOW
    with Scene() as scene, log() as lines:
        coded = str(given["status"]).isdigit()
        scene.add(status(int(given["status"]), **headers) if coded else behaviour(str(given["status"])))
        search = partial(_search, scene)
        first = search(now)
        lane = scene.lane() or {}
        later = search(now + _later(given)) if "then_after_s" in given else None
        word = (later or first).consulted[0].status
        yield from by_table(
            {
                "failure_class": lambda word: differs("class", word, CLASSES[first.consulted[0].status]),
                "results": lambda count: differs("results", count, len(first.results)),
                "treated_as_empty": lambda wanted: differs(
                    "taken for empty", wanted, first.consulted[0].status == "ok"
                ),
                "operator_notified": in_words(
                    "immediate|yes|log|at once",
                    differs("logged", True, any("a provider failed" in one for one in lines)),
                ),
                "disable_after": lambda count: _disabled_after(scene, search, now, _times(count)),
                "disable_counter": lambda count: differs("counted", count, lane.get("hard_failures")),
                "not_called_for_s": lambda seconds: _not_called_for(scene, search, now, seconds),
                "backoff": in_words("default|circuit", _default_backoff(scene, search, now)),
                "circuit": lambda wanted: differs("circuit", wanted, "open" if lane.get("open_until") else "closed"),
                "requests_sent": lambda count: differs("asked", count, scene.asked()),
                "status": lambda wanted: differs("status", wanted, first.consulted[0].status),
                **{name: lambda wanted: _then(later, wanted, scene.asked() > 1) for name in _AGAIN},
                "then": lambda wanted: _then_in_words(later, str(wanted), word, scene.asked() > 1),
                "then_status": lambda wanted: _then(later, wanted, word),
            },
            expected,
        )


def _search(scene: Scene, now: datetime) -> knowledge_search.Answer:
    """As an agent, by a clock that stands still."""
    return knowledge_search.search(stage().outside, scene.house.tenant.id, Question("x"), lambda: now)


_AGAIN = ("called", "called_again", "then_called", "provider_called", "then_provider_called", "asked_again")


def _later(given: Given) -> timedelta:
    """When the second question comes; a wait that is over by then is so however long the answer took."""
    span, wait = seconds(given["then_after_s"]), str(given.get("retry_after"))
    return timedelta(seconds=span + (ANSWERING if wait.isdigit() and span >= int(wait) else 0))


def _then(later: object, wanted: Any, seen: Any) -> Mismatches:
    """What came of the second question, which only some cases ask."""
    if later is None:
        raise Unreadable("a second question that nobody asked")
    yield from differs("then", wanted, seen)


def _then_in_words(later: object, words: str, word: str, asked: bool) -> Mismatches:
    if re.search(r"not (?:called|asked)|circuit_open|still open|skipped", words):
        yield from _then(later, False, asked)
    elif re.search(r"called|asked|probe", words):
        yield from _then(later, True, asked)
    else:
        yield from _then(later, words, word)


def _times(words: Any) -> int:
    """After how many failures; few, that is three."""
    if isinstance(words, int):
        return words
    if re.search("low|few|three|3", str(words)):
        return 3
    raise Unreadable(str(words))


def _disabled_after(scene: Scene, search: Callable[[datetime], Any], now: datetime, count: int) -> Mismatches:
    for number in range(1, count):
        yield from differs("status", "active", scene.row()["status"])
        search(now + timedelta(seconds=number))
    yield from differs("status", "auto_disabled", scene.row()["status"])
    asked = scene.asked()
    yield from differs("word", "disabled", search(now + timedelta(days=1)).consulted[0].status)
    yield from differs("asked", asked, scene.asked())


def _not_called_for(scene: Scene, search: Callable[[datetime], Any], now: datetime, span: int) -> Mismatches:
    asked = scene.asked()
    early = search(now + timedelta(seconds=span - 1))
    yield from differs("early", ("circuit_open", asked), (early.consulted[0].status, scene.asked()))
    search(now + timedelta(seconds=span + ANSWERING))
    yield from differs("in time", asked + 1, scene.asked())


def _default_backoff(scene: Scene, search: Callable[[datetime], Any], now: datetime) -> Mismatches:
    """It counts towards the circuit, which opens for thirty seconds after five of them."""
    for _ in range(4):
        search(now)
    yield from differs("asked", 5, scene.asked())
    yield from _not_called_for(scene, search, now, 30)
