"""Texts of thousands of lines, made so that matching them could take their product."""

from __future__ import annotations

import pytest

from chalicelib.domain.line_matching import match


class Line:
    """A line that counts how often it is compared."""

    compared = 0

    def __init__(self, text: str) -> None:
        self.text = text

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        Line.compared += 1
        return isinstance(other, Line) and self.text == other.text


SIZE = 4000
HOSTILE = {
    "equal lines": (["a"] * SIZE, ["a"] * (SIZE - 7) + ["b"]),
    "two lines in turn": (["a", "b"] * (SIZE // 2), ["b", "a"] * (SIZE // 2)),
    "two periods": ([f"{n % 7}" for n in range(SIZE)], [f"{n % 11}" for n in range(SIZE)]),
    "reversed": ([f"{n}" for n in range(SIZE)], [f"{n}" for n in reversed(range(SIZE))]),
    "few of many": (["a"] * 10 + ["b"] * SIZE, ["b"] * SIZE + ["a"] * 10),
    "nothing in common": ([f"old {n}" for n in range(SIZE)], [f"new {n}" for n in range(SIZE)]),
    "gaps everywhere": (
        [line for n in range(SIZE // 4) for line in (f"{n}", "x", "y", "x")],
        [line for n in range(SIZE // 4) for line in (f"{n}", "y", "x", "y")],
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_work_grows_with_the_texts_and_not_with_their_product(kind: str) -> None:
    old, new = ([Line(text) for text in lines] for lines in HOSTILE[kind])
    Line.compared = 0
    match(old, new, steps=10_000)
    assert Line.compared < 10_000 + 20 * (len(old) + len(new)), "the product is 16 000 000"
