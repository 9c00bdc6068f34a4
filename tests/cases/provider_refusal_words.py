"""The words of cases for why a verifier refuses, as the contract's codes (spec 3.3)."""

from __future__ import annotations

import re

from tests.cases.ssrf_words import Unreadable

_CODES = [
    (r"cannot check|can't check|unavailable|store|database", "unavailable"),
    (
        r"nonce (?:seen|reused?|repeated|already|known|used)|replay|repeated nonce|seen before|duplicate nonce",
        "replayed_nonce",
    ),
    (
        r"duplicate|too many|not a list|header|nonce (?:format|length|characters?|too)|request id|timestamp format",
        "invalid_request",
    ),
    (
        r"malformed|unparsable|doesn't parse|does not parse|format|parse|missing (?:t\b|n\b|timestamp|nonce)",
        "invalid_request",
    ),
    (r"no (?:timestamp|nonce)|body|json|query|limit|content.type|utf-?8|too (?:large|long)", "invalid_request"),
    (r"window|stale|too old|too new|future|expired|skew", "stale_timestamp"),
    (r"version", "unsupported_version"),
    (r"signature|mismatch|secret|hmac|mac\b|v1|key|hex|unauthori[sz]ed|registration", "unauthorized"),
]


def codes_of(reason: str) -> set[str]:
    """The codes that the words may stand for. Raises Unreadable where there are none."""
    words = reason.lower()
    if words in {code for _, code in _CODES}:
        return {words}
    found = {code for pattern, code in _CODES if re.search(pattern, words)}
    if not found:
        raise Unreadable(f"reason: {reason}")
    return found
