"""Compares what came of a fetch with every key of a case's expectation that has a meaning here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chalicelib.domain.source_url import canonicalise
from chalicelib.fetching.errors import FetchError, Reason
from chalicelib.fetching.ssrf import FetchResult, classify_address
from tests.cases.report import Verdict, judge, passed, skipped
from tests.cases.ssrf_attempt import Outcome, url_of
from tests.cases.ssrf_world import Request

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
"""Words in a case's reason → classes of address; that of the refusal must be among those of a word that occurs."""


def judge_outcome(outcome: Outcome, given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """Compare every key of ``expected`` that has a meaning here; name those that have none."""
    if outcome.world.faults:
        raise outcome.world.faults[0]
    outcome = _with_text_failure(outcome, expected)
    mismatches = [text for key, value in expected.items() if (text := _compare(key, value, outcome, given))]
    mismatches += _stray_contacts(outcome, given, expected)
    compared = [key for key in expected if key in COMPARE or _dynamic(key)]
    if outcome.decision == "crash":
        mismatches = [f"the guard raised {outcome.reason}"]
    elif mismatches and "alternative" in expected and outcome.decision in _alternatives(expected["alternative"]):
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
    "final_url",
    "host_header",
    "request_target",
    "method",
    "body_bytes",
    "hop",
}


def _with_text_failure(outcome: Outcome, expected: dict[str, Any]) -> Outcome:
    """A body that gives no text is a failure of its own, if the case looks as far as the text."""
    looks_at_text = expected.get("decision") != "fetch" or "text" in expected
    if outcome.text_failure and looks_at_text:
        return replace(outcome, decision="fail", reason=outcome.text_failure)
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


def differs(expected: Any, got: Any) -> str | None:
    return None if expected == got else f"expected {expected!r}, got {got!r}"


def stage_differs(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    mine = STAGES.get(outcome.reason or "", {outcome.reason or "none"})
    every = set().union(*STAGES.values())
    return None if value in mine or value not in every else f"expected {value!r}, got {outcome.reason!r}"


def _reason(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    """Only the class of a blocked address can be compared; a case's other reasons are prose."""
    text = str(value).lower()
    named = [classes for word, classes in ADDRESS_WORDS.items() if word in text]
    if outcome.reason != Reason.ADDRESS or not named or any(outcome.detail in classes for classes in named):
        return None
    return f"{value!r}, got {outcome.detail!r}"


def contacts_differ(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    return differs(list(map(_address, value)), [_address(contact.address) for contact in outcome.world.contacts])


def _last(outcome: Outcome) -> Request | None:
    return outcome.world.requests[-1] if outcome.world.requests else None


def _of_last(read: Callable[[Request], Any]) -> Callable[[Any, Outcome, dict[str, Any]], str | None]:
    def compare(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
        request = _last(outcome)
        return "no request arrived" if request is None else differs(value, read(request))

    return compare


def _of_result(read: Callable[[FetchResult], Any]) -> Callable[[Any, Outcome, dict[str, Any]], str | None]:
    def compare(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
        return "nothing was fetched" if outcome.result is None else differs(value, read(outcome.result))

    return compare


def _stored_url(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    return differs(value, canonicalise(url_of(given)))


def _text(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    if outcome.text is None:
        return f"no text: {outcome.text_failure or outcome.reason}"
    return differs(" ".join(str(value).split()), " ".join(outcome.text.split()))


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
        "a body was accepted" if value is False and outcome.decision == "fetch" and not outcome.text_failure else None
    )


def _not_checked(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    return "the answer was accepted" if value is False and outcome.result is not None else None


def _final(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    final = isinstance(outcome.error, FetchError) and outcome.error.final
    return differs(bool(value), not final)


def _status_word(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    mine = outcome.error.reason.status if isinstance(outcome.error, FetchError) else outcome.decision
    said = str(value).lower()
    if said in ("blocked", "refused", "failed:blocked"):
        return differs("refused", mine)
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
    return differs(value, 0 if outcome.result is None else len(outcome.result.body))


def _elapsed(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    limit = float(value) * outcome.world.scale + SLACK_SECONDS
    return None if outcome.elapsed <= limit else f"{outcome.elapsed:.2f} s, limit {limit:.2f} s (scaled)"


def _peak(value: Any, outcome: Outcome, given: dict[str, Any]) -> str | None:
    peak = outcome.peak_bytes / (1 << 20)
    return None if peak <= float(value) else f"peak of {peak:.1f} MiB"


COMPARE: dict[str, Callable[[Any, Outcome, dict[str, Any]], str | None]] = {
    "decision": lambda value, outcome, _: differs(value, outcome.decision),
    "stage": stage_differs,
    "reason": _reason,
    "contacted": contacts_differ,
    "dns_queries": lambda value, outcome, _: differs(value, len(outcome.world.lookups)),
    "lookups": lambda value, outcome, _: differs(value, len(outcome.world.lookups)),
    "requests": lambda value, outcome, _: differs(value, len(outcome.world.requests)),
    "host_header": _of_last(lambda request: request.headers.get("host")),
    "request_target": _of_last(lambda request: request.target),
    "method": _of_last(lambda request: request.method),
    "sni": _of_last(lambda request: request.sni or None),
    "final_url": _of_result(lambda result: result.final_url),
    "body_bytes": _of_result(lambda result: len(result.body)),
    "body_bytes_read": _body_bytes_read,
    "stored_url": _stored_url,
    "text": _text,
    "hop": lambda value, outcome, _: differs(value, getattr(outcome.error, "hop", None)),
    "error_text_must_not_contain": _hidden,
    "new_version": _no_new_version,
    "last_checked_moved": _not_checked,
    "auto_retry": _final,
    "status": _status_word,
    "bytes_sent": lambda value, outcome, _: differs(value, _received(outcome)),
    "http_bytes_sent": lambda value, outcome, _: differs(value, sum(len(r.head) for r in outcome.world.requests)),
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
