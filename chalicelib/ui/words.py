"""What the record says in codes, said to a person."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from chalicelib.domain.policy import REFUTED, instant
from chalicelib.services.explanation import Explanation

DECISIONS = {
    "allow": "allowed",
    "block_expired": "expired",
    "block_tenant_mismatch": "another tenant's",
    "block_role_not_permitted": "role not permitted",
    "block_purpose_not_allowed": "purpose not allowed",
    "block_sensitivity_tier": "needs an operator",
}
"""In the order in which the checks are made."""

OUTCOMES = {
    "admit": "stored",
    "admit_unscanned": "stored unscanned",
    "quarantine": "quarantined",
    "refuse": "refused",
}

_CHECKS = {
    "block_expired": "It has not expired",
    "block_tenant_mismatch": "It belongs to the reader's tenant",
    "block_role_not_permitted": "The reader's role may read it",
    "block_purpose_not_allowed": "It may be read for this purpose",
    "block_sensitivity_tier": "Its tier lets the reader in",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a decision: ``passed``, ``failed``, or ``unasked`` because one before it failed."""

    what: str
    state: str


def decision(code: str) -> str:
    """A decision's code in words; one that nobody knows stays as it is."""
    return DECISIONS.get(code, code)


def outcome(word: str) -> str:
    """What the gates made of a text."""
    return OUTCOMES.get(word, word)


def names(values: Collection[str] | None, nobody: str = "nobody", anybody: str = "anybody") -> str:
    """A list of roles or purposes, where null and the empty list are different."""
    if values is None:
        return anybody
    return ", ".join(sorted(values)) or nobody


def checks(asked: Explanation) -> list[Check]:
    """Every check, in order, and how it went."""
    codes = list(_CHECKS)
    failed = len(codes) if asked.decision.allowed else codes.index(asked.decision.code)
    states = ["passed"] * failed + ["failed"] + ["unasked"] * len(codes)
    return [Check(what, state) for what, state in zip(_CHECKS.values(), states, strict=False)]


def because(asked: Explanation) -> str:
    """Why the first check that failed did, and what would change it; blank for what is allowed."""
    counts, request = asked.policy, asked.request
    match asked.decision.code:
        case "block_expired":
            assert counts.expires_at is not None
            return f"It expired at {instant(counts.expires_at)}: from that instant on nobody is served it."
        case "block_role_not_permitted" if counts.validation_status == REFUTED:
            return "Somebody has marked the text as refuted: nobody reads it in any mode until that is taken back."
        case "block_role_not_permitted":
            role = f"the role “{request.role}”" if request.role else "a reader without a role"
            return f"It may be read by {names(counts.permitted_roles)}, and {role} is not among them."
        case "block_purpose_not_allowed":
            allowed = names(counts.allowed_purposes, "no purpose at all", "any known purpose")
            return f"It may be read for {allowed}, and “{request.purpose}” is not among them."
        case "block_sensitivity_tier":
            return "It is restricted: only a reader with an operator's token, minted for a named person, is let in."
        case "block_tenant_mismatch":
            return "It belongs to another tenant."
    return ""


def effect(asked: Explanation) -> str:
    """What the mode in force makes of the decision."""
    if asked.decision.allowed:
        return "The chunk is served, with a proof."
    if asked.decision.hard:
        return "The chunk is served in no mode."
    if not asked.surface.served:
        return f"The mode in force is {asked.mode}: the chunk is not served."
    if asked.surface.warning:
        return f"The mode in force is {asked.mode}: the chunk is served all the same, with a warning."
    return f"The mode in force is {asked.mode}: the chunk is served all the same; the decision is only recorded."
