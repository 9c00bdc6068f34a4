"""The policy of a chunk: who may read it, for what, until when (spec 2.1).

``None`` and the empty set are different everywhere: None lets any role or purpose through, the empty set none.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import rfc8785

from chalicelib.domain.provenance import Provenance

TIERS = ("public", "internal", "confidential", "restricted")  # from the most open to the strictest
PURPOSES = frozenset({"operational", "training_data", "audit_review", "compliance_export"})
CREDENTIALS = "credentials"
REFUTED = "refuted"
VALIDATION_STATUSES = ("", "confirmed", "unverified", REFUTED)  # from the most open to the strictest

_RANK = {tier: rank for rank, tier in enumerate(TIERS)}
_TIER_PURPOSES = frozenset({"operational", "audit_review"})


@dataclass(frozen=True, slots=True)
class Policy:
    """What is stored with a source or a chunk. ``sensitivity`` may be blank (unset); read ``tier`` instead."""

    tenant_id: str
    sensitivity: str = ""
    expires_at: datetime | None = None
    permitted_roles: frozenset[str] | None = None
    allowed_purposes: frozenset[str] | None = None
    content_class: str = ""
    validation_status: str = ""
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def tier(self) -> str:
        """The tier that counts: credentials are restricted whatever anyone says, and so is an unknown tier."""
        return effective_tier(self.sensitivity, self.content_class)


def effective_tier(sensitivity: str, content_class: str = "") -> str:
    """Unset is internal; what isn't known is the strictest."""
    if content_class == CREDENTIALS:
        return "restricted"
    tier = sensitivity or "internal"
    return tier if tier in _RANK else "restricted"


def tier_purposes(sensitivity: str) -> frozenset[str] | None:
    """The purposes that a tier allows when its policy names none: operational and audit_review from confidential on."""
    return _TIER_PURPOSES if _RANK[effective_tier(sensitivity)] >= _RANK["confidential"] else None


def of_class(tenant_id: str, content_class: str) -> Policy:
    """What the class of a text says of it by itself; the defaults of its tier with it."""
    tier = effective_tier("", content_class)
    return Policy(tenant_id, tier, allowed_purposes=tier_purposes(tier), content_class=content_class)


def strictest(one: Policy, other: Policy) -> Policy:
    """Merge two policies of one tenant field by field, the stricter value each time; provenance is that of ``one``.

    Raises ValueError for policies of two tenants: no merge may join those.
    """
    if one.tenant_id != other.tenant_id:
        raise ValueError("policies of different tenants can't be merged")
    return replace(
        one,
        sensitivity=max(one.tier, other.tier, key=_RANK.__getitem__),
        expires_at=min(filter(None, (one.expires_at, other.expires_at)), default=None),
        permitted_roles=_both(one.permitted_roles, other.permitted_roles),
        allowed_purposes=_both(one.allowed_purposes, other.allowed_purposes),
        content_class=CREDENTIALS if CREDENTIALS in (one.content_class, other.content_class) else one.content_class,
        validation_status=max(one.validation_status, other.validation_status, key=VALIDATION_STATUSES.index),
    )


def _both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def as_json(policy: Policy) -> dict[str, Any]:
    """The effective policy as plain JSON: sorted lists, null kept apart from [], instants in UTC."""
    origin = policy.provenance
    return {
        "sensitivity": policy.tier,
        "expires_at": policy.expires_at and instant(policy.expires_at),
        "tenant_id": policy.tenant_id,
        "permitted_roles": None if policy.permitted_roles is None else sorted(policy.permitted_roles),
        "allowed_purposes": None if policy.allowed_purposes is None else sorted(policy.allowed_purposes),
        "content_class": policy.content_class,
        "validation_status": policy.validation_status,
        "provenance": {
            "source": origin.source,
            "producer": origin.producer,
            "url": origin.url,
            "trust": origin.trust,
        },
    }


@lru_cache(maxsize=4096)
def digest(policy: Policy) -> str:
    """SHA-256, in hex, of the effective policy's canonical JSON (RFC 8785). It is also the policy's ETag."""
    return hashlib.sha256(rfc8785.dumps(as_json(policy))).hexdigest()


def rules_digest(policy: Policy) -> str:
    """The digest of what the policy says, whatever the origin: equal for texts that the same readers may read."""
    return digest(replace(policy, provenance=Provenance()))


def instant(moment: datetime) -> str:
    """An aware datetime as RFC 3339 in UTC, to the second, with a fraction only where there is one."""
    whole, _, fraction = moment.astimezone(UTC).replace(tzinfo=None).isoformat().partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}Z" if fraction else f"{whole}Z"
