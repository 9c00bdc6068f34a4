"""What a provider refuses before it looks at the question (spec 3.3). Every doubt refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chalicelib.errors import LarderError
from chalicelib.knowledge import signing

NONCE_SECONDS = signing.SKEW_SECONDS + 1
"""So long after the request's own time its nonce is kept: a time that lies ahead is good for ten minutes."""


class Refusal(LarderError):
    """A request that is not served: the status and the contract's code. ``str()`` says why and quotes nothing."""

    def __init__(self, status: int, code: str, why: str) -> None:
        super().__init__(why)
        self.status, self.code = status, code


@dataclass(frozen=True, slots=True, repr=False)
class Proven:
    """A request that its signature vouches for. Its nonce is still to be taken, once, and kept until ``keep_until``."""

    nonce: str
    keep_until: int  # seconds since 1970


def verify(headers: Mapping[str, str], body: bytes, keys: Sequence[str], *, now: int) -> Proven:
    """Check version, signature and time; ``headers`` have lower-case names, ``keys`` are all secrets that count now.

    Raises Refusal: 400 for what doesn't parse, 401 for an absent, empty or wrong signature and a time more than 300
    seconds off either way. The caller then takes the nonce: it must not be spent on a signature that is wrong.
    """
    if headers.get(signing.VERSION_HEADER.lower()) != "1":
        raise Refusal(400, "unsupported_version", "unsupported version")
    header = headers.get(signing.SIGNATURE_HEADER.lower(), "")
    if not header.strip():
        raise Refusal(401, "unauthorized", "missing signature")
    try:
        signature = signing.parse(header)
    except signing.Malformed as error:
        raise Refusal(400, "invalid_request", str(error)) from None
    if headers.get(signing.REQUEST_HEADER.lower(), signature.nonce) != signature.nonce:
        raise Refusal(400, "invalid_request", "request id differs from signed nonce")
    if not any(signature.values):
        raise Refusal(401, "unauthorized", "missing signature")
    if not signing.matches(signature, keys, body):
        raise Refusal(401, "unauthorized", "signature mismatch")
    timestamp = int(signature.timestamp)
    if abs(now - timestamp) > signing.SKEW_SECONDS:
        raise Refusal(401, "stale_timestamp", "timestamp outside window")
    return Proven(signature.nonce, timestamp + NONCE_SECONDS)
