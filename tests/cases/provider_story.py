"""Plays a story: steps one after the other, and what is expected of each, of the last, and of all together."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.cases import provider_trials, provider_words
from tests.cases.provider_compare import Given, Mismatches
from tests.cases.provider_judging import Judge, generation_of
from tests.cases.provider_scene import Scene
from tests.cases.provider_steps import expanded, plain, take
from tests.cases.provider_tale import Story
from tests.cases.provider_watched import UNJUDGED
from tests.cases.ssrf_words import Unreadable


def play(given: Given, expected: Given) -> Mismatches:
    """Steps in ``sequence``, ``events`` or ``steps``; a second passes after each behaviour of a provider."""
    steps: list[Any] = given.get("sequence") or given.get("events") or given.get("steps") or []
    with Scene() as scene:
        says = provider_words.response(given["response"]) if "response" in given else plain()
        more = {"capabilities": given["capabilities"]} if "capabilities" in given else {}
        scene.add(says, profile=given.get("profile") or "customer_safe", **more)
        story = Story(scene, str(given.get("route") or "agent"))
        generation = generation_of(scene)
        for step in expanded(steps):
            take(story, step)
            if not story.seen[-1].asks or not str(step).startswith(("agent", "assistant", "widget", "tenant")):
                scene.clock.elapsed += timedelta(seconds=1)
        judge = Judge(story, scene.clock.now, generation)
        if not set(expected) - UNJUDGED:
            raise Unreadable(f"expected {sorted(expected)}")
        for key, value in expected.items():
            if key not in UNJUDGED:
                yield from judge.compare(key, value)


def events(given: Given, expected: Given) -> Mismatches:
    """Events are a story, unless what matters is what is logged of them."""
    return (provider_trials.quiet if "log_must_not_contain" in expected else play)(given, expected)
