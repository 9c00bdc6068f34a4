from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.domain.policy import Policy
from chalicelib.domain.policy_patch import MAX_ROLES, PolicyError, PolicyPatch, amend, parse, stamp
from chalicelib.domain.provenance import originate

SECURITY_PURPOSES = frozenset({"operational", "audit_review"})


def test_what_is_named_is_set_and_the_rest_is_not_there() -> None:
    assert parse({}) == {}
    assert parse({"permitted_roles": None}) == {"permitted_roles": None}
    assert parse(
        {
            "sensitivity": "public",
            "expires_at": "2026-06-15T14:00:00+02:00",
            "permitted_roles": ["lead", "lead"],
            "allowed_purposes": [],
        }
    ) == {
        "sensitivity": "public",
        "expires_at": datetime(2026, 6, 15, 12, tzinfo=UTC),
        "permitted_roles": frozenset({"lead"}),
        "allowed_purposes": frozenset(),
    }


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"tenant_id": "other"}, "tenant_id"),
        ({"provenance": {}}, "provenance"),
        ({"sensitivity": "Public"}, "sensitivity"),
        ({"sensitivity": ""}, "sensitivity"),
        ({"sensitivity": None}, "sensitivity"),
        ({"sensitivity": ["public"]}, "sensitivity"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"expires_at": "2026-06-15T12:00:00"}, "expires_at"),
        ({"expires_at": "2026-06-15"}, "expires_at"),
        ({"expires_at": "2026-02-30T00:00:00Z"}, "expires_at"),
        ({"expires_at": "0001-01-01T00:00:00+14:00"}, "expires_at"),
        ({"expires_at": 1781524800}, "expires_at"),
        ({"permitted_roles": "analyst"}, "permitted_roles"),
        ({"permitted_roles": [""]}, "permitted_roles"),
        ({"permitted_roles": ["analyst "]}, "permitted_roles"),
        ({"permitted_roles": ["ana\u200blyst"]}, "permitted_roles"),
        ({"permitted_roles": ["a" * 101]}, "permitted_roles"),
        ({"permitted_roles": [7]}, "permitted_roles"),
        ({"permitted_roles": [f"role-{number}" for number in range(MAX_ROLES + 1)]}, "permitted_roles"),
        ({"allowed_purposes": ["marketing"]}, "allowed_purposes"),
        ({"allowed_purposes": ["operational", ""]}, "allowed_purposes"),
        ({"allowed_purposes": {}}, "allowed_purposes"),
    ],
)
def test_a_bad_field_is_refused_by_name(body: dict[str, Any], field: str) -> None:
    with pytest.raises(PolicyError) as refused:
        parse(body)
    assert refused.value.field == field
    assert str(refused.value).startswith(f"{field}: ")


def test_names_are_kept_in_normal_form() -> None:
    assert parse({"permitted_roles": ["u\u0308ber"]}) == {"permitted_roles": frozenset({"\u00fcber"})}


def test_defaults_fill_field_by_field() -> None:
    note = originate("companion_note")
    assert stamp("t", note).sensitivity == "confidential"
    assert stamp("t", note).allowed_purposes == SECURITY_PURPOSES
    assert stamp("t", note, PolicyPatch(sensitivity="public")).allowed_purposes is None
    assert stamp("t", note, PolicyPatch(allowed_purposes=None)).allowed_purposes is None
    assert stamp("t", note, PolicyPatch(permitted_roles=frozenset())).permitted_roles == frozenset()


def test_credentials_are_restricted_whatever_the_caller_says() -> None:
    policy = stamp("t", originate("external_fetch"), PolicyPatch(sensitivity="public"), content_class="credentials")
    assert (policy.sensitivity, policy.allowed_purposes) == ("restricted", SECURITY_PURPOSES)


def test_a_patch_leaves_alone_what_it_does_not_name() -> None:
    stored = Policy("t", "internal", None, frozenset({"lead"}), frozenset({"training_data"}))
    assert amend(stored, PolicyPatch(sensitivity="restricted")) == Policy(
        "t", "restricted", None, frozenset({"lead"}), frozenset({"training_data"})
    )
    assert amend(stored, PolicyPatch(permitted_roles=None)).permitted_roles is None


def test_a_raise_closes_purposes_that_were_open_to_any() -> None:
    assert amend(Policy("t"), PolicyPatch(sensitivity="confidential")).allowed_purposes == SECURITY_PURPOSES
    named = PolicyPatch(sensitivity="confidential", allowed_purposes=None)
    assert amend(Policy("t"), named).allowed_purposes is None
