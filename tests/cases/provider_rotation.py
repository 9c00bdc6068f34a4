"""Plays rotations of a secret at their times: which are refused, and which secrets sign afterwards."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from chalicelib.knowledge import signing
from tests.cases.provider_clock import seconds
from tests.cases.provider_compare import Given, Mismatches, by_table, differs
from tests.cases.provider_scene import Scene
from tests.cases.ssrf_words import Unreadable
from tests.scripted_provider import answer, result

OVERLAP = 86_400.0


def rotations(given: Given, expected: Given) -> Mismatches:
    """Events "rotate … at t0+1h", with an overlap of their own or the case's, and requests between them."""
    usual = seconds(given.get("overlap_seconds", OVERLAP))
    with Scene() as scene:
        scene.add(answer(result()))
        one = scene.registered["p1"]
        secrets, until = [one["secret"]], None
        answers: list[int] = []
        wanted: list[int] = []
        for event in given["events"]:
            words = scene.clock.move(str(event))
            if not re.match(r"(?:second |another |first )?rotat", words, re.I):
                _pass(words)
                continue
            overlap = _overlap(words, usual)
            body = {} if overlap == OVERLAP else {"overlap_seconds": int(overlap)}
            rotated = scene.house.act(one, "rotate-secret", body)
            refused = bool(overlap) and until is not None and scene.clock.now < until
            wanted.append(409 if refused else 200)
            answers.append(rotated.status)
            if rotated.status == 200:
                secrets.append(rotated.json["secret"])
                until = scene.clock.now + timedelta(seconds=overlap) if overlap else None
        yield from differs("answers", wanted, answers)
        signers = signed_by(scene, secrets)
        yield from differs("signers", _good(secrets, until, scene.clock.now), signers)
        yield from _compare(expected, answers, signers, secrets)


def _compare(expected: Given, answers: list[int], signers: list[str], secrets: list[str]) -> Mismatches:
    names = dict(zip(reversed(secrets), ("newest", "previous", "oldest"), strict=False))
    emitted = [names.get(secret, "older") for secret in signers]
    nth = {word: _nth(answers, number) for word, number in (("first", 0), ("second", 1), ("third", 2), ("last", -1))}
    if set(expected) <= {"rule", "note"} and expected:
        return
    yield from by_table(
        {
            "emitted": lambda words: differs("emitted", words, emitted),
            "v1_count": lambda count: differs("signatures", count, len(emitted)),
            "signatures": lambda count: differs("signatures", count, len(emitted)),
            "http_status": lambda code: differs("status", code, answers[-1]),
            "http_statuses": lambda codes: differs("statuses", codes, answers),
            "statuses": lambda codes: differs("statuses", codes, answers),
            "accepted": lambda value: differs("accepted", value, [code == 200 for code in answers]),
            "previous_secret": lambda value: differs("previous", value is None, "previous" not in emitted),
            "old_secret": lambda word: differs("old", bool(re.search("valid|good|works", str(word))), len(emitted) > 1),
            **{word: _judge(word, code) for word, code in nth.items()},
            **{f"{word}_rotation": _judge(word, code) for word, code in nth.items()},
            **{f"{word}_status": _judge(word, code) for word, code in nth.items()},
        },
        expected,
    )


def _judge(word: str, code: int | None) -> Any:
    def compare(value: Any) -> Mismatches:
        found = re.search(r"\d{3}", str(value))
        refused = re.search(r"refuse|reject|conflict", str(value), re.I)
        accepted = re.search(r"accept|ok|allow|rotated", str(value), re.I)
        if code is None or not (found or refused or accepted):
            raise Unreadable(f"{word}: {value}")
        if found:
            yield from differs(word, int(found[0]), code)
        else:
            yield from differs(word, 409 if refused else 200, code)

    return compare


def _nth(answers: list[int], number: int) -> int | None:
    return answers[number] if -len(answers) <= number < len(answers) else None


def _overlap(words: str, usual: float) -> float:
    """An overlap in seconds, however the event says it."""
    if re.search(r"(?:no|without(?: an?)?|zero) overlap|immediate|at once", words, re.I):
        return 0
    found = re.search(r"overlap(?:_seconds)?[ =:]*(?:of )?(\d+ ?[a-z]*)", words, re.I)
    return seconds(found[1]) if found else usual


def _good(secrets: list[str], until: datetime | None, now: datetime) -> list[str]:
    """The newest, and the one before it inside its overlap."""
    return secrets[-1:] + (secrets[-2:-1] if until is not None and now < until else [])


def _pass(words: str) -> None:
    if words and not re.match(r"requests?|calls?|retrieve|query|ask|search|sign|check", words, re.I):
        raise Unreadable(words)


def signed_by(scene: Scene, secrets: list[str]) -> list[str]:
    """Those of ``secrets`` that sign the next request, the newest first."""
    scene.house.ask()
    asked = scene.providers["p1"].questions[-1]
    signature = signing.parse(asked.headers[signing.SIGNATURE_HEADER.lower()])
    found = [one for one in reversed(secrets) if signing.matches(signature, [one], asked.body)]
    assert len(found) == len(signature.values), "a signature by a secret that nobody was given"
    return found
