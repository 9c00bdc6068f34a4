"""What a caller may write of a policy: checked here, completed by defaults, laid over what is stored (spec 2.1)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypedDict

from chalicelib.domain.policy import PURPOSES, TIERS, Policy, effective_tier, tier_purposes
from chalicelib.domain.provenance import Provenance, standing

MAX_ROLES = 100
MAX_ROLE_CHARACTERS = 100


class PolicyError(ValueError):
    """A field that a policy doesn't have, or a value that it may not take; ``field`` names it."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field


class PolicyPatch(TypedDict, total=False):
    """The fields that a caller named. A field that isn't there is left alone, which null does not say."""

    sensitivity: str
    expires_at: datetime | None
    permitted_roles: frozenset[str] | None
    allowed_purposes: frozenset[str] | None


def parse(body: Mapping[str, Any]) -> PolicyPatch:
    """Check the JSON of a policy write. Raises PolicyError for the first unknown field, tier, purpose or bad value."""
    if unknown := sorted(body.keys() - PolicyPatch.__annotations__.keys()):
        raise PolicyError(unknown[0], "a policy has no such field")
    patch = PolicyPatch()
    if "sensitivity" in body:
        patch["sensitivity"] = _tier(body["sensitivity"])
    if "expires_at" in body:
        patch["expires_at"] = _moment(body["expires_at"])
    if "permitted_roles" in body:
        patch["permitted_roles"] = _roles(body["permitted_roles"])
    if "allowed_purposes" in body:
        patch["allowed_purposes"] = _purposes(body["allowed_purposes"])
    return patch


def stamp(tenant_id: str, provenance: Provenance, patch: PolicyPatch | None = None, content_class: str = "") -> Policy:
    """The policy of a new text: each field that the caller left open takes its default by origin and tier."""
    named = patch or PolicyPatch()
    tier = effective_tier(named.get("sensitivity") or standing(provenance.source).sensitivity, content_class)
    return Policy(
        tenant_id=tenant_id,
        sensitivity=tier,
        expires_at=named.get("expires_at"),
        permitted_roles=named.get("permitted_roles"),
        allowed_purposes=named["allowed_purposes"] if "allowed_purposes" in named else tier_purposes(tier),
        content_class=content_class,
        provenance=provenance,
    )


def amend(policy: Policy, patch: PolicyPatch) -> Policy:
    """Lay a patch over a stored policy.

    A raise to confidential or restricted that names no purposes closes a list that was open to any purpose,
    as the tier's default would have; a list that was set stays.
    """
    amended = replace(policy, **patch)
    if "sensitivity" in patch and "allowed_purposes" not in patch and policy.allowed_purposes is None:
        return replace(amended, allowed_purposes=tier_purposes(amended.tier))
    return amended


def _tier(value: object) -> str:
    if value not in TIERS:
        raise PolicyError("sensitivity", f"must be one of {', '.join(TIERS)}")
    return str(value)


def _moment(value: object) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) and "T" in value.upper() else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise PolicyError("expires_at", "must be null or an RFC 3339 instant with its offset")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise PolicyError("expires_at", "is out of range") from None


def _roles(value: object) -> frozenset[str] | None:
    roles = _names("permitted_roles", value)
    if roles is not None and len(roles) > MAX_ROLES:
        raise PolicyError("permitted_roles", f"holds more than {MAX_ROLES} roles")
    return roles


def _purposes(value: object) -> frozenset[str] | None:
    purposes = _names("allowed_purposes", value)
    if unknown := sorted((purposes or frozenset()) - PURPOSES):
        raise PolicyError("allowed_purposes", f"{unknown[0]!r} is none of {', '.join(sorted(PURPOSES))}")
    return purposes


def _names(field: str, value: object) -> frozenset[str] | None:
    """Null, or a set of names in NFC. Comparison is exact, so a name that looks like another is refused."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise PolicyError(field, "must be null or a list of strings")
    return frozenset(_name(field, entry) for entry in value)


def _name(field: str, entry: object) -> str:
    if not isinstance(entry, str) or not 0 < len(entry) <= MAX_ROLE_CHARACTERS:
        raise PolicyError(field, f"holds strings of 1 to {MAX_ROLE_CHARACTERS} characters")
    if entry != entry.strip() or not all(mark.isprintable() for mark in entry):
        raise PolicyError(field, "holds a name with space around it or an invisible character in it")
    return unicodedata.normalize("NFC", entry)
