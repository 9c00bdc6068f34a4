"""Plays the cases of the guarded fetch: real sockets to a local server behind a stub resolver and connector.

Larder's choices where a case has two right answers, or where its words and Larder's differ:

- An address, scheme, port, name or redirect that the guard does not permit is ``reject``; everything else is ``fail``.
- Compatibility characters in a host are refused, not folded. A root dot is dropped. An empty port is the default port.
- A leading dot or ``*.`` of an allowlist entry changes nothing. https to http is refused.
- An answer without a content type is refused, never sniffed. Both framings at once are refused.
- Bytes behind a gzip stream that are no further member are ignored.

Pauses of a slow server and the guard's deadline are shortened by the same factor, and a case's limit with them.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import os
import re
import ssl
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urljoin

from chalicelib.errors import LarderError, SettingsError
from chalicelib.fetching.ssrf import (
    FetchError,
    FetchPolicy,
    FetchResult,
    Reason,
    Validators,
    check_url,
    classify_address,
    fetch,
    parse_allowlist,
    parse_url,
)
from tests.cases import ssrf_certificates as certificates
from tests.cases import ssrf_words as words
from tests.cases.report import Case, Verdict, judge, passed, read_cases, skipped
from tests.cases.ssrf_words import Step, Unreadable
from tests.cases.ssrf_world import Answer, Request, TlsFor, World

URL = "http://src.example.com/"
PUBLIC = ("1.1.1.1",)
NO_EXTRACTOR = "the extractor is not there"
SCALE = 0.05
SLACK_SECONDS = 0.5
"""What a busy machine may add to a shortened deadline before the case counts as overdue."""

STAGES: dict[str, set[str]] = {
    "refused:url": {"parse", "url", "syntax"},
    "refused:url_user_info": {"parse", "url", "userinfo"},
    "refused:url_host": {"parse", "url", "host"},
    "refused:url_port": {"parse", "url", "port"},
    "refused:scheme": {"scheme"},
    "refused:local_name": {"host", "name"},
    "refused:port": {"port"},
    "refused:domain": {"allowlist", "domain"},
    "refused:address": {"address", "ip"},
    "refused:too_many_addresses": {"address", "dns", "dns_limit"},
    "refused:peer": {"peer"},
    "refused:downgrade": {"downgrade", "redirect"},
    "unreachable:dns": {"dns"},
    "unreachable:connect": {"connect", "connection"},
    "unreachable:certificate": {"tls", "certificate"},
    "unreachable:tls": {"tls"},
    "unreachable:connection_lost": {"connection", "connect", "truncated", "transport", "reset"},
    "unreachable:not_http": {"parse", "protocol", "status_line", "framing", "status"},
    "unreachable:framing": {"framing", "parse"},
    "unreachable:header_line": {"header_line"},
    "unreachable:headers": {"headers_limit", "headers", "header_line", "interim"},
    "unreachable:truncated": {"truncated", "framing", "parse", "connection"},
    "unreachable:decoding": {"encoding", "decoding", "decode", "truncated"},
    "unreachable:location": {"redirect", "location"},
    "unreachable:too_many_redirects": {"redirect"},
    "unreachable:status": {"status"},
    "timeout": {"timeout", "deadline"},
    "empty": {"status", "empty"},
    "http_403": {"status"},
    "http_404": {"status"},
    "http_429": {"status"},
    "http_4xx": {"status"},
    "http_5xx": {"status"},
    "unsupported_type:encoding": {"encoding"},
    "unsupported_type": {"content_type"},
    "too_large": {"body_limit", "too_large"},
    # what comes after the fetch
    "config": {"config", "allowlist"},
    "damaged_text": {"damaged_text"},
}
"""The one table from Larder's reasons to the library's words for where it ended."""

ADDRESS_WORDS = {
    "loopback": {"loopback"},
    "link-local": {"link_local", "metadata"},
    "multicast": {"multicast"},
    "unspecified": {"this_network"},
    "documentation": {"documentation"},
    "test-net": {"documentation"},
    "broadcast": {"broadcast", "reserved"},
    "siit": {"ipv4_translated"},
    "teredo": {"teredo"},
    "6to4": {"6to4"},
    "discard": {"discard"},
    "metadata": {"metadata", "link_local", "local_name"},
    "site-local": {"site_local"},
    "unique local": {"unique_local"},
    "ula": {"unique_local"},
    "cgnat": {"carrier_nat"},
    "benchmark": {"benchmarking"},
}
"""Words in a case's reason → classes of address; the first that occurs is compared."""


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
    text_missing: str | None = None
    elapsed: float = 0.0
    peak_bytes: int = 0
    notes: list[str] = field(default_factory=list)


def play(case: Case) -> Verdict:
    """Judge one case. What its kind or its words ask for and nobody here understands is skipped, with the reason."""
    given, expected = case["input"], case["expected"]
    player = KINDS.get(given.get("kind", ""), _play_one)
    try:
        return player(given, expected)
    except Unreadable as unread:
        return skipped(f"no meaning for the words {str(unread)!r}")


# --- one fetch --------------------------------------------------------------------------------------------------------


def _play_one(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    with _environment(given) as setup_error, _world(given, expected) as world:
        if setup_error is not None:
            return _judge(Outcome(world, "reject", "config", error=setup_error), given, expected)
        return _judge(_attempt(_url(given), world, given, expected), given, expected)


def _url(given: dict[str, Any]) -> str:
    for key in ("url", "start", "uri"):
        if key in given:
            return str(given[key])
    for key in ("url_template", "url_generator"):
        if key in given:
            return words.whole(given[key]).decode("utf-8")
    return URL


def _is_slow(given: dict[str, Any], expected: dict[str, Any]) -> bool:
    about_time = re.search(r"sleep|every \d|no reply|never|hang|stall|silent|drip|timeout|hold", str(given), re.I)
    return bool(about_time) or expected.get("stage") == "timeout" or "max_elapsed_s" in expected


def _policy(given: dict[str, Any], expected: dict[str, Any]) -> FetchPolicy:
    """The policy that the case's allowlist and environment ask for. Raises ValueError, SettingsError."""
    scale = SCALE if _is_slow(given, expected) else 1.0
    policy = FetchPolicy(timeout_seconds=20.0 * scale)
    entries = given.get("allow", given.get("allowlist"))
    if entries is not None:
        policy = replace(policy, allowed_domains=parse_allowlist(_joined(entries)))
    environment = {name: str(value) for name, value in (given.get("env") or {}).items() if name.startswith("KB_")}
    if environment:
        variables = importlib.import_module("chalicelib.settings").VARIABLES
        chosen = {
            field_name: variable.parse(environment[variable.name])
            for field_name, variable in variables.items()
            if variable.name in environment and field_name in FetchPolicy.__slots__
        }
        policy = replace(policy, **chosen)
    if given.get("allow_private_networks") or given.get("allow_private"):
        policy = replace(policy, allow_private_networks=True)
    return policy


def _joined(entries: Any) -> str:
    return entries if isinstance(entries, str) else ",".join(str(entry) for entry in entries)


@contextlib.contextmanager
def _environment(given: dict[str, Any]) -> Iterator[Exception | None]:
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
            _policy(given, {})
        except (ValueError, SettingsError) as error:
            fault = error
        yield fault


def _attempt(url: Any, world: World, given: dict[str, Any], expected: dict[str, Any]) -> Outcome:
    policy = _policy(given, expected)
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
    finally:
        peak = tracemalloc.get_traced_memory()[1] if measured else 0
        if measured:
            tracemalloc.stop()
    outcome.elapsed, outcome.peak_bytes = time.monotonic() - started, peak
    if outcome.result is not None and outcome.result.status != 304:
        _extract(outcome)
    return outcome


def _extract(outcome: Outcome) -> None:
    """The text of the page; a body that gives none turns the fetch into a failure of its own stage."""
    assert outcome.result is not None
    try:
        extract = importlib.import_module("chalicelib.fetching.extract").extract
    except ModuleNotFoundError:
        outcome.text_missing = NO_EXTRACTOR
        return
    try:
        outcome.text = extract(outcome.result.body, outcome.result.headers.get("content-type", "")).text
    except LarderError as error:
        word = str(getattr(error, "status", None) or getattr(error, "outcome", None) or getattr(error, "reason", error))
        outcome.text_missing = word


# --- the world of a case ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _world(given: dict[str, Any], expected: dict[str, Any]) -> Iterator[World]:
    answers = _answers(given)
    world = World(
        answers=answers,
        answer=_answer(given),
        tls_for=_tls(given, answers),
        default_addresses=() if answers else PUBLIC,
        refusals={key: str(value) for key, value in (given.get("connect") or {}).items()},
        peer=given.get("socket_peer") or given.get("peer_address"),
        scale=SCALE if _is_slow(given, expected) else 1.0,
    )
    try:
        yield world
    finally:
        world.close()


def _answers(given: dict[str, Any]) -> dict[str, Any]:
    found = given.get("answers", given.get("dns"))
    if isinstance(found, list):  # for the one host of the URL
        with contextlib.suppress(FetchError):
            return {parse_url(_url(given)).host: found}
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
    spoken = given.get("peer") if given.get("kind") == "tls" else given.get("tls", "valid")
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


def _answer(given: dict[str, Any]) -> Answer:
    """What the server says to a request: the hops of a redirect, a script, or the case's one response."""
    if given.get("kind") == "script" or "steps" in given:
        return lambda request: words.script(given["steps"])
    hops = given.get("hops") or []
    final = given.get("final") or given.get("response") or {}
    plain: dict[str, Any] = {"body": "<p>ok</p>", "headers": {"Content-Type": "text/html; charset=utf-8"}}
    if isinstance(final, str):
        final = {"raw": final}
    source = given if given.get("kind") == "response" else {**plain, **final}
    ready = (
        list(_parts(source)) if not hops and not _is_endless(source) else None
    )  # words are read before the clock runs

    def answer(request: Request) -> Iterable[Step]:
        for hop in hops:
            if _is_at(str(hop.get("at", "*")), request):
                return _redirect(hop)
        return ready if ready is not None else _parts(source)

    return answer


def _is_endless(source: dict[str, Any]) -> bool:
    return bool(words.ENDLESS.search(str(source)) or re.search(r"[gG]i?B|zeros", str(source)))


def _is_at(place: str, request: Request) -> bool:
    if place == "*":
        return True
    with contextlib.suppress(FetchError):
        return parse_url(urljoin(request.url, place)).url == parse_url(request.url).url
    return place == request.target


def _redirect(hop: dict[str, Any]) -> Iterable[Step]:
    headers = {"Location": hop["location"]} if hop.get("location") is not None else {}
    response = {"status": hop.get("status", 302), "headers": {**headers, **(hop.get("headers") or {})}}
    body = {key: value for key, value in hop.items() if key.startswith("body")}
    if "body" in body and words.ENDLESS.search(str(body["body"])):
        body = {"body_generator": body["body"]}
    return _parts({**response, **(body or {"body": ""})})


def _parts(source: dict[str, Any]) -> Iterable[bytes]:
    """The bytes of a response in pieces."""
    if "raw" in source:
        return [str(source["raw"]).encode("utf-8")]
    if "raw_b64" in source or "raw_hex" in source:
        return [base64.b64decode(source["raw_b64"]) if "raw_b64" in source else bytes.fromhex(source["raw_hex"])]
    for key in ("raw_template", "raw_generator"):
        if key in source:
            return _raw_from_words(str(source[key]))
    headers = _header_fields(source)
    body = _body_parts(source, {name.lower(): value.lower() for name, value in headers})
    names = {name.lower() for name, _ in headers}
    if not names & {"transfer-encoding", "content-length"} and isinstance(body, list):
        headers.append(("Content-Length", str(sum(map(len, body)))))
    lines = [f"HTTP/1.1 {source.get('status', 200)} OK", *(f"{name}: {value}" for name, value in headers)]
    return chain(["\r\n".join(lines).encode("utf-8") + b"\r\n\r\n"], body)


def _header_fields(source: dict[str, Any]) -> list[tuple[str, str]]:
    """Headers as an object, with a list for a repeated one, or as a list of pairs; a body alone is an HTML page."""
    given = source.get("headers")
    if given is None:
        return [] if "status" in source else [("Content-Type", "text/html; charset=utf-8")]
    pairs = list(given.items()) if isinstance(given, dict) else [tuple(pair) for pair in given]
    return [(str(name), str(one)) for name, value in pairs for one in (value if isinstance(value, list) else [value])]


def _raw_from_words(text: str) -> Iterable[bytes]:
    """A whole response, or header lines to put in an ordinary one."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n"
    if words.ENDLESS.search(text):
        return words.pieces(text) if text.lstrip("'\"").startswith("HTTP/") else chain([head], words.pieces(text))
    data = words.whole(text)
    if not data.startswith(b"HTTP/"):
        return [head, data if data.endswith(b"\r\n") else data + b"\r\n", b"\r\nok"]
    return [data] if b"\r\n\r\n" in data else [data.rstrip(b"\r\n"), head[head.index(b"\r\n") :], b"\r\nok"]


def _body_parts(source: dict[str, Any], headers: dict[str, str]) -> Iterable[bytes]:
    is_chunked = "chunked" in headers.get("transfer-encoding", "")
    spoken = str(source.get("body_template", source.get("body_generator", "")))
    if "body_b64" in source or "body_hex" in source:
        encoded = source.get("body_b64")
        data: Iterable[bytes] = [base64.b64decode(encoded) if encoded else bytes.fromhex(source["body_hex"])]
    elif spoken:
        data = words.pieces(spoken) if _is_endless(source) else list(words.pieces(spoken))
        if is_chunked and "chunk" in spoken:
            return data
    else:
        data = [words.compress(str(source.get("body", "")).encode("utf-8"), headers.get("content-encoding", ""))]
    return words.chunked(data) if is_chunked else data


# --- comparing --------------------------------------------------------------------------------------------------------


def _judge(outcome: Outcome, given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """Compare every key of ``expected`` that has a meaning here; name those that have none."""
    if outcome.world.faults:
        raise outcome.world.faults[0]
    if outcome.text_missing == NO_EXTRACTOR and (
        "text" in expected or expected.get("stage") in ("damaged_text", "empty")
    ):
        return skipped(NO_EXTRACTOR)
    outcome = _with_text_failure(outcome, expected)
    mismatches = [text for key, value in expected.items() if (text := _compare(key, value, outcome, given))]
    mismatches += _stray_contacts(outcome, given, expected)
    compared = [key for key in expected if key in COMPARE or _dynamic(key)]
    if mismatches and "alternative" in expected and outcome.decision in _alternatives(expected["alternative"]):
        kept = [key for key in expected if key not in ALTERNATIVE_REPLACES]
        mismatches = [text for key in kept if (text := _compare(key, expected[key], outcome, given))]
        compared.append("alternative")
    if mismatches:
        return judge([*mismatches, f"(Larder: {outcome.decision} {outcome.reason or ''})"])
    if not compared:
        return skipped(f"nothing here can judge {sorted(expected)}")
    unread = [key for key in expected if key not in COMPARE and not _dynamic(key) and key not in PROSE]
    return passed(f"not compared: {', '.join(unread)}" if unread else "")


ALTERNATIVE_REPLACES = {
    "decision",
    "stage",
    "reason",
    "contacted",
    "text",
    "requests",
    "stored_url",
    "sni",
    "alternative",
}


def _with_text_failure(outcome: Outcome, expected: dict[str, Any]) -> Outcome:
    if outcome.decision == "fetch" and outcome.text_missing and outcome.text_missing != NO_EXTRACTOR:
        word = outcome.text_missing
        if expected.get("decision") != "fetch" or "text" in expected:
            return replace(outcome, decision="fail", reason=word)
    return outcome


def _alternatives(text: str) -> set[str]:
    start = text.strip().lower()
    if re.match(r"reject|refuse", start):
        return {"reject"}
    if re.match(r"fail|error", start):
        return {"fail", "reject"}
    return {"fetch"}


def _stray_contacts(outcome: Outcome, given: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """No case may see a connection to an address that it does not name, nor (without an exemption) to a private one."""
    contacted = [contact.address for contact in outcome.world.contacts]
    if "contacted" in expected:
        strays = set(map(_address, contacted)) - set(map(_address, expected["contacted"]))
    elif "env" in given or "allow_private" in str(given):
        strays = set()
    else:
        strays = {address for address in contacted if classify_address(address).classes}
    return [f"contacted {sorted(strays)}"] if strays else []


def _address(text: str) -> str:
    return text.lower().removeprefix("::ffff:") if "." in text else text.lower()


def _compare(key: str, value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    found = COMPARE[key](value, outcome, given) if key in COMPARE else _compare_dynamic(key, value, outcome)
    return f"{key}: {found}" if found else None


def _differs(expected: Any, got: Any) -> str | None:
    return None if expected == got else f"expected {expected!r}, got {got!r}"


def _stage(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    mine = STAGES.get(outcome.reason or "", {outcome.reason or "none"})
    every = set().union(*STAGES.values())
    return None if value in mine or value not in every else f"expected {value!r}, got {outcome.reason!r}"


def _reason(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    """Only the class of a blocked address can be compared; a case's other reasons are prose."""
    if outcome.reason != Reason.ADDRESS:
        return None
    text = str(value).lower()
    named = sorted((text.find(word), word) for word in ADDRESS_WORDS if word in text)
    if not named or outcome.detail in ADDRESS_WORDS[named[0][1]]:
        return None
    classes = {outcome.detail} | {name for _, word in named for name in ADDRESS_WORDS[word] if name == outcome.detail}
    return None if any(ADDRESS_WORDS[word] & classes for _, word in named) else f"{value!r} against {outcome.detail!r}"


def _contacted(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    return _differs(list(map(_address, value)), [_address(contact.address) for contact in outcome.world.contacts])


def _last(outcome: Outcome) -> Request | None:
    return outcome.world.requests[-1] if outcome.world.requests else None


def _of_last(read: Callable[[Request], Any]) -> Callable[[Any, Outcome, dict[str, Any]], str | None]:
    def compare(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
        request = _last(outcome)
        return "no request arrived" if request is None else _differs(value, read(request))

    return compare


def _of_result(read: Callable[[FetchResult], Any]) -> Callable[[Any, Outcome, dict[str, Any]], str | None]:
    def compare(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
        return "nothing was fetched" if outcome.result is None else _differs(value, read(outcome.result))

    return compare


def _stored_url(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    canonicalise = importlib.import_module("chalicelib.domain.source_url").canonicalise
    return _differs(value, canonicalise(_url(given))) or _differs(value, parse_url(_url(given)).url)


def _text(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    if outcome.text is None:
        return None if outcome.text_missing == NO_EXTRACTOR else f"no text: {outcome.text_missing}"
    return _differs(" ".join(str(value).split()), " ".join(outcome.text.split()))


def _shown(outcome: Outcome) -> str:
    """All that could reach a tenant or a log from the error."""
    error = outcome.error
    status = error.reason.status if isinstance(error, FetchError) else ""
    return f"{error} {error!r} {status} {vars(error) if error else ''}"


def _hidden(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    shown = _shown(outcome)
    found = [text for text in ([value] if isinstance(value, str) else value) if str(text) in shown]
    return f"the error says {found}" if found else None


def _no_new_version(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    return (
        "a body was accepted" if value is False and outcome.decision == "fetch" and not outcome.text_missing else None
    )


def _not_checked(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    return "the answer was accepted" if value is False and outcome.result is not None else None


def _final(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    final = isinstance(outcome.error, FetchError) and outcome.error.final
    return _differs(bool(value), not final)


def _status_word(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    mine = outcome.error.reason.status if isinstance(outcome.error, FetchError) else outcome.decision
    said = str(value).lower()
    if said in ("blocked", "refused", "failed:blocked"):
        return _differs("refused", mine)
    if said.startswith("failed"):
        return None if outcome.error is not None else f"expected {value!r}, got {mine!r}"
    return None


def _received(outcome: Outcome) -> int:
    return sum(contact.received for contact in outcome.world.contacts)


def _closed(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    open_still = [sock for sock in outcome.world.sockets if sock.fileno() != -1]
    return "a socket is still open" if "clos" in str(value) and open_still else None


def _decompressed(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    """An endless redirect body was not drained: little more than the head was ever read from that connection."""
    read = outcome.world.sockets[0].bytes_read if outcome.world.sockets else 0
    return None if value != 0 or read <= 65_536 else f"{read} bytes of a redirect were read"


def _body_bytes_read(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    return _differs(value, 0 if outcome.result is None else len(outcome.result.body))


def _elapsed(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    limit = float(value) * outcome.world.scale + SLACK_SECONDS
    return None if outcome.elapsed <= limit else f"{outcome.elapsed:.2f} s, limit {limit:.2f} s (scaled)"


def _peak(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    peak = outcome.peak_bytes / (1 << 20)
    return None if peak <= float(value) else f"peak of {peak:.1f} MiB"


COMPARE: dict[str, Callable[[Any, Outcome, dict[str, Any]], str | None]] = {
    "decision": lambda value, outcome, _: _differs(value, outcome.decision),
    "stage": _stage,
    "reason": _reason,
    "contacted": _contacted,
    "dns_queries": lambda value, outcome, _: _differs(value, len(outcome.world.lookups)),
    "lookups": lambda value, outcome, _: _differs(value, len(outcome.world.lookups)),
    "requests": lambda value, outcome, _: _differs(value, len(outcome.world.requests)),
    "host_header": _of_last(lambda request: request.headers.get("host")),
    "request_target": _of_last(lambda request: request.target),
    "method": _of_last(lambda request: request.method),
    "sni": _of_last(lambda request: request.sni or None),
    "final_url": _of_result(lambda result: result.final_url),
    "body_bytes": _of_result(lambda result: len(result.body)),
    "body_bytes_read": _body_bytes_read,
    "stored_url": _stored_url,
    "text": _text,
    "hop": lambda value, outcome, _: _differs(value, getattr(outcome.error, "hop", None)),
    "error_text_must_not_contain": _hidden,
    "new_version": _no_new_version,
    "last_checked_moved": _not_checked,
    "auto_retry": _final,
    "status": _status_word,
    "bytes_sent": lambda value, outcome, _: _differs(value, _received(outcome)),
    "http_bytes_sent": lambda value, outcome, _: _differs(value, sum(len(r.head) for r in outcome.world.requests)),
    "connection": _closed,
    "redirect_body_bytes_decompressed": _decompressed,
    "max_elapsed_s": _elapsed,
    "elapsed_s_max": _elapsed,
    "peak_memory_mb_max": _peak,
}

PROSE = {
    "must_not",
    "alternative",
    "canonical_if_normalised",
    "folds_to",
    "policy",
    "deadline",
    "limit_hint",
    "note",
    "rule",
}
"""Words for the reader; what they demand is compared by the keys beside them (``must_not`` by ``contacted``)."""

_HOP = re.compile(r"hop(\d+)_(?:request_)?headers_(include|exclude)s?")
_ALL = re.compile(r"(?:request_)?headers_(include|exclude)s?")
_BOUND = re.compile(r"(\w+?)_(max|min)")


def _dynamic(key: str) -> bool:
    bound = _BOUND.fullmatch(key)
    return bool(_HOP.fullmatch(key) or _ALL.fullmatch(key) or (bound and bound[1] in COUNTS) or _contain(key))


def _contain(key: str) -> bool:
    return key.endswith(("must_not_contain", "must_not_include"))


COUNTS: dict[str, Callable[[Outcome], float]] = {
    "requests": lambda outcome: len(outcome.world.requests),
    "dns_queries": lambda outcome: len(outcome.world.lookups),
    "contacted": lambda outcome: len(outcome.world.contacts),
    "connections": lambda outcome: len(outcome.world.contacts),
    "body_bytes": lambda outcome: len(outcome.result.body) if outcome.result else 0,
    "bytes_read": lambda outcome: sum(sock.bytes_read for sock in outcome.world.sockets),
}


def _compare_dynamic(key: str, value: Any, outcome: Outcome) -> str | None:
    if hop := _HOP.fullmatch(key):
        requests = outcome.world.requests
        number = int(hop[1])
        return "no such request" if number >= len(requests) else _headers(hop[2], value, requests[number])
    if every := _ALL.fullmatch(key):
        return next((text for request in outcome.world.requests if (text := _headers(every[1], value, request))), None)
    if _contain(key):
        return _hidden(value, outcome, {})
    bound = _BOUND.fullmatch(key)
    if bound and bound[1] in COUNTS:
        got = COUNTS[bound[1]](outcome)
        within = got <= float(value) if bound[2] == "max" else got >= float(value)
        return None if within else f"{got}"
    return None


def _headers(how: str, names: Any, request: Request) -> str | None:
    present = [name for name in names if name.lower() in request.headers]
    if how == "exclude":
        return f"sent {present}" if present else None
    missing = [name for name in names if name not in present]
    return f"not sent {missing}" if missing else None


# --- the other kinds --------------------------------------------------------------------------------------------------


def _play_sequence(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """Several fetches in one world, judged by a decision such as "first fetch, second fail"."""
    urls = given.get("urls") or [_url(given)] * int(given.get("fetches", 2))
    spoken = re.findall(r"(first|second|third|then)?\s*(fetch|fail|reject)", str(expected.get("decision", "")))
    mismatches = []
    with _world(given, expected) as world:
        for number, url in enumerate(urls):
            outcome = _attempt(url, world, given, expected)
            if number < len(spoken):
                mismatches.append(_differs(spoken[number][1], outcome.decision) or "")
            ordinal = ("first", "second", "third", "fourth")[min(number, 3)]
            if f"{ordinal}_stage" in expected:
                mismatches.append(_stage(expected[f"{ordinal}_stage"], outcome, given) or "")
        if "contacted" in expected:
            mismatches.append(_contacted(expected["contacted"], outcome, given) or "")
        if "requests" in expected:
            mismatches.append(_differs(expected["requests"], len(world.requests)) or "")
    return judge(mismatches) if spoken else skipped("no decision to compare")


def _play_dns_sequence(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """Answers that change between queries: the first fetch must live with the first answer."""
    lists = given.get("sequence", given.get("answers", given.get("dns")))
    host = parse_url(_url(given)).host
    if isinstance(lists, list):
        lists = {host: [entry if isinstance(entry, list) else [entry] for entry in lists]}
    several = bool(re.search(r"first|second|then", str(expected.get("decision", "")))) or "fetches" in given
    given = {**given, "answers": lists}
    return _play_sequence(given, expected) if several else _play_one(given, expected)


def _play_state(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """A source registered under one policy and fetched under another."""
    if "registered_under" in given:
        check_url(_url(given), FetchPolicy(allowed_domains=parse_allowlist(_joined(given["registered_under"]))))
        given = {**given, "allow": given.get("now")}
    return _play_one(given, expected)


def _play_set(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """Each member of a list of URLs, hosts or addresses must meet the one expectation."""
    members = [value for value in given.values() if isinstance(value, list) and value]
    if not members:
        raise Unreadable(str(sorted(given)))
    mismatches = []
    for member in members[0]:
        text = str(member)
        if "://" in text:
            alone = {**given, "kind": "url", "url": text}
        elif re.fullmatch(r"[0-9a-fA-F:.]+(%\w+)?", text):
            alone = {**given, "kind": "dns", "url": URL, "answers": {"src.example.com": [text]}}
        else:
            alone = {**given, "kind": "url", "url": f"http://{text}/"}
        verdict = _play_one(alone, expected)
        mismatches.append(f"{text}: {verdict.why}" if verdict.status == "FAIL" else "")
    return judge(mismatches)


def _play_pair(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """Two URLs that must fare alike."""
    urls = [value for key, value in given.items() if key != "kind" and isinstance(value, str) and "//" in value]
    if len(urls) != 2 or "decision" not in expected:
        raise Unreadable(str(sorted(given)))
    verdicts = [_play_one({**given, "kind": "url", "url": url}, expected) for url in urls]
    return next((verdict for verdict in verdicts if verdict.status != "PASS"), passed())


def _play_property(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """The properties that can be checked over the URLs of the library beside this file."""
    statement = f"{given.get('statement', '')} {expected.get('invariant', '')}".lower()
    if "identical" in statement or ("host" in statement and ("sni" in statement or "server name" in statement)):
        return judge(_differing_hosts())
    if "exception" in statement or "never raise" in statement or "fail closed" in statement or "crash" in statement:
        return judge(_escaping_exceptions())
    raise Unreadable(statement)


def _library_urls() -> list[str]:
    cases = [case["input"] for case in read_cases(Path(__file__).with_name("ssrf.jsonl"))]
    hops = [hop["location"] for given in cases for hop in given.get("hops", []) if "location" in hop]
    return [str(given[key]) for given in cases for key in ("url", "start") if key in given] + hops


def _differing_hosts() -> list[str]:
    """For every accepted URL: allowlist, DNS query, TLS name and Host header must use one identical ASCII string."""
    mismatches = []
    spellings = {re.sub("^http:", "https:", url, flags=re.I) for url in _library_urls()}
    for url in spellings:
        with contextlib.suppress(FetchError), _world({"tls": "valid"}, {}) as world:
            target = parse_url(url)
            policy = FetchPolicy(allowed_domains=(target.host,))
            fetch(url, policy, resolver=world.resolver, connector=world.connector, tls=certificates.trusting())
            authority = world.requests[-1].headers["host"]
            hosts = {target.host, *world.lookups, *(name for name in world.handshakes if name)}
            if authority != target.authority or len(hosts) != 1 or not target.host.isascii():
                mismatches.append(f"{url!r}: {authority}, {hosts}")
    return mismatches


def _escaping_exceptions() -> list[str]:
    mismatches = []
    for url in _library_urls():
        try:
            parse_url(url)
        except FetchError:
            continue
        except Exception as error:  # the very thing that must not happen
            mismatches.append(f"{url!r}: {type(error).__name__}")
    return mismatches


KINDS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Verdict]] = {
    "sequence": _play_sequence,
    "dns_sequence": _play_dns_sequence,
    "state": _play_state,
    "set": _play_set,
    "pair": _play_pair,
    "property": _play_property,
}
"""Kinds that are not one fetch in one world."""
