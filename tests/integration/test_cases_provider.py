"""Every case of the library of knowledge providers, played on the real app, Postgres and real sockets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.provider_player import play
from tests.cases.report import Case, read_cases

pytestmark = pytest.mark.usefixtures("_hurried")

FOLDER = Path(__file__).parents[1] / "cases"
CASES = {case["id"]: case for name in ("provider", "provider_more") for case in read_cases(FOLDER / f"{name}.jsonl")}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_provider_case(case: Case) -> None:
    verdict = play(case)
    if verdict.status == "SKIP":
        pytest.skip(verdict.why)
    assert verdict.status == "PASS", f"{verdict.why} ({case['why']})"


@pytest.mark.parametrize(
    ("ident", "expected"),
    [
        ("prov-002", {"verify": "reject"}),
        ("prov-003", {"http_status": 400}),
        ("prov-008", {"search_executed": True}),
        ("prov-035", {"second": "accept"}),
        ("prov-054", {"p2_keys": ["query"]}),
        ("prov-060", {"allowed": [True] * 6}),
        ("prov-066", {"results": 2}),
        ("prov-074", {"extra_fields_forwarded": False, "results": 0}),
        ("prov-085", {"urls": [None] * 5}),
        ("prov-090", {"health_warning": False}),
        ("prov-104", {"result_keys": ["title"]}),
        ("prov-105", {"results": 2, "body_must_not_contain": ["results"]}),
        ("prov-110", {"failure_class": "contract"}),
        ("prov-113", {"not_called_for_s": 60}),
        ("prov-123", {"probes": 2}),
        ("prov-128", {"order": ["p1", "p2"]}),
        ("prov-136", {"localeFallback": True}),
        ("prov-147", {"cross_hits": 1}),
        ("prov-154", {"secret_in_body": [True, True, True]}),
    ],
)
def test_the_player_fails_a_case_that_asks_for_something_else(ident: str, expected: dict[str, Any]) -> None:
    case = CASES[ident]
    assert play({**case, "expected": {**case["expected"], **expected}}).status == "FAIL"


def test_words_without_a_meaning_are_no_pass() -> None:
    case = CASES["prov-066"]
    assert play({**case, "expected": {"colour": "blue"}}).status == "SKIP"
    assert play({**case, "input": {"role": "core", "weather": "fine"}}).status == "SKIP"
