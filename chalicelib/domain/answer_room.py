"""How much one answer can carry: Lambda takes 6 MiB, in which an answer's text is a string of JSON again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

MAX_ANSWER = 6_200_000  # bytes; what is left of 6 MiB is for headers
ROOM = MAX_ANSWER - 100_000
"""For the results of an answer; the rest is for what stands beside them, such as how 32 providers did."""

BESIDE = 10_000
"""Bytes of an answer with one long text in it that are not that text."""


def carried(text: str) -> int:
    """The bytes that ``text`` takes on its way out."""
    return len(json.dumps(text, ensure_ascii=False).encode())


def carries(body: str) -> bool:
    """Whether this is short enough for an answer's body."""
    return _within(body, MAX_ANSWER)


def fits(text: str) -> bool:
    """Whether an answer takes this text beside little else."""
    return _within(json.dumps(text, ensure_ascii=False), MAX_ANSWER - BESIDE)


def fitting(results: Sequence[dict[str, Any]], room: int = ROOM) -> list[dict[str, Any]]:
    """The first of ``results`` that fit into ``room`` bytes together: all of them, unless they are strangely large.

    Measured with everything beyond ASCII escaped, as the runtime of Python 3.11 sends it.
    """
    kept = []
    for result in results:
        room -= len(json.dumps(json.dumps(result, ensure_ascii=False))) + 1
        if room < 0:
            break
        kept.append(result)
    return kept


def _within(body: str, most: int) -> bool:
    return len(body) * 6 <= most or carried(body) <= most
