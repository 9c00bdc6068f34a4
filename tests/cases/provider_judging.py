"""Judges a story: what was seen of its scene, and of each of its steps, by the words that cases have for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from tests.cases.provider_compare import Mismatches, differs, pauses
from tests.cases.provider_scene import CLASSES, Scene, words_of
from tests.cases.provider_stage import rows
from tests.cases.provider_tale import WORDS, Seen, Story
from tests.cases.ssrf_words import Unreadable

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "final": -1}
_ROUTES = {"widget": ("widget", "page", "visitor"), "assistant": ("assistant", "customer"), "agent": ("agent",)}


class Judge:
    """What was seen, by the words that cases have for it."""

    def __init__(self, story: Story, now: datetime, generation: int) -> None:
        self.story, self.scene, self.now, self.generation = story, story.scene, now, generation
        self.asking = [one for one in story.seen if one.asks]

    def compare(self, key: str, value: Any) -> Mismatches:
        """Raises Unreadable for a key or a value without a meaning."""
        found = re.fullmatch(rf"({'|'.join([*_ORDINALS, *_ROUTES])})(?:_(.+))?", key)
        if found and key not in _SCENE:
            yield from _of(self._one(found[1]), found[2] or "", value, key)
        elif key in _SCENE:
            yield from _SCENE[key](self, value)
        else:
            yield from _of(self.asking[-1] if self.asking else self.story.seen[-1], key, value, key)

    def _one(self, word: str) -> Seen:
        """By its number among the questions, or all steps where that is too few; or the last on a route."""
        if word in _ORDINALS:
            number = _ORDINALS[word]
            if word == "second" and len(self.story.seen) > 2 and len(self.asking) == 2:
                return self.asking[1]
            known = self.asking if number < len(self.asking) else self.story.seen
            if number >= len(known):
                raise Unreadable(word)
            return known[number]
        found = [one for one in self.asking if any(name in one.step.lower() for name in _ROUTES[word])]
        if not found:
            raise Unreadable(word)
        return found[-1]

    # --- of the scene as a whole

    @property
    def lane(self) -> dict[str, Any]:
        return self.scene.lane("widget" if "widget" in self.story.route else "main") or {}

    @property
    def pause(self) -> float:
        until = self.lane.get("open_until")
        last = self.now - timedelta(seconds=1)  # the step that opened it was a second ago
        return (datetime.fromisoformat(until) - last).total_seconds() if until else 0

    def status(self, word: str) -> Mismatches:
        """A registration's status, or how the last question went."""
        state, last = self.scene.row()["status"], self.asking[-1].word if self.asking else None
        if word in ("active", "auto_disabled"):
            yield from differs("status", word, state)
        elif word == "disabled":
            yield from differs("status", True, word in (state, last))
        elif word in WORDS:
            yield from differs("status", word, last)
        else:
            raise Unreadable(word)

    def circuit(self, word: str) -> Mismatches:
        until = self.lane.get("open_until")
        is_due = until is not None and datetime.fromisoformat(until) <= self.now
        state = "closed" if until is None else "half-open" if is_due else "open"
        yield from differs("circuit", str(word).replace("_", "-"), state)

    def agents(self) -> str:
        return words_of(self.scene.house.ask(query="for agents"))[0]


def generation_of(scene: Scene) -> int:
    query = "select config_generation from knowledge_providers where id = %s"
    found = rows(scene.house, query, scene.registered["p1"]["id"])
    return int(found[0][0]) if found else 0


def _raised(judge: Judge, value: Any) -> Mismatches:
    delta = generation_of(judge.scene) - judge.generation
    wanted = re.fullmatch(r"\+?(\d+)", str(value)) if not isinstance(value, bool) else None
    if wanted:
        yield from differs("generation raised by", int(wanted[1]), delta)
    else:
        raised = value if isinstance(value, bool) else not re.search(r"same|unchanged|not|kept", str(value))
        yield from differs("generation raised", raised, delta > 0)


def _is(what: str, seen: Callable[[Judge], Any]) -> Callable[[Judge, Any], Mismatches]:
    return lambda judge, value: differs(what, value, seen(judge))


_disabled = _is("auto_disabled", lambda judge: judge.scene.row()["status"] == "auto_disabled")
_asked = _is("requests", lambda judge: judge.scene.asked())


def _pause(judge: Judge, span: float) -> Mismatches:
    yield from pauses(span, judge.pause)


_SCENE: dict[str, Callable[[Judge, Any], Mismatches]] = {
    "status": lambda judge, word: judge.status(word),
    "provider_status": lambda judge, word: judge.status(word),
    "auto_disabled": _disabled,
    "disabled": _disabled,
    "circuit": lambda judge, word: judge.circuit(word),
    "circuit_open": lambda judge, wanted: differs("circuit open", wanted, judge.lane.get("open_until") is not None),
    "open_for_s": _pause,
    "open_s": _pause,
    "opens_for_s": _pause,
    "requests_sent": _asked,
    "requests": _asked,
    "provider_calls": _asked,
    "calls": _asked,
    "cache_writes": _is("kept", lambda judge: sum(max(one.kept, 0) for one in judge.story.seen)),
    "cache_rows": _is("rows", lambda judge: judge.scene.kept),
    "cross_hits": _is("cross hits", lambda judge: sum(one.asked == 0 for one in judge.asking)),
    "cache_hits": _is("hits", lambda judge: sum(one.asked == 0 for one in judge.asking)),
    "cache_writes_by_widget": _is("kept", lambda judge: sum(one.kept for one in judge.asking if "widget" in one.step)),
    "agent_status": _is("for agents", lambda judge: judge.agents()),
    "agents_affected": _is("agents affected", lambda judge: judge.agents() in ("disabled", "circuit_open")),
    "disable_counter": _is("counted", lambda judge: judge.lane.get("hard_failures", 0)),
    "transient_failures": _is("counted", lambda judge: judge.lane.get("transient_failures", 0)),
    "failure_counter_delta": _is("counted", lambda judge: judge.scene.count("knowledge_circuits")),
    "config_generation": _raised,
    "statuses": _is("words", lambda judge: [one.word for one in judge.asking]),
    "http_statuses": _is("statuses", lambda judge: [one.answer.status for one in judge.story.seen]),
}


# --- of one step


def _of(seen: Seen, measure: str, value: Any, key: str) -> Mismatches:
    called = seen.asked > 0
    measures: dict[str, Any] = {
        "results": len(seen.results),
        "http_status": seen.answer.status,
        "cache_hit": not called and seen.answer.status == 200,
        "hit": not called and seen.answer.status == 200,
        "cached": not called and seen.answer.status == 200,
        "provider_called": called,
        "called": called,
        "called_again": called,
        "called_provider": called,
        "requests_sent": seen.asked,
        "cache_writes": seen.kept,
        "status": seen.word,
        "failure_class": CLASSES.get(str(seen.word), seen.word),
        "treated_as_empty": seen.word == "ok" and not seen.results,
        "refused": seen.answer.status >= 400,
    }
    if measure in measures:
        wanted = 422 if measure == "http_status" and value == 400 else value
        yield from differs(key, wanted, measures[measure])
    elif measure in ("", "call", "query", "result", "request", "answer"):
        yield from _in_words(seen, key, value)
    else:
        raise Unreadable(key)


def _in_words(seen: Seen, key: str, value: Any) -> Mismatches:
    words = str(value).lower().strip()
    code = re.search(r"\b[2-5]\d\d\b", words)
    if isinstance(value, bool):
        raise Unreadable(f"{key}: {value}")
    if code:
        wanted = 422 if code[0] == "400" else int(code[0])
        yield from differs(key, wanted, seen.answer.status)
    elif words in WORDS:
        yield from differs(key, words, seen.word)
    elif re.search(r"\bno results|\bempty|\bnothing", words):
        yield from differs(f"{key}: results", [], seen.results)
    elif re.search(r"not (?:called|asked)", words):
        yield from differs(f"{key}: requests", 0, seen.asked)
    elif re.search(r"\bhit\b|from (?:the )?cache", words):
        yield from differs(f"{key}: requests", (0, 200), (seen.asked, seen.answer.status))
    elif re.search(r"\bmiss\b|\bcalled|\basked|fresh", words):
        yield from differs(f"{key}: asked", True, seen.asked > 0)
    elif re.search(r"refuse|reject|forbidden|unauthori[sz]ed", words):
        yield from differs(f"{key}: refused", True, seen.answer.status >= 400)
    else:
        raise Unreadable(f"{key}: {value}")
