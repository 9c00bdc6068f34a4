from pathlib import Path

import pytest

from tests.cases.generator_words import Unreadable, generate
from tests.cases.report import Case, read_cases
from tests.cases.web_ingest_player import play

CASES = list(read_cases(Path(__file__).parents[1] / "cases" / "web_ingest.jsonl"))
PURE = {"page", "page_generator", "first_fetch", "text", "text_pair", "text_generator", "identity", None}


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["input"].get("kind") in PURE and "stored_chunks" not in case["expected"]],
    ids=lambda case: case["id"],
)
def test_web_case(case: Case) -> None:
    verdict = play(case)
    if verdict.status == "SKIP":
        pytest.skip(verdict.why)
    assert verdict.status == "PASS", f"{verdict.why} ({case['why']})"


def by_id(ident: str) -> Case:
    return next(case for case in CASES if case["id"] == ident)


@pytest.mark.parametrize(
    ("ident", "wrong"),
    [
        ("web-001", {"text": "something else"}),
        ("web-012", {"outcome": "stored"}),
        ("web-038", {"removed": 7}),
        ("web-052", {"chunks": 3, "rule": ""}),
        ("web-116", {"night_id": "2026-12-01"}),
        ("web-118", {"runs": 2}),
        ("web-133", {"same_source": False}),
    ],
)
def test_the_player_fails_a_case_that_asks_for_something_else(ident: str, wrong: dict[str, object]) -> None:
    assert play({**by_id(ident), "expected": wrong}).status == "FAIL"


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("'ab' x 2 + U+1F680 + tail", "abab🚀end"),
        ("3 x ('a' + 'b')", "ababab"),
        ("'\\n' * 2 + \"it's\"", "\n\nit's"),
        ("numbers 8..11 joined by spaces", "8 9 10 11"),
        ("U+0061 U+0301 sequences, 5 code points", "a\u0301a\u0301a"),
        ("1,000 nested <b>", "<b>" * 1000 + "deep" + "</b>" * 1000),
    ],
)
def test_generators_are_read(words: str, value: str) -> None:
    assert generate(words, {"tail_b64": "ZW5k"}) == value.encode()


def test_words_that_are_not_understood_are_not_guessed() -> None:
    with pytest.raises(Unreadable):
        generate("a good deal of text", {})
