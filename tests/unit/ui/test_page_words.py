from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from chalicelib.api.firewall import DecisionCode
from chalicelib.domain import firewall_mode
from chalicelib.domain.evaluation import Request, evaluate
from chalicelib.domain.firewall_mode import Mode
from chalicelib.domain.policy import Policy
from chalicelib.services.explanation import Explanation
from chalicelib.ui import words
from chalicelib.ui.differences import Difference, differences

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def ask(counts: Policy, mode: Mode = Mode.ENFORCE, **request: str) -> Explanation:
    asked = Request("t", **{"purpose": "operational", **request})
    decision = evaluate(counts, asked, NOW)
    return Explanation(counts, asked, decision, mode, firewall_mode.surface(mode, decision))


def states(asked: Explanation) -> list[str]:
    return [check.state for check in words.checks(asked)]


def test_every_decision_has_words() -> None:
    assert list(words.DECISIONS) == list(get_args(DecisionCode))
    assert words.decision("block_of_tomorrow") == "block_of_tomorrow"


@pytest.mark.parametrize(
    ("counts", "request_", "place", "said"),
    [
        (Policy("t", expires_at=NOW), {}, 0, "expired at 2026-11-30T00:00:00Z"),
        (Policy("other"), {}, 1, "another tenant"),
        (Policy("t", permitted_roles=frozenset({"b", "a"})), {"role": "c"}, 2, "read by a, b, and the role “c” is not"),
        (Policy("t", permitted_roles=frozenset()), {}, 2, "read by nobody, and a reader without a role is not"),
        (Policy("t", validation_status="refuted"), {}, 2, "refuted"),
        (Policy("t", allowed_purposes=frozenset()), {}, 3, "for no purpose at all, and “operational” is not"),
        (Policy("t", "restricted"), {}, 4, "operator's token"),
    ],
)
def test_the_first_check_that_fails_is_told_in_words(
    counts: Policy, request_: dict[str, str], place: int, said: str
) -> None:
    asked = ask(counts, **request_)
    assert said in words.because(asked)
    assert states(asked) == ["passed"] * place + ["failed"] + ["unasked"] * (4 - place)


def test_what_is_allowed_passed_every_check() -> None:
    asked = ask(Policy("t", "restricted", NOW + timedelta(seconds=1)), operator="Robin")
    assert states(asked) == ["passed"] * 5
    assert words.because(asked) == ""
    assert words.effect(asked) == "The chunk is served, with a proof."


def test_the_effect_is_that_of_the_mode_in_force() -> None:
    soft, hard = Policy("t", "restricted"), Policy("t", validation_status="refuted")
    assert [("not served" in words.effect(ask(soft, mode))) for mode in Mode] == [False, False, True]
    assert "with a warning" in words.effect(ask(soft, Mode.ADVISORY))
    assert all(words.effect(ask(hard, mode)) == "The chunk is served in no mode." for mode in Mode)


def test_a_change_names_the_fields_that_differ() -> None:
    before = {"sensitivity": "public", "roles": None, "same": 1, "gone": "x"}
    after = {"sensitivity": "restricted", "roles": [], "same": 1, "new": ["a", "b"]}
    assert differences(before, after) == [
        Difference("gone", "x", ""),
        Difference("new", "", "a, b"),
        Difference("roles", "none set", "none at all"),
        Difference("sensitivity", "public", "restricted"),
    ]
    assert differences(None, {"rows": 2}) == [Difference("rows", "", "2")]
    assert differences(None, None) == []
