from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.evaluation import Request, evaluate
from chalicelib.domain.policy import Policy

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
FAILS_ALL = Policy(
    tenant_id="tenant-a",
    sensitivity="restricted",
    expires_at=NOON,
    permitted_roles=frozenset({"analyst"}),
    allowed_purposes=frozenset({"audit_review"}),
)
ASKER = Request("tenant-b", role="coder", purpose="training_data")


def test_the_first_check_that_fails_speaks() -> None:
    steps = [
        FAILS_ALL,
        current := replace(FAILS_ALL, expires_at=None),
        owned := replace(current, tenant_id="tenant-b"),
        for_any_role := replace(owned, permitted_roles=None),
        for_any_purpose := replace(for_any_role, allowed_purposes=None),
        replace(for_any_purpose, sensitivity="internal"),
    ]
    assert [evaluate(policy, ASKER, NOON).code for policy in steps] == [
        "block_expired",
        "block_tenant_mismatch",
        "block_role_not_permitted",
        "block_purpose_not_allowed",
        "block_sensitivity_tier",
        "allow",
    ]


def test_a_chunk_is_served_until_the_instant_of_its_expiry_and_not_at_it() -> None:
    policy = Policy("t", expires_at=NOON)
    assert evaluate(policy, Request("t"), NOON - timedelta(microseconds=1)).allowed
    assert evaluate(policy, Request("t"), NOON).code == "block_expired"


@pytest.mark.parametrize("tenant", ["", "tenant-b", "Tenant-A", "tenant-a "])
def test_another_tenant_is_a_hard_block_that_names_no_tenant(tenant: str) -> None:
    decision = evaluate(Policy("tenant-a"), Request(tenant), NOON)
    assert (decision.code, decision.hard) == ("block_tenant_mismatch", True)
    assert "tenant-a" not in decision.reason


def test_a_blank_tenant_matches_nothing_not_even_a_blank_one() -> None:
    assert evaluate(Policy(""), Request(""), NOON).code == "block_tenant_mismatch"
    assert evaluate(Policy(""), Request(""), NOON, strict_tenant=False).allowed


def test_a_refuted_chunk_is_shut_for_everybody_and_hard() -> None:
    policy = Policy("t", validation_status="refuted", permitted_roles=None)
    decision = evaluate(policy, Request("t", role="lead", operator="marta"), NOON)
    assert (decision.code, decision.hard) == ("block_role_not_permitted", True)


def test_an_end_does_not_open_what_is_refuted_or_anothers() -> None:
    for policy, request, hard in (
        (Policy("t", expires_at=NOON, validation_status="refuted"), Request("t"), True),
        (Policy("t", expires_at=NOON), Request("u"), True),
        (Policy("", expires_at=NOON), Request(""), True),
        (Policy("t", expires_at=NOON), Request("t"), False),
    ):
        decision = evaluate(policy, request, NOON)
        assert (decision.code, decision.hard) == ("block_expired", hard)


def test_role_and_tier_blocks_are_soft() -> None:
    assert not evaluate(Policy("t", permitted_roles=frozenset()), Request("t"), NOON).hard
    assert not evaluate(Policy("t", "restricted"), Request("t"), NOON).hard


@pytest.mark.parametrize("purpose", ["marketing", "Operational", " operational"])
def test_a_purpose_that_nobody_knows_is_blocked_by_an_open_list_too(purpose: str) -> None:
    listed = Policy("t", allowed_purposes=frozenset({purpose}))
    assert evaluate(Policy("t"), Request("t", purpose=purpose), NOON).code == "block_purpose_not_allowed"
    assert evaluate(listed, Request("t", purpose=purpose), NOON).code == "block_purpose_not_allowed"


@pytest.mark.parametrize(
    "policy", [Policy("t", "restricted"), Policy("t", "top"), Policy("t", "public", content_class="credentials")]
)
def test_restricted_opens_for_an_operator_alone(policy: Policy) -> None:
    assert evaluate(policy, Request("t"), NOON).code == "block_sensitivity_tier"
    assert evaluate(policy, Request("t", operator="marta"), NOON).allowed
