from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.domain.policy import Policy
from chalicelib.ui.policy_form import PolicyForm, of_answers, of_policy, patch

OWN = Policy(
    "t",
    "internal",
    datetime(2027, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC),
    frozenset({"editor", "a, b"}),
    frozenset({"operational"}),
)
AS_SHOWN: dict[str, Any] = {
    "digest": "d",
    "sensitivity": "internal",
    "expires_at": "2027-01-02T03:04:05",
    "roles": "some",
    "role_names": "a, b\r\neditor",
    "purposes": "some",
    "purpose_names": ["operational"],
}


def changed(own: Policy | None, **answers: Any) -> dict[str, Any]:
    return patch(of_policy(own), of_answers(PolicyForm(**{"digest": "d", **answers})))


def test_a_form_sent_back_as_it_was_changes_nothing() -> None:
    assert changed(OWN, **AS_SHOWN) == {}
    assert changed(None) == {}
    assert changed(Policy("t", expires_at=datetime(2027, 1, 2, 3, 4, tzinfo=UTC)), expires_at="2027-01-02T03:04") == {}


@pytest.mark.parametrize(
    ("answer", "field", "value"),
    [
        ({"sensitivity": "restricted"}, "sensitivity", "restricted"),
        ({"expires_at": ""}, "expires_at", None),
        ({"expires_at": "2028-05-06T07:08"}, "expires_at", "2028-05-06T07:08:00Z"),
        ({"roles": "any"}, "permitted_roles", None),
        ({"role_names": " \r\n"}, "permitted_roles", []),
        ({"role_names": "x\r\n y \r\nx"}, "permitted_roles", ["x", "y"]),
        ({"purposes": "any"}, "allowed_purposes", None),
        ({"purpose_names": []}, "allowed_purposes", []),
    ],
)
def test_what_is_answered_otherwise_and_nothing_else_is_a_patch(answer: dict[str, Any], field: str, value: Any) -> None:
    assert changed(OWN, **{**AS_SHOWN, **answer}) == {field: value}


def test_nobody_and_anybody_are_different() -> None:
    assert of_policy(Policy("t", permitted_roles=frozenset())).roles == []
    assert of_policy(Policy("t")).roles is None
    assert changed(None, roles="some") == {"permitted_roles": []}
