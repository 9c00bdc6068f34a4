from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from chalicelib.domain import near_duplicate
from chalicelib.domain.near_duplicate import Candidate
from chalicelib.domain.policy import Policy, rules_digest
from chalicelib.domain.provenance import Provenance

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def text(number: int, *, trust: int = 50, characters: int = 100, age: float = 1, **said: object) -> Candidate:
    origin = Provenance("external_fetch", "", f"https://{number}.example/", trust)
    policy = Policy("t", "internal", provenance=origin, **said)  # type: ignore[arg-type]
    return Candidate(UUID(int=number), f"hash{number}", UUID(int=number), characters, NOW - timedelta(days=age), policy)


@pytest.mark.parametrize(
    "better",
    [
        {"trust": 70, "characters": 1, "age": 9},
        {"characters": 101, "age": 9},
        {"age": 0.5},
        {},  # all alike: by id, so that it is always the same one
    ],
)
def test_the_more_trusted_is_kept_else_the_longer_else_the_newer(better: dict[str, float]) -> None:
    kept, other = text(2, **better), text(1)  # type: ignore[arg-type]
    assert near_duplicate.keep(kept, other) == near_duplicate.keep(other, kept) == (kept, other)


def test_a_pair_has_one_name_whoever_is_named_first() -> None:
    one, other, third = text(1), text(2), text(3)
    assert near_duplicate.pair(one, other) == near_duplicate.pair(other, one)
    assert near_duplicate.pair(one, other) != near_duplicate.pair(one, third)
    changed = replace(other, content_hash="changed")
    assert near_duplicate.pair(one, other) != near_duplicate.pair(one, changed)


def test_texts_of_two_origins_may_join_under_one_policy() -> None:
    assert near_duplicate.may_join(text(1, trust=30), text(2, trust=90), NOW)


def test_one_text_is_no_pair() -> None:
    one = text(1)
    assert not near_duplicate.may_join(one, replace(one, chunk_id=UUID(int=9)), NOW)


@pytest.mark.parametrize(
    "said",
    [
        {"permitted_roles": frozenset({"editor"})},
        {"permitted_roles": frozenset()},
        {"allowed_purposes": frozenset({"operational"})},
        {"expires_at": NOW + timedelta(days=1)},
        {"validation_status": "confirmed"},
        {"content_class": "prose"},
    ],
)
def test_texts_under_two_policies_may_not(said: dict[str, object]) -> None:
    assert not near_duplicate.may_join(text(1), text(2, **said), NOW)  # type: ignore[arg-type]
    assert near_duplicate.may_join(text(1, **said), text(2, **said), NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "said", [{"content_class": "credentials"}, {"validation_status": "refuted"}, {"expires_at": NOW}]
)
def test_credentials_refuted_and_ended_texts_take_no_part(said: dict[str, object]) -> None:
    assert not near_duplicate.may_join(text(1, **said), text(2, **said), NOW)  # type: ignore[arg-type]


def test_the_digest_of_the_rules_leaves_the_origin_out_and_nothing_else() -> None:
    assert rules_digest(text(1).policy) == rules_digest(text(2, trust=9).policy)
    assert rules_digest(text(1).policy) != rules_digest(replace(text(1).policy, sensitivity="public"))
    assert rules_digest(text(1).policy) != rules_digest(replace(text(1).policy, tenant_id="other"))
