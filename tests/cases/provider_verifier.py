"""Plays what a provider checks: requests to Larder's own one, its nonces in Postgres, and whether it searched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from chalicelib.knowledge import signing
from chalicelib.knowledge.verification import Refusal, verify
from chalicelib.services import own_provider
from chalicelib.services.outside import Outside
from tests.api.tables import superuser
from tests.cases import report as judged
from tests.cases.provider_compare import Given, Mismatches, by_table, differs
from tests.cases.provider_refusal_words import codes_of
from tests.cases.provider_requests import BODY, NONCE, NOW, SECRET, read_body, read_headers, read_step
from tests.cases.provider_stage import give_secret, publish, rows, stage, tenant
from tests.cases.report import judge
from tests.cases.ssrf_words import Unreadable
from tests.knowledge import Household
from tests.tenants import HashEmbedder

__all__ = ["BODY", "NONCE", "NOW", "SECRET", "own", "play"]


@dataclass
class Verdict:
    """``accept`` or ``reject``, the status, the code, and whether anything was searched meanwhile."""

    verify: str
    status: int
    code: str
    searched: bool


@dataclass
class Own:
    """Larder's own provider with one registration whose secret a case knows."""

    house: Household
    provider: dict[str, Any]

    def send(self, headers: dict[str, str], body: bytes, now: float, outside: Outside | None = None) -> Verdict:
        """What becomes of a request; ``outside`` is the replica that gets it."""
        embedder = stage().embedder
        assert isinstance(embedder, HashEmbedder)
        before = len(embedder.embedded)
        at = datetime.fromtimestamp(now, UTC)
        try:
            own_provider.retrieve(outside or stage().outside, UUID(self.provider["id"]), headers, body, "case", at)
        except Refusal as refusal:
            return Verdict("reject", refusal.status, refusal.code, len(embedder.embedded) > before)
        return Verdict("accept", 200, "", len(embedder.embedded) > before)

    @property
    def nonces(self) -> int:
        """How many are remembered."""
        query = "select count(*) from knowledge_nonces where provider_id = %s"
        ((found,),) = rows(self.house, query, self.provider["id"])
        return int(found)


def own(secret: str) -> Own:
    house = tenant()
    publish(house, "How to reset your password: open the settings.")
    provider = house.register("http://127.0.0.1:9/v1/provider/{registration}", module="larder", name="own")
    give_secret(house, provider, secret)
    return Own(house, provider)


def play(given: Given, expected: Given) -> judged.Verdict:
    if "sequence" in given:
        return judge(_sequence(given, expected))
    if "concurrent" in given or "concurrent_requests" in given:
        return judge(_at_once(given, expected))
    if set(given) & {"header", "headers", "store", "body", "body_b64", "extra", "content_type"}:
        return judge(_one(given, expected))
    raise Unreadable(f"verifier: {sorted(given)}")


def _one(given: Given, expected: Given) -> Mismatches:
    held, body, now = given.get("secret_held", SECRET), read_body(given), given.get("now", NOW)
    previous = given.get("previous_secret_held")
    headers = read_headers(given, body, held, now)
    if not held:
        given.get("store")
        seen = _without_secret(headers, body, now)
        yield from by_table(_measures(seen, None), expected)
        return
    provider = own(held)
    if previous:
        give_secret(provider.house, provider.provider, held, previous)
    with _store(provider, str(given.get("store", "up"))):
        seen = provider.send(headers, body, now)
    table = _measures(seen, provider)
    made = signing.headers([held], body, timestamp=now, nonce=NONCE)[signing.SIGNATURE_HEADER]
    table["expected_v1"] = lambda value: differs("signature", value, made.rpartition("v1=")[2])
    yield from by_table(table, expected)


def _measures(seen: Verdict, provider: Own | None) -> dict[str, Callable[[Any], Mismatches]]:
    return {
        "verify": lambda word: differs("verdict", word, seen.verify),
        "http_status": lambda code: differs("status", code, seen.status),
        "code": lambda word: differs("code", word, seen.code),
        "reason": lambda words: differs(f"{words!r}, as {seen.code}", True, seen.code in codes_of(words)),
        "search_executed": lambda wanted: differs("searched", wanted, seen.searched),
        "nonce_stored": lambda wanted: differs("stored", wanted, provider is not None and provider.nonces > 0),
    }


def _at_once(given: Given, expected: Given) -> Mismatches:
    """One request many times at the same instant, each to a replica of its own."""
    words = given["concurrent"] if "concurrent" in given else given["concurrent_requests"]
    if not isinstance(words, int):
        raise Unreadable(str(words))
    held, body, now = given.get("secret_held", SECRET), read_body(given), given.get("now", NOW)
    provider, headers = own(held), read_headers(given, body, held, now)
    replicas = [stage().build("larder_app") for _ in range(words)]
    with ThreadPoolExecutor(words) as pool:
        seen = list(pool.map(lambda replica: provider.send(headers, body, now, replica), replicas))
    for replica in replicas:
        replica.database.close()
    accepted = [one for one in seen if one.verify == "accept"]
    refused = [one for one in seen if one.verify == "reject"]
    yield from by_table(
        {
            "accepted": lambda count: differs("accepted", count, len(accepted)),
            "accept": lambda count: differs("accepted", count, len(accepted)),
            "rejected": lambda count: differs("refused", count, len(refused)),
            "reject": lambda count: differs("refused", count, len(refused)),
            "http_status": lambda code: differs("statuses", {code}, {one.status for one in refused}),
            "searches": lambda count: differs("searched", count, len(accepted)),
        },
        expected,
    )


ORDINALS = ("first", "second", "third", "fourth", "fifth")


def _sequence(given: Given, expected: Given) -> Mismatches:
    held, body, times = given.get("secret_held", SECRET), read_body(given), given.get("now", NOW)
    registrations = {"": own(held)}
    seen: list[Verdict] = []
    for number, step in enumerate(given["sequence"]):
        now = times[number] if isinstance(times, list) else times
        request = read_step(step, body, held, now)
        name = request.registration if request.registration not in ("a", "1", "one", "first") else ""
        if name not in registrations:
            registrations[name] = own(held)
        with _store(registrations[name], request.store):
            seen.append(registrations[name].send(request.headers, request.body, request.now))
    table: dict[str, Callable[[Any], Mismatches]] = {
        word: partial(_in_words, word, one) for word, one in zip(ORDINALS, seen, strict=False)
    }
    table["last"] = partial(_in_words, "last", seen[-1])
    table["accepted"] = lambda count: differs("accepted", count, sum(one.verify == "accept" for one in seen))
    table["verify"] = lambda words: (
        differs(
            "verdicts", words if isinstance(words, list) else [words], [one.verify for one in seen][-len([*words]) :]
        )
        if isinstance(words, list)
        else differs("verdict", words, seen[-1].verify)
    )
    table["http_status"] = lambda code: differs("status", code, seen[-1].status)
    table["http_statuses"] = lambda codes: differs("statuses", codes, [one.status for one in seen])
    table["reason"] = lambda words: differs(words, True, seen[-1].code in codes_of(words))
    if set(expected) <= {"rule", "note"}:
        raise Unreadable(f"expected {sorted(expected)}")
    yield from by_table(table, expected)


def _in_words(which: str, seen: Verdict, value: Any) -> Mismatches:
    """``accept``, ``reject 401``, ``reject (nonce)``, ``401``."""
    wanted = re.fullmatch(r"(accept|reject)?\w*\s*(\d{3})?\s*(?:[(:,]?\s*(.+?)\)?)?\s*", str(value))
    if wanted is None or not (wanted[1] or wanted[2]):
        raise Unreadable(f"{which}: {value}")
    if wanted[1]:
        yield from differs(which, wanted[1], seen.verify)
    if wanted[2]:
        yield from differs(which, int(wanted[2]), seen.status)
    if wanted[3] and seen.verify == "reject":
        words = "replayed nonce" if wanted[3].strip() == "nonce" else wanted[3]
        yield from differs(f"{which}: {wanted[3]}, as {seen.code}", True, seen.code in codes_of(words))


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


def _without_secret(headers: dict[str, str], body: bytes, now: int) -> Verdict:
    """A verifier that holds no secret, or an empty one: it lets nobody in."""
    try:
        verify(headers, body, [""], now=now)
    except Refusal as refusal:
        return Verdict("reject", refusal.status, refusal.code, False)
    return Verdict("accept", 200, "", False)
