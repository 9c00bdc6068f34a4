"""A signed request as a case gives it: a header, or what makes one; and a step of a sequence."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.knowledge import signing
from tests.cases.provider_clock import seconds
from tests.cases.provider_watched import Watched
from tests.cases.ssrf_words import Unreadable
from tests.scripted_provider import JSON

SECRET, NONCE, NOW = "test-secret-new-0001", "n0nce-7f3a", 1_796_000_000
BODY = b'{"query":"reset password","limit":10}'


@dataclass(frozen=True)
class Request:
    """What arrives, when, at which registration, and how the store of nonces is then."""

    headers: dict[str, str]
    body: bytes
    now: float
    registration: str = ""
    store: str = "up"


def read_body(given: Mapping[str, Any]) -> bytes:
    """The raw bytes: given as they are, as text, or as a value."""
    if "body_b64" in given:
        return base64.b64decode(given["body_b64"])
    body = given.get("body")
    return BODY if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()


def read_headers(given: Mapping[str, Any], body: bytes, held: str | None, now: int) -> dict[str, str]:
    """All headers, lower-case. A case that gives none is signed rightly."""
    more: dict[str, Any] = {**(given.get("headers") or {}), **(given.get("extra") or {})}
    if "content_type" in given:
        more["Content-Type"] = given["content_type"]
    if "header" in given:
        header = given["header"]
    elif signing.SIGNATURE_HEADER in more:
        header = more.pop(signing.SIGNATURE_HEADER)
    elif "headers" in given:
        header = None
    else:
        header = signing.headers([held or SECRET], body, timestamp=now, nonce=NONCE)[signing.SIGNATURE_HEADER]
    return _all(header, more)


def _all(header: Any, more: dict[str, Any]) -> dict[str, str]:
    """As a broker sends them. A header that was sent twice arrives joined by commas; None was not sent."""
    joined = ", ".join(header) if isinstance(header, list) else header
    named = {"Content-Type": JSON, signing.VERSION_HEADER: "1", signing.SIGNATURE_HEADER: joined, **more}
    lowered = {name.lower(): value for name, value in named.items()}
    return {name: str(value) for name, value in lowered.items() if value is not None}


def read_step(step: Any, body: bytes, held: str, now: float) -> Request:
    """A step of a sequence: a header, what makes one, or words about one. Raises Unreadable."""
    if isinstance(step, dict):
        return _made(Watched(step), body, held, now)
    if step.startswith(("t=", "n=", "v1=")):
        return Request(_all(step, {}), body, now)
    return _spoken(step, body, held, now)


def _made(step: Watched, body: bytes, held: str, now: float) -> Request:
    now = step.get("now", now)
    own_body = read_body(step) if "body" in step or "body_b64" in step else body
    nonce = str(step.get("n") or step.get("nonce") or NONCE)
    keys = [str(step.get("secret", held))]
    made = signing.headers(keys, own_body, timestamp=int(step.get("t", now)), nonce=nonce)[signing.SIGNATURE_HEADER]
    header = step.get("header", made)
    registration, store = str(step.get("registration", "")), str(step.get("store", "up"))
    step.get("replica")  # all share one store
    if step.unread:
        raise Unreadable(f"step: {step.unread}")
    return Request(_all(header, {}), own_body, now, registration.lower(), store)


def _spoken(step: str, body: bytes, held: str, now: float) -> Request:
    """Such as "good signature with nonce X at +10 s": a nonce of one's own for each name."""
    words = step.lower()
    later = re.search(r"(?:at |after )?(?:t0? ?)?\+ ?(\d+ ?\w*)|(\d+ ?(?:s|sec\w*|min\w*|h|hours?)) later", words)
    at = now + (seconds(later[1] or later[2]) if later else 0)
    name = re.search(r"\bnonce (\w+)\b", words)
    nonce = NONCE if name is None or name[1] in ("again", "repeated", "is") else f"nonce-of-{name[1]}"
    known = re.search(r"\b(?:registration|provider) (\w+)\b", words)
    is_bad = re.search(r"\b(bad|wrong|invalid|forged|tampered|unsigned)\b", words)
    if not is_bad and not re.search(r"\b(good|valid|right|same|request|signature|signed|replica|first|again)\b", words):
        raise Unreadable(step)
    key = f"not {held}" if is_bad else held
    stamp = int(now) if "same" in words or "again" in words or "replay" in words else int(at)
    made = signing.headers([key], body, timestamp=stamp, nonce=nonce)[signing.SIGNATURE_HEADER]
    header = None if re.search(r"\bunsigned\b", words) else made
    store = "down" if re.search(r"store (?:is )?(?:down|unavailable|away)", words) else "up"
    return Request(_all(header, {}), body, at, known[1] if known else "", store)
