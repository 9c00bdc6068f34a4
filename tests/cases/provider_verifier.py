"""Plays what a provider checks: requests to Larder's own one, its nonces in Postgres, and whether it searched."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from chalicelib.knowledge import signing
from chalicelib.knowledge.verification import Refusal, verify
from chalicelib.services import own_provider
from tests.api.tables import superuser
from tests.cases.provider_stage import give_secret, publish, stage, tenant
from tests.cases.report import Verdict, judge
from tests.cases.ssrf_words import Unreadable
from tests.knowledge import Household
from tests.tenants import HashEmbedder

SECRET, NONCE, NOW = "test-secret-new-0001", "n0nce-7f3a", 1_796_000_000
BODY = b'{"query":"reset password","limit":10}'


@dataclass
class Own:
    """Larder's own provider with one registration whose secret a case knows."""

    house: Household
    provider: dict[str, Any]

    def send(self, headers: dict[str, str], body: bytes, now: int) -> tuple[str, int, str]:
        """``accept`` or ``reject``, the status and the code; also whether anything was searched, in ``searched``."""
        embedder = stage().embedder
        assert isinstance(embedder, HashEmbedder)
        before = len(embedder.embedded)
        try:
            own_provider.retrieve(
                stage().outside, UUID(self.provider["id"]), headers, body, "case", datetime.fromtimestamp(now, UTC)
            )
        except Refusal as refusal:
            self.searched = len(embedder.embedded) > before
            return "reject", refusal.status, refusal.code
        self.searched = len(embedder.embedded) > before
        return "accept", 200, ""


def own(secret: str) -> Own:
    house = tenant()
    publish(house, "How to reset your password: open the settings.")
    provider = house.register("http://127.0.0.1:9/{registration}", module="larder", name="own")
    give_secret(house, provider, secret)
    return Own(house, provider)


def play(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    if "sequence" in given:
        return judge(_sequence(given, expected))
    if "header" in given or "headers" in given or "store" in given:
        return judge(_one(given, expected))
    raise Unreadable(f"verifier: {sorted(given)}")


def _one(given: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    held = given.get("secret_held", SECRET)
    body = _body(given)
    now = given.get("now", NOW)
    headers = _headers(given, body, held, now)
    if not held:
        yield from _without_secret(headers, body, now, expected)
        return
    provider = own(held)
    with _store(provider, str(given.get("store", "up"))):
        verdict, status, _ = provider.send(headers, body, now)
    if "verify" in expected and expected["verify"] != verdict:
        yield f"expected {expected['verify']}, was {verdict} {status}"
    if "http_status" in expected and expected["http_status"] != status:
        yield f"expected {expected['http_status']}, was {status}"
    if "search_executed" in expected and expected["search_executed"] != provider.searched:
        yield f"a search was {'' if provider.searched else 'not '}made"
    if "expected_v1" in expected:
        made = signing.headers([held], body, timestamp=now, nonce=NONCE)[signing.SIGNATURE_HEADER]
        if not made.endswith(f"v1={expected['expected_v1']}"):
            yield "the signer makes another signature"


def _sequence(given: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    provider = own(given.get("secret_held", SECRET))
    times = given.get("now", NOW)
    seen = []
    for number, step in enumerate(given["sequence"]):
        now = times[number] if isinstance(times, list) else times
        if isinstance(step, dict):
            now = step.get("now", now)
        seen.append(provider.send(*_step(step, given, now), now))
    for word, number in (("first", 0), ("second", 1), ("third", 2), ("fourth", 3)):
        if word in expected:
            verdict, status, _ = seen[number]
            wanted = re.match(r"(accept|reject)\D*(\d{3})?", str(expected[word]))
            if wanted is None:
                raise Unreadable(str(expected[word]))
            if wanted[1] != verdict or (wanted[2] and int(wanted[2]) != status):
                yield f"{word}: expected {expected[word]}, was {verdict} {status}"


def _step(step: Any, given: dict[str, Any], now: int) -> tuple[dict[str, str], bytes]:
    body = _body(given)
    secret = given.get("secret_held", SECRET)
    if isinstance(step, dict):
        timestamp, nonce = int(step.get("t", now)), str(step.get("n") or step.get("nonce") or NONCE)
        header = (
            step.get("header")
            or signing.headers([secret], body, timestamp=timestamp, nonce=nonce)[signing.SIGNATURE_HEADER]
        )
    elif step.startswith("t="):
        header = step
    elif re.search(r"\b(bad|wrong|good|valid)\b", step):
        key = secret if re.search(r"\b(good|valid)\b", step) else f"not {secret}"
        header = signing.headers([key], body, timestamp=now, nonce=NONCE)[signing.SIGNATURE_HEADER]
    else:
        raise Unreadable(step)
    return _all_headers(header, {}), body


def _headers(given: dict[str, Any], body: bytes, held: str | None, now: int) -> dict[str, str]:
    if "header" in given or "headers" not in given:
        made = signing.headers([held or SECRET], body, timestamp=now, nonce=NONCE)[signing.SIGNATURE_HEADER]
        header = given.get("header", made)
    else:
        header = given["headers"].get(signing.SIGNATURE_HEADER)
    return _all_headers(header, {**given.get("headers", {}), **(given.get("extra") or {})})


def _all_headers(header: Any, more: dict[str, Any]) -> dict[str, str]:
    """As a broker sends them. A header that was sent twice arrives joined by commas."""
    if isinstance(header, list):
        header = ", ".join(header)
    named = {"Content-Type": "application/json; charset=utf-8", signing.VERSION_HEADER: "1"}
    if header is not None:
        named[signing.SIGNATURE_HEADER] = header
    named |= {name: str(value) for name, value in more.items() if value is not None}
    return {name.lower(): value for name, value in named.items() if more.get(name, "") is not None}


def _body(given: dict[str, Any]) -> bytes:
    if "body_b64" in given:
        return base64.b64decode(given["body_b64"])
    body = given.get("body")
    return BODY if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()


@contextmanager
def _store(provider: Own, state: str) -> Iterator[None]:
    if not re.search(r"down|unavailable|broken|timeout", state):
        yield
        return
    with superuser(provider.house.deployment) as connection:
        connection.execute("alter table knowledge_nonces rename to knowledge_nonces_away")
        try:
            yield
        finally:
            connection.execute("alter table knowledge_nonces_away rename to knowledge_nonces")


def _without_secret(headers: dict[str, str], body: bytes, now: int, expected: dict[str, Any]) -> Iterator[str]:
    """A verifier that holds no secret, or an empty one: it lets nobody in."""
    try:
        verify(headers, body, [""], now=now)
        yield "accepted without a secret"
    except Refusal as refusal:
        if refusal.status != expected.get("http_status", refusal.status):
            yield f"expected {expected['http_status']}, was {refusal.status}"
