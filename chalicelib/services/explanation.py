"""Why a chunk would be served or blocked: asked for a reader who is imagined, shown without its text.

It is no recall of a chunk, so it writes no decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain import firewall_mode
from chalicelib.domain.evaluation import Decision, Request, evaluate
from chalicelib.domain.firewall_mode import Mode, Surface
from chalicelib.domain.policy import Policy
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal


@dataclass(frozen=True, slots=True)
class Explanation:
    """The decision about a request, and what the mode in force makes of it."""

    policy: Policy
    request: Request
    decision: Decision
    mode: Mode
    surface: Surface


def explain(
    outside: Outside, who: Principal, counts: Policy, *, role: str, purpose: str, operator: str, now: datetime
) -> Explanation:
    """Judge a reader of the caller's own tenant by the policy that counts for a chunk."""
    request = Request(str(who.tenant_id), role, purpose, operator)
    decision = evaluate(counts, request, now)
    mode = in_force(outside, who)
    return Explanation(counts, request, decision, mode, firewall_mode.surface(mode, decision))


def in_force(outside: Outside, who: Principal) -> Mode:
    """The firewall's mode for the caller's tenant: its own, else the deployment's, never below the floor."""
    settings = outside.settings
    return firewall_mode.resolve(who.firewall_mode, settings.firewall_mode or None, settings.firewall_floor or None)
