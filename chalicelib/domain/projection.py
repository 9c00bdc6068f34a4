"""What of a result a caller sees (spec 3.5). Keys are those of the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CUSTOMER_KEYS = ("title", "snippet", "url", "locale", "localeFallback")
"""All that a customer sees. Everything else (ids, scores, labels, counts) would be a side channel."""

AGENT_KEYS = (
    *("documentId", "title", "snippet", "audience", "revision", "chunkId", "url", "locale", "score", "freshness"),
    *("reviewDueAt", "translationGroupId", "providerId", "providerName", "localeFallback"),
)
"""What an agent sees: every field of the wire, who it is from, and whether it is in another language."""


def for_customer(result: Mapping[str, Any]) -> dict[str, Any]:
    """Exactly five keys, each of them always there; what a provider left out is None."""
    return {key: result.get(key) for key in CUSTOMER_KEYS}


def for_agent(result: Mapping[str, Any]) -> dict[str, Any]:
    """Every field that the contract knows; a field that it does not know is not passed on."""
    return {key: result.get(key) for key in AGENT_KEYS}
