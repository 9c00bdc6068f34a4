"""The signature of a request, both sides of it (spec 3.3): HMAC-SHA256 over ``t.n.body``, the body as raw bytes.

A nonce has no dot, so ``t.n.body`` can be cut in one way only. Nothing in here is ever logged.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

VERSION_HEADER, REQUEST_HEADER, SIGNATURE_HEADER = (
    "X-Larder-Knowledge-Version",
    "X-Larder-Request",
    "X-Larder-Signature",
)
SKEW_SECONDS = 300
MAX_SIGNATURES = 4
MAX_HEADER = 1_024  # characters: room for four signatures and the longest nonce

_PART = re.compile(r"[ \t]*([A-Za-z0-9_]+)=([^, \t]*)[ \t]*", re.ASCII)
_TIMESTAMP = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)  # seconds; milliseconds have more digits
_NONCE = re.compile(r"[A-Za-z0-9_-]{8,64}", re.ASCII)
_HEX = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)


class Malformed(ValueError):
    """The header doesn't parse. The message names the rule and quotes nothing."""


@dataclass(frozen=True, slots=True, repr=False)
class Signature:
    """A header that parses: the time and nonce as they were signed, and the values of ``v1``, good or bad."""

    timestamp: str
    nonce: str
    values: tuple[str, ...]


def new_secret() -> str:
    """32 random bytes as base64url. The HMAC's key is the UTF-8 of this text, as it is shown."""
    return secrets.token_urlsafe(32)


def new_nonce() -> str:
    """128 random bits."""
    return secrets.token_urlsafe(16)


def headers(keys: Sequence[str], body: bytes, *, timestamp: int, nonce: str) -> dict[str, str]:
    """The three headers of a request, with a signature by each of ``keys``: two while a secret is being rotated."""
    values = "".join(f", v1={_mac(key, str(timestamp), nonce, body).hex()}" for key in keys)
    return {
        VERSION_HEADER: "1",
        REQUEST_HEADER: nonce,
        SIGNATURE_HEADER: f"t={timestamp}, n={nonce}{values}",
    }


def parse(header: str) -> Signature:
    """Read a header by its keys, in any order. Keys that are not ours are passed over.

    Raises Malformed for anything that two readers could take differently: a time or a nonce given twice, a number in
    another spelling, more than four signatures.
    """
    if len(header) > MAX_HEADER:
        raise Malformed("header too long")
    found: dict[str, list[str]] = {"t": [], "n": [], "v1": []}
    for part in header.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise Malformed("not a list of key=value")
        found.setdefault(match[1], []).append(match[2])
    if len(found["t"]) != 1 or not _TIMESTAMP.fullmatch(found["t"][0]):
        raise Malformed("timestamp format")
    if len(found["n"]) != 1 or not _NONCE.fullmatch(found["n"][0]):
        raise Malformed("nonce format")
    if len(found["v1"]) > MAX_SIGNATURES:
        raise Malformed("too many signatures")
    return Signature(found["t"][0], found["n"][0], tuple(found["v1"]))


def matches(signature: Signature, keys: Sequence[str], body: bytes) -> bool:
    """Whether any value is the HMAC of ``body`` by any of ``keys``. All are compared, each in constant time.

    A key that is empty matches nothing: a secret that is missing must not be one that everybody knows.
    """
    expected = [_mac(key, signature.timestamp, signature.nonce, body) for key in keys if key]
    given = [bytes.fromhex(value) for value in signature.values if _HEX.fullmatch(value)]
    agree = [hmac.compare_digest(one, other) for one in expected for other in given]  # a list: nothing is cut short
    return True in agree


def _mac(key: str, timestamp: str, nonce: str, body: bytes) -> bytes:
    return hmac.digest(key.encode(), f"{timestamp}.{nonce}.".encode() + body, "sha256")
