"""Every case of the guard's library, played over real sockets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.report import Case, read_cases
from tests.cases.ssrf_player import play

LIBRARY = Path(__file__).parents[1] / "cases" / "ssrf.jsonl"


@pytest.mark.parametrize("case", list(read_cases(LIBRARY)), ids=lambda case: case["id"])
def test_the_guard_meets_the_case(case: Case) -> None:
    verdict = play(case)
    if verdict.status == "SKIP":
        pytest.skip(verdict.why)
    assert verdict.status == "PASS", f"{case['title']}: {verdict.why}"
