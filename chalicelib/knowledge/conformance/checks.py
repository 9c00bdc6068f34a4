"""All checks, one rule of the contract each, in the order in which they run."""

from __future__ import annotations

from chalicelib.knowledge.conformance import answering, declaring, proving, refusing, remembering
from chalicelib.knowledge.conformance.rules import CHECKS

__all__ = ["CHECKS", "GROUPS"]

GROUPS = (answering, proving, remembering, refusing, declaring)
"""The modules that hold the checks: importing one registers what it holds."""
