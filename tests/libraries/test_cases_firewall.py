from pathlib import Path

import pytest

from tests.cases.firewall_player import play
from tests.cases.report import Case, failed, read_cases

FOLDER = Path(__file__).parents[1] / "cases"
CASES = [case for name in ("firewall", "firewall_more") for case in read_cases(FOLDER / f"{name}.jsonl")]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_firewall_case(case: Case) -> None:
    verdict = play(case)
    if verdict.status == "SKIP":
        pytest.skip(verdict.why)
    assert verdict.status == "PASS", f"{verdict.why} ({case['why']})"


def test_the_player_fails_a_case_that_asks_for_something_else() -> None:
    case = next(case for case in CASES if case["id"] == "dec-role-02")
    assert play({**case, "expected_decision": "allow"}).status == failed("").status
