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

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chalicelib.fetching.errors import FetchError
from chalicelib.fetching.ssrf import FetchPolicy, check_url, fetch, parse_allowlist, parse_url
from tests.cases import ssrf_certificates as certificates
from tests.cases.report import Case, Verdict, judge, passed, read_cases, skipped
from tests.cases.ssrf_attempt import URL, Outcome, attempt, environment_of, joined, url_of, world_of
from tests.cases.ssrf_compare import contacts_differ, differs, judge_outcome, stage_differs
from tests.cases.ssrf_words import Unreadable


def play(case: Case) -> Verdict:
    """Judge one case. What its kind or its words ask for and nobody here understands is skipped, with the reason."""
    given, expected = case["input"], case["expected"]
    several = isinstance(given.get("urls"), list) and not {"url", "start", "hops", "fetches"} & given.keys()
    player = KINDS.get(given.get("kind", ""), _play_set if several else _play_one)
    try:
        return player(given, expected)
    except Unreadable as unread:
        return skipped(f"no meaning for the words {str(unread)!r}")
    except (KeyError, IndexError, TypeError, AttributeError) as shape:  # the guard's own are caught at its call
        return skipped(f"the case has a shape that can't be read: {type(shape).__name__} {shape}")


def _play_one(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    with environment_of(given) as setup_error, world_of(given, expected) as world:
        if setup_error is not None:
            return judge_outcome(Outcome(world, "reject", "config", error=setup_error), given, expected)
        return judge_outcome(attempt(url_of(given), world, given, expected), given, expected)


def _play_sequence(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """Several fetches in one world, judged by a decision such as "first fetch, second fail"."""
    urls = given.get("urls") or [url_of(given)] * int(given.get("fetches", 2))
    decision = str(expected.get("decision", ""))
    spoken = re.findall(r"\b(fetch|fail|reject)", decision)
    if re.search(r"\b(both|all|each|every)\b", decision):
        spoken = spoken[:1] * len(urls)
    mismatches = []
    with world_of(given, expected) as world:
        for number, url in enumerate(urls):
            outcome = attempt(url, world, given, expected)
            if number < len(spoken):
                mismatches.append(differs(spoken[number], outcome.decision) or "")
            ordinal = ("first", "second", "third", "fourth")[min(number, 3)]
            if f"{ordinal}_stage" in expected:
                mismatches.append(stage_differs(expected[f"{ordinal}_stage"], outcome, given) or "")
        if "contacted" in expected:
            mismatches.append(contacts_differ(expected["contacted"], outcome, given) or "")
        if "requests" in expected:
            mismatches.append(differs(expected["requests"], len(world.requests)) or "")
    return judge(mismatches) if spoken else skipped("no decision to compare")


def _play_dns_sequence(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """Answers that change between queries: the first fetch must live with the first answer."""
    lists = given.get("sequence", given.get("answers", given.get("dns")))
    host = parse_url(url_of(given)).host
    if isinstance(lists, list):
        lists = {host: [entry if isinstance(entry, list) else [entry] for entry in lists]}
    several = bool(re.search(r"first|second|then", str(expected.get("decision", "")))) or "fetches" in given
    given = {**given, "answers": lists}
    return _play_sequence(given, expected) if several else _play_one(given, expected)


def _play_state(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """A source registered under one policy and fetched under another."""
    if "registered_under" in given:
        check_url(url_of(given), FetchPolicy(allowed_domains=parse_allowlist(joined(given["registered_under"]))))
        given = {**given, "allow": given.get("now")}
    return _play_one(given, expected)


def _play_set(given: dict[str, Any], expected: dict[str, Any]) -> Verdict:
    """Each member of a list of URLs, hosts or addresses must meet the one expectation."""
    members = [value for value in given.values() if isinstance(value, list) and value]
    if not members:
        raise Unreadable(str(sorted(given)))
    if "decision" not in expected and re.search(r"reject|refuse|block", str(expected)):
        expected = {**expected, "decision": "reject"}
    mismatches = []
    judged = False
    for member in members[0]:
        text = str(member)
        if "://" in text:
            alone = {**given, "kind": "url", "url": text}
        elif re.fullmatch(r"[0-9a-fA-F:.]+(%\w+)?", text):
            alone = {**given, "kind": "dns", "url": URL, "answers": {"src.example.com": [text]}}
        else:
            alone = {**given, "kind": "url", "url": f"http://{text}/"}
        verdict = _play_one(alone, expected)
        judged |= verdict.status != "SKIP"
        mismatches.append(f"{text}: {verdict.why}" if verdict.status == "FAIL" else "")
    return judge(mismatches) if judged else skipped(f"nothing here can judge {sorted(expected)}")


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
        with contextlib.suppress(FetchError), world_of({"tls": "valid"}, {}) as world:
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
