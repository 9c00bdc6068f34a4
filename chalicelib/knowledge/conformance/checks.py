"""All checks, one rule of the contract each, in the order in which they run."""

from __future__ import annotations

from chalicelib.knowledge.conformance import answering, declaring, proving, refusing, remembering
from chalicelib.knowledge.conformance.rules import CHECKS

__all__ = ["CHECKS", "ESSENTIAL", "GROUPS"]

GROUPS = (answering, proving, remembering, refusing, declaring)
"""The modules that hold the checks: importing one registers what it holds."""

ESSENTIAL = frozenset(
    name
    for name, check in CHECKS.items()
    if check.__module__ in {one.__name__ for one in (proving, remembering, refusing)}
) | {"minimum"}
"""What every provider must show: that it answers, and that it refuses what is not signed, stale, seen or malformed.

These can always be judged, whatever the provider holds; where they were not, nothing was shown.
"""
