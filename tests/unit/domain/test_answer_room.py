from __future__ import annotations

import json
from typing import Any

import pytest

from chalicelib.domain.answer_room import MAX_ANSWER, carried, fitting
from chalicelib.knowledge.contract import MAX_LIMIT, WireResult


@pytest.mark.parametrize("text", ["x", "\x01", '"', "\\", "\n", "\u2028", "\U0001f36f", "\x7f"])
def test_as_many_as_fit_are_kept_and_in_their_order(text: str) -> None:
    results = [{"title": f"{number} {text * 100}"} for number in range(20)]
    for room in (0, 500, 2_000, 5_000, 10**6):
        kept = fitting(results, room)
        assert kept == results[: len(kept)]
        told = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
        assert carried(told) <= len(json.dumps(told)) <= max(room, 4)
    assert (fitting(results, 0), fitting(results)) == ([], results)


@pytest.mark.parametrize(
    ("widest", "least"), [("\x01", MAX_LIMIT), ('"', MAX_LIMIT), ("蜂", MAX_LIMIT), ("\U0001f36f", 40)]
)
def test_the_largest_results_that_the_contract_takes_fit(widest: str, least: int) -> None:
    """Every text as long as may be. Of characters of four bytes alone, which Python 3.11 escapes, most fit."""
    longest: dict[str, Any] = {
        name: widest * rule["maxLength"]
        for name, field in WireResult.model_json_schema(by_alias=True)["properties"].items()
        for rule in field.get("anyOf", [field])
        if "maxLength" in rule
    }
    assert len(longest) == 9, "a text without an end could be as long as an answer"
    results = [{**longest, "providerName": widest * 200}] * MAX_LIMIT
    kept = fitting(results)
    assert least <= len(kept) <= MAX_LIMIT
    assert len(json.dumps(json.dumps(kept, ensure_ascii=False))) < MAX_ANSWER
