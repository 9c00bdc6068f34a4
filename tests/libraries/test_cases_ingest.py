from pathlib import Path

import pytest

from tests.cases.ingest_player import play
from tests.cases.report import Case, failed, read_cases

FOLDER = Path(__file__).parents[1] / "cases"
CASES = [case for name in ("ingest", "ingest_more") for case in read_cases(FOLDER / f"{name}.jsonl")]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_ingest_case(case: Case) -> None:
    verdict = play(case)
    if verdict.status == "SKIP":
        pytest.skip(verdict.why)
    assert verdict.status == "PASS", f"{verdict.why} ({case['why']})"


def test_the_player_fails_a_case_that_asks_for_something_else() -> None:
    case = next(case for case in CASES if case["id"] == "sec-npm-prose")
    start, end = case["spans"][0]
    for other in (
        {"expected": {"outcome": "admit", "gate": None}},
        {"spans": [[start, end - 1]]},
        {"labels": ["jwt"]},
        {"text_without_secrets": "something else"},
    ):
        assert play({**case, **other}).status == failed("").status
