"""Texts as long as may be, cut into chunks."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest

from chalicelib.domain.chunking import chunk
from tests.unit.domain.test_chunking import check_form


def many_lines(seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    while True:
        yield " ".join("".join(rng.choices("abcdefgh", k=rng.randint(2, 9))) for _ in range(rng.randint(1, 40))) + "."


@pytest.mark.parametrize("unit", ["\u0301", "\U0001f1e9", "\u200d", "a\u0301" * 3, "\u0600", "\U0001f468\u200d", "क्"])
def test_no_run_of_odd_characters_takes_more_than_linear_time(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    started = time.monotonic()
    check_form(text, chunk(text))
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("length", [1_049_999, 1_980_000])
def test_a_page_of_the_largest_size_is_not_too_many_chunks(length: int) -> None:
    lines = many_lines(1)
    text = "\n".join(next(lines) for _ in range(1500))
    text = (text * (length // len(text) + 1))[:length].strip()
    assert len(chunk(text)) <= 2000
