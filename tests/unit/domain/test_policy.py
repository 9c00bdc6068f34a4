import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.evaluation import Request, evaluate
from chalicelib.domain.policy import (
    PURPOSES,
    TIERS,
    VALIDATION_STATUSES,
    Policy,
    as_json,
    digest,
    effective_tier,
    instant,
    strictest,
    tier_purposes,
)
from chalicelib.domain.provenance import originate

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
ROLES = ("analyst", "coder", "lead")

policies = st.builds(
    Policy,
    tenant_id=st.just("tenant-a"),
    sensitivity=st.sampled_from(["", "Secret", *TIERS]),
    expires_at=st.none() | st.integers(-2, 2).map(lambda days: NOON + timedelta(days=days)),
    permitted_roles=st.none() | st.frozensets(st.sampled_from(ROLES)),
    allowed_purposes=st.none() | st.frozensets(st.sampled_from(sorted(PURPOSES))),
    content_class=st.sampled_from(["", "decision", "credentials"]),
    validation_status=st.sampled_from(VALIDATION_STATUSES),
)
requests = st.builds(
    Request,
    tenant_id=st.just("tenant-a"),
    role=st.sampled_from(["", *ROLES]),
    purpose=st.sampled_from(["", *sorted(PURPOSES)]),
    operator=st.sampled_from(["", "marta"]),
)


@pytest.mark.parametrize(
    ("sensitivity", "content_class", "tier"),
    [
        ("", "", "internal"),
        ("public", "", "public"),
        ("public", "credentials", "restricted"),
        ("Restricted", "", "restricted"),
        ("bogus", "", "restricted"),
        ("public", "decision", "public"),
    ],
)
def test_the_tier_that_counts(sensitivity: str, content_class: str, tier: str) -> None:
    assert effective_tier(sensitivity, content_class) == tier


def test_only_confidential_and_restricted_have_default_purposes() -> None:
    assert [tier_purposes(tier) for tier in TIERS] == [None, None, *[frozenset({"operational", "audit_review"})] * 2]


@settings(max_examples=60, deadline=None)
@given(policies, policies, requests)
def test_the_strictest_of_two_lets_nothing_through_that_one_of_them_blocks(
    one: Policy, other: Policy, request: Request
) -> None:
    merged = evaluate(strictest(one, other), request, NOON)
    each = [evaluate(policy, request, NOON) for policy in (one, other)]
    assert merged.allowed == all(decision.allowed for decision in each)


@settings(max_examples=50, deadline=None)
@given(policies, policies)
def test_merging_is_commutative_but_for_provenance_and_class_names(one: Policy, other: Policy) -> None:
    first, second = strictest(one, other), strictest(other, one)
    assert replace(first, content_class="") == replace(second, content_class="")
    assert first.tier == second.tier


def test_roles_that_have_nothing_in_common_leave_nobody() -> None:
    one = Policy("t", permitted_roles=frozenset({"coder"}))
    other = Policy("t", permitted_roles=frozenset({"lead"}))
    assert strictest(one, other).permitted_roles == frozenset()


def test_policies_of_two_tenants_are_never_merged() -> None:
    with pytest.raises(ValueError, match="different tenants"):
        strictest(Policy("a"), Policy("b"))


def test_the_digest_tells_null_from_an_empty_list() -> None:
    anyone, nobody = Policy("t"), Policy("t", permitted_roles=frozenset())
    assert as_json(anyone)["permitted_roles"] is None
    assert as_json(nobody)["permitted_roles"] == []
    assert digest(anyone) != digest(nobody)


def test_the_digest_is_of_the_effective_policy_and_of_the_instant() -> None:
    vienna = timezone(timedelta(hours=2))
    assert digest(Policy("t", "")) == digest(Policy("t", "internal"))
    assert digest(Policy("t", "bogus")) == digest(Policy("t", "restricted"))
    assert digest(Policy("t", expires_at=NOON)) == digest(Policy("t", expires_at=NOON.astimezone(vienna)))
    assert digest(Policy("t", expires_at=NOON)) != digest(Policy("t", expires_at=NOON + timedelta(microseconds=1)))


@pytest.mark.parametrize(
    "changed",
    [
        Policy("u"),
        Policy("t", "public"),
        Policy("t", allowed_purposes=frozenset()),
        Policy("t", content_class="decision"),
        Policy("t", validation_status="confirmed"),
        Policy("t", provenance=originate("chat_turn")),
        Policy("t", provenance=originate("unknown", url="https://a.test/")),
    ],
)
def test_every_field_counts_in_the_digest(changed: Policy) -> None:
    assert digest(changed) != digest(Policy("t"))


def test_the_digest_is_the_hash_of_the_canonical_json() -> None:
    policy = Policy("tenant-a", "confidential", NOON, frozenset({"ü", "a"}), frozenset({"operational"}))
    canonical = (
        '{"allowed_purposes":["operational"],"content_class":"","expires_at":"2026-06-15T12:00:00Z",'
        '"permitted_roles":["a","ü"],"provenance":{"producer":"","source":"unknown","trust":50,"url":""},'
        '"sensitivity":"confidential","tenant_id":"tenant-a","validation_status":""}'
    )
    assert digest(policy) == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (NOON, "2026-06-15T12:00:00Z"),
        (NOON + timedelta(milliseconds=500), "2026-06-15T12:00:00.5Z"),
        (NOON.astimezone(timezone(timedelta(hours=-5))), "2026-06-15T12:00:00Z"),
        (NOON + timedelta(microseconds=10), "2026-06-15T12:00:00.00001Z"),
    ],
)
def test_instants_are_written_in_utc_without_idle_zeros(moment: datetime, text: str) -> None:
    assert instant(moment) == text
