"""Texts whose difference would take too long to find line by line."""

from __future__ import annotations

from chalicelib.domain.diff import diff
from tests.unit.domain.test_diff import rebuilt


def test_texts_that_have_only_short_lines_in_common_are_replaced_whole_and_the_diff_says_so() -> None:
    old, new = "".join(f"{n % 7}\n" for n in range(4000)), "".join(f"{n % 11}\n" for n in range(4000))
    changes = diff(old, new)
    assert changes.coarse
    assert rebuilt(old, changes) == new
