"""Plays the firewall library against the pure domain: decisions, modes, surfaces, defaults and digests.

Where a reading of the reference differs from Larder's, ``recommended*`` counts. A tenant mismatch gives no
names away and a refuted chunk says that it is refuted, so those two reasons are not compared word by word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from chalicelib.domain import firewall_mode
from chalicelib.domain.evaluation import Decision, Request, evaluate
from chalicelib.domain.policy import Policy, digest, effective_tier, tier_purposes
from chalicelib.domain.policy_patch import stamp
from chalicelib.domain.provenance import Provenance, originate, standing
from tests.cases.report import Case, Verdict, judge, skipped

# The reference's words for an origin, and Larder's.
ORIGINS = {"self_consolidated": "consolidated", "companion_remember": "companion_note"}


def play(case: Case) -> Verdict:
    """Compare one case with the domain."""
    player = PLAYERS.get(case["kind"])
    if player is None:
        return skipped(f"no player for a case of kind {case['kind']}")
    return judge(player(case))


def _decision(case: Case) -> Iterator[str]:
    asked = case["request"]
    request = Request(asked["tenant_id"], asked["role"], asked["purpose"], asked["operator_id"])
    decision = evaluate(
        _policy(case["chunk_policy"]), request, _instant(case["now"]), strict_tenant=case["strict_tenant"]
    )
    expected = case.get("recommended_decision") or case["expected_decision"]
    yield from _differs("decision", expected, decision.code)
    # A tenant mismatch and a refutation are told in words of our own; an end is told alike, hard or not.
    own_words = decision.hard and decision.code != "block_expired"
    if expected == case["expected_decision"] and not own_words:
        yield from _differs("reason", case["reference_reason"], decision.reason)
    # Tenant mismatch and refuted are hard (spec 2.2), also where the chunk's end is what is told.
    refuted = case["chunk_policy"]["validation_status"] == "refuted"
    owner = case["chunk_policy"]["tenant_id"]
    foreign = owner != asked["tenant_id"] or (case["strict_tenant"] and not asked["tenant_id"])
    closed = {"block_tenant_mismatch": True, "block_role_not_permitted": refuted, "block_expired": foreign or refuted}
    yield from _differs("hard", closed.get(expected, False), decision.hard)


def _mode(case: Case) -> Iterator[str]:
    expected = case.get("recommended_mode") or case["expected_mode"]
    yield from _differs("mode", expected, firewall_mode.resolve(case["project_mode"], case["env_mode"]))


def _surface(case: Case) -> Iterator[str]:
    hard = case["decision"] == "block_tenant_mismatch"
    mode = firewall_mode.resolve(None, case["mode"])
    seen = firewall_mode.surface(mode, Decision(case["decision"], case["reason"], hard))
    yield from _differs("served", case["expected_served"], seen.served)
    yield from _differs("warning", case["expected_warning"], seen.warning)
    # A proof goes with what is served and with nothing else. The audit row is the store's, and is tested there.
    yield from _differs("proof", case["expected_proof"], seen.served)


def _default(case: Case) -> Iterator[str]:
    source: str = case["provenance_source"]
    policy = stamp("", originate(ORIGINS.get(source, source)), content_class=case["content_class"])
    seen: dict[str, object] = {
        "sensitivity": policy.sensitivity,
        "trust_level": policy.provenance.trust,
        "permitted_roles": policy.permitted_roles,
        "allowed_purposes": policy.allowed_purposes,
        "tenant_id": policy.tenant_id,
        "expires_at": policy.expires_at,
    }
    for name, expected in case["expected"].items():
        yield from _differs(name, frozenset(expected) if isinstance(expected, list) else expected, seen[name])


def _tier_default(case: Case) -> Iterator[str]:
    tier = effective_tier(case["sensitivity"])
    expected = case["expected"]["allowed_purposes"]
    yield from _differs("purposes", None if expected is None else frozenset(expected), tier_purposes(tier))
    yield from _differs("roles", case["expected"]["permitted_roles"], stamp("", originate("unknown")).permitted_roles)


def _digest(case: Case) -> Iterator[str]:
    expected = case.get("recommended_same", case["expected_same"])
    one, other = (digest(_policy(case[side])) for side in ("policy_a", "policy_b"))
    yield from _differs("same digest", expected, one == other)


PLAYERS = {
    "decision": _decision,
    "mode": _mode,
    "surface": _surface,
    "default": _default,
    "tier_default": _tier_default,
    "digest": _digest,
}


def _policy(fields: dict[str, Any]) -> Policy:
    """A stored policy as the case describes it, wrong values included: what a database may hold is not checked here."""
    source = ORIGINS.get(fields.get("provenance_source", ""), fields.get("provenance_source", ""))
    origin = Provenance(
        source=source,
        producer=fields.get("provenance_producer", ""),
        url=fields.get("provenance_url", ""),
        trust=fields.get("provenance_trust", standing(source).trust),
    )
    policy = Policy(
        tenant_id=fields["tenant_id"],
        sensitivity=fields["sensitivity"],
        expires_at=None if not fields["expires_at"] else _instant(fields["expires_at"]),
        permitted_roles=_set(fields["permitted_roles"]),
        allowed_purposes=_set(fields["allowed_purposes"]),
        provenance=origin,
    )
    return replace(
        policy, content_class=fields.get("content_class", ""), validation_status=fields.get("validation_status", "")
    )


def _set(names: list[str] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(names)


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _differs(what: str, expected: object, seen: object) -> Iterator[str]:
    if expected != seen:
        yield f"{what}: expected {expected!r}, was {seen!r}"
