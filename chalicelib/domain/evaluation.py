"""One chunk, one request, one decision (spec 2.2). Pure, and fast enough to run on every hit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from chalicelib.domain.policy import PURPOSES, REFUTED, Policy, instant

DEFAULT_PURPOSE = "operational"


@dataclass(frozen=True, slots=True)
class Request:
    """Who reads, and for what: all of it from the token, none of it from the caller's word.

    ``operator`` is the person that an operator's token was minted for, else blank.
    """

    tenant_id: str
    role: str = ""
    purpose: str = ""
    operator: str = ""


class Decision(NamedTuple):
    """What the firewall says. ``hard`` decisions are enforced in every mode."""

    code: str
    reason: str
    hard: bool = False

    @property
    def allowed(self) -> bool:
        """Whether the chunk may be read."""
        return self.code == "allow"


ALLOW = Decision("allow", "")
# Neither names a tenant: a decision is written down where the asker's tenant can read it.
_BLANK_TENANT = Decision("block_tenant_mismatch", "the request has no tenant", hard=True)
_TENANT_MISMATCH = Decision("block_tenant_mismatch", "the chunk is not of the request's tenant", hard=True)
_REFUTED = Decision("block_role_not_permitted", "the chunk is refuted", hard=True)
_RESTRICTED = Decision("block_sensitivity_tier", "restricted-tier chunk requires operator_id on request")


def evaluate(policy: Policy, request: Request, now: datetime, *, strict_tenant: bool = True) -> Decision:
    """Decide whether ``request`` may read a chunk under ``policy`` at ``now``; the first check that fails speaks.

    The order is part of the contract: expiry, tenant, role, purpose, tier. A chunk has expired from ``expires_at``
    on, that instant included; one that is another tenant's or refuted besides stays closed in every mode. With
    ``strict_tenant`` a blank request tenant matches nothing.
    """
    if policy.expires_at is not None and now >= policy.expires_at:
        foreign = policy.tenant_id != request.tenant_id or (strict_tenant and not request.tenant_id)
        closed = foreign or policy.validation_status == REFUTED
        return Decision("block_expired", f"chunk expired at {instant(policy.expires_at)}", hard=closed)
    if strict_tenant and not request.tenant_id:
        return _BLANK_TENANT
    if policy.tenant_id != request.tenant_id:
        return _TENANT_MISMATCH
    if policy.validation_status == REFUTED:
        return _REFUTED
    if policy.permitted_roles is not None and request.role not in policy.permitted_roles:
        return Decision("block_role_not_permitted", f'role "{request.role}" not in permitted set')
    purpose = request.purpose or DEFAULT_PURPOSE
    if purpose not in (PURPOSES if policy.allowed_purposes is None else policy.allowed_purposes & PURPOSES):
        return Decision("block_purpose_not_allowed", f'purpose "{purpose}" not allowed for this chunk')
    if policy.tier == "restricted" and not request.operator:
        return _RESTRICTED
    return ALLOW
