"""One fetch of a case: its policy and environment, its world, and what came of it."""

from __future__ import annotations

import contextlib
import os
import re
import ssl
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from chalicelib.errors import SettingsError
from chalicelib.fetching.errors import FetchError
from chalicelib.fetching.extract import ExtractionError, extract
from chalicelib.fetching.ssrf import FetchPolicy, FetchResult, Validators, fetch, parse_allowlist, parse_url
from chalicelib.settings import VARIABLES
from tests.cases import ssrf_certificates as certificates
from tests.cases import ssrf_words as words
from tests.cases.ssrf_responses import answer_of
from tests.cases.ssrf_world import TlsFor, World

URL = "http://src.example.com/"
PUBLIC = ("1.1.1.1",)
SCALE = 0.05
"""By how much the pauses of a slow server, the guard's deadline and a case's limit are shortened."""


@dataclass
class Outcome:
    """What one fetch came to, and what the world saw of it."""

    world: World
    decision: str
    reason: str | None = None
    detail: str | None = None
    result: FetchResult | None = None
    error: Exception | None = None
    text: str | None = None
    text_failure: str | None = None
    elapsed: float = 0.0
    peak_bytes: int = 0


def url_of(given: dict[str, Any]) -> Any:
    """What is to be fetched: as written, which may be no text at all, or spelled in words."""
    for key in ("url", "start", "uri"):
        if key in given:
            return given[key]
    for key in ("url_template", "url_generator"):
        if key in given:
            return words.whole(given[key]).decode("utf-8")
    return URL


def _is_slow(given: dict[str, Any], expected: dict[str, Any]) -> bool:
    about_time = re.search(r"sleep|every \d|no reply|never|hang|stall|silent|drip|timeout|hold", str(given), re.I)
    return bool(about_time) or expected.get("stage") == "timeout" or "max_elapsed_s" in expected


def policy_of(given: dict[str, Any], expected: dict[str, Any]) -> FetchPolicy:
    """The policy that the case's allowlist and environment ask for. Raises ValueError, SettingsError."""
    scale = SCALE if _is_slow(given, expected) else 1.0
    policy = FetchPolicy(timeout_seconds=20.0 * scale)
    entries = given.get("allow", given.get("allowlist"))
    if entries is not None:
        policy = replace(policy, allowed_domains=parse_allowlist(joined(entries)))
    environment = {name: str(value) for name, value in (given.get("env") or {}).items()}
    chosen = {
        name: variable.parse(environment[variable.name])
        for name, variable in VARIABLES.items()
        if variable.name in environment and name in FetchPolicy.__slots__
    }
    policy = replace(policy, **chosen)
    if given.get("allow_private_networks") or given.get("allow_private"):
        policy = replace(policy, allow_private_networks=True)
    return policy


def joined(entries: Any) -> str:
    """A case's list of domains as the setting spells it."""
    return entries if isinstance(entries, str) else ",".join(str(entry) for entry in entries)


@contextlib.contextmanager
def environment_of(given: dict[str, Any]) -> Iterator[Exception | None]:
    """Set the case's environment and a netrc; give the fault if Larder's settings refuse it."""
    values = {name: str(value) for name, value in (given.get("env") or {}).items() if value is not None}
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        if given.get("netrc"):
            Path(home, ".netrc").write_text(str(given["netrc"]))
            values |= {"HOME": home, "NETRC": str(Path(home, ".netrc"))}
        if values:
            stack.enter_context(mock.patch.dict(os.environ, values))
        fault: Exception | None = None
        try:
            policy_of(given, {})
        except (ValueError, SettingsError) as error:
            fault = error
        yield fault


def attempt(url: Any, world: World, given: dict[str, Any], expected: dict[str, Any]) -> Outcome:
    """Fetch ``url`` in ``world`` and extract its text."""
    policy = policy_of(given, expected)
    stored = given.get("validators") or {}
    validators = Validators(stored.get("etag"), stored.get("last_modified")) if stored else None
    measured = any(key.startswith("peak_memory") for key in expected)
    if measured:
        tracemalloc.start()
    started = time.monotonic()
    try:
        result = fetch(
            url,
            policy,
            validators=validators,
            resolver=world.resolver,
            connector=world.connector,
            tls=certificates.trusting(),
        )
        outcome = Outcome(world, "fetch", result=result)
    except FetchError as error:
        decision = "reject" if error.reason.status == "refused" else "fail"
        outcome = Outcome(world, decision, error.reason.value, error.detail, error=error)
    except Exception as error:  # nothing else may leave the guard: no expectation can be met by this
        outcome = Outcome(world, "crash", type(error).__name__, error=error)
    finally:
        peak = tracemalloc.get_traced_memory()[1] if measured else 0
        if measured:
            tracemalloc.stop()
    outcome.elapsed, outcome.peak_bytes = time.monotonic() - started, peak
    if outcome.result is not None and outcome.result.status != 304:
        _extract(outcome)
    return outcome


def _extract(outcome: Outcome) -> None:
    """Read the text of the page, or keep the word for why there is none."""
    assert outcome.result is not None
    try:
        outcome.text = extract(outcome.result.body, outcome.result.headers.get("content-type", "")).text
    except ExtractionError as error:
        outcome.text_failure = error.status


@contextlib.contextmanager
def world_of(given: dict[str, Any], expected: dict[str, Any]) -> Iterator[World]:
    """The names, addresses and the server of a case, for as long as the context lasts."""
    answers = _answers(given)
    world = World(
        answers=answers,
        answer=answer_of(given),
        tls_for=_tls(given, answers),
        default_addresses=() if answers else PUBLIC,
        refusals=_refusals(given.get("connect") or {}),
        peer=given.get("socket_peer") or given.get("peer_address"),
        scale=SCALE if _is_slow(given, expected) else 1.0,
    )
    try:
        yield world
    finally:
        world.close()


def _refusals(connect: Any) -> dict[str, str]:
    """How connecting ends, by address, or one word for all of them."""
    return {"*": connect} if isinstance(connect, str) else {key: str(value) for key, value in connect.items()}


def _answers(given: dict[str, Any]) -> dict[str, Any]:
    found = given.get("answers", given.get("dns"))
    if isinstance(found, list):  # for the one host of the URL
        with contextlib.suppress(FetchError):
            return {parse_url(url_of(given)).host: found}
        return {}
    answers = dict(found) if isinstance(found, dict) else {}
    for host, value in answers.items():
        many = re.fullmatch(
            r"(\d+) (?:different |distinct |public |ipv4 )*(?:addresses|answers|records).*", str(value), re.I
        )
        if many:
            answers[host] = [f"11.0.{number // 250}.{number % 250 + 1}" for number in range(int(many[1]))]
    return answers


def _tls(given: dict[str, Any], answers: dict[str, Any]) -> TlsFor:
    spoken = given.get("peer", given.get("tls", given.get("certificate", "valid")))
    known = tuple(answers)

    def context(name: str, address: str) -> ssl.SSLContext | bytes | None:
        text = str(spoken.get(name, "valid") if isinstance(spoken, dict) else spoken)
        if re.search(r"never|stall|silent|hang|no reply", text, re.I):
            return None
        if re.search(r"plain http|speaks http|not tls|no tls|garbage", text, re.I):
            return b"HTTP/1.1 400 Bad Request\r\n\r\n"
        host = name or (known[0] if known and not isinstance(spoken, dict) else address)
        return certificates.server_context(text, host, address, known)

    return context
