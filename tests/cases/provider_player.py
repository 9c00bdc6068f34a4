"""Plays the cases of knowledge providers: the real app and Postgres, real sockets, the guard behind a stub resolver.

Larder's choices where a case leaves one, or where its words and Larder's differ:

- A 400 on an admin or consumer route is Larder's 422. Nothing is deduplicated across providers.
- Inside one priority the scored results of scoring providers go first, the others follow in turns.
- A field that is over-long fails the whole answer if it is required, and counts as absent if it is optional.
- A second rotation inside an overlap is refused, but for one that ends every older secret at once.
- 429 without Retry-After counts towards the circuit like any transient failure; the wait is the circuit's own.
- Unknown fields of a request are refused (422).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.cases import provider_core, provider_verifier
from tests.cases.provider_stage import stage
from tests.cases.provider_watched import Watched
from tests.cases.report import Case, Verdict, skipped
from tests.cases.ssrf_words import Unreadable
from tests.knowledge import serving_app


def play(case: Case) -> Verdict:
    """Judge one case. What its words ask for and nobody here understands is skipped, with the reason.

    So is a case of which anything was left unread: what was not done or not compared must not pass.
    """
    given, expected = Watched(case["input"]), Watched(case["expected"])
    try:
        with serving_app(stage()):
            verdict = _player(case["input"])(given, expected)
    except Unreadable as unread:
        return skipped(f"no meaning for the words {str(unread)!r}")
    if given.unread:
        return skipped(f"nothing was done with {given.unread}")
    if expected.unread and verdict.status == "PASS":
        return skipped(f"nothing was compared with {expected.unread}")
    return verdict


def _player(given: dict[str, Any]) -> Callable[[dict[str, Any], dict[str, Any]], Verdict]:
    return (
        provider_verifier.play if given.get("role") == "provider-verifier" or "header" in given else provider_core.play
    )
