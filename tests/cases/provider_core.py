"""Plays what the broker does with a provider that answers as told: one function a shape of case."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.cases import (
    provider_admin,
    provider_answers,
    provider_asking,
    provider_failing,
    provider_keeping,
    provider_merging,
    provider_network,
    provider_pages,
    provider_probes,
    provider_rotation,
    provider_story,
    provider_trials,
)
from tests.cases.provider_compare import Given, Mismatches
from tests.cases.report import Verdict, judge
from tests.cases.ssrf_words import Unreadable


def play(given: Given, expected: Given) -> Verdict:
    """Judge by the first shape that fits."""
    shape = dict(given)  # looking at a case is not judging it
    for fits, player in SHAPES:
        if fits(shape):
            return judge(player(given, expected))
    raise Unreadable(f"core: {sorted(given)}")


def _has(*names: str) -> Callable[[Given], bool]:
    return lambda given: all(name in given for name in names)


def _any(*names: str) -> Callable[[Given], bool]:
    return lambda given: any(name in given for name in names)


def _sequence_of(kind: type) -> Callable[[Given], bool]:
    """A sequence whose first step is of this kind."""
    return lambda given: isinstance(given.get("sequence"), list) and isinstance(given["sequence"][0], kind)


def _events(pattern: str) -> Callable[[Given], bool]:
    return lambda given: any(re.search(pattern, str(event)) for event in given.get("events", []))


def _results(kind: type) -> Callable[[Given], bool]:
    return lambda given: isinstance(given.get("results"), kind)


SHAPES: list[tuple[Callable[[Given], bool], Callable[[Given, Given], Mismatches]]] = [
    (
        lambda given: re.search("replay", str(given.get("note", ""))) is not None,
        provider_admin.replayed_elsewhere,
    ),
    (_has("patch"), provider_admin.patch),
    (_any("post", "registration"), provider_admin.post),
    (_any("grant", "grants"), provider_admin.grant),
    (_has("calls"), provider_admin.calls),
    (_any(*provider_pages.REFUSALS), provider_pages.refusals),
    (_any("token", "caller", "credential"), provider_asking.by_token),
    (_has("wire_bytes"), provider_answers.bomb),
    (_any("tls", "certificate"), provider_network.certificate),
    (_any("dns", "dns_each"), provider_network.names),
    (_sequence_of(list), provider_network.names),
    (lambda given: set(given) <= {"role", "base_url"}, provider_network.address),
    (_any("sequence", "steps"), provider_story.play),
    (_has("concurrent_requests"), provider_probes.probes),
    (_has("pairs"), provider_keeping.tuples),
    (_has("queries"), provider_asking.queries),
    (_events("(?i)rotat"), provider_rotation.rotations),
    (lambda given: "events" in given, provider_story.events),
    (_results(list), provider_merging.order),
    (_results(dict), provider_merging.band),
    (_has("providers", "documentId"), provider_merging.same_document),
    (_any("result_locale", "surviving_locales", "result_locales"), provider_merging.language),
    (_has("snippet"), provider_answers.inert),
    (_has("public", "internal"), provider_answers.withheld),
    (_any("response", "response_b64", "response_raw"), provider_answers.one_answer),
    (_has("status"), provider_failing.status_code),
    (lambda given: "provider" in given and "test" in str(given.get("route")), provider_trials.trial),
    (_has("provider"), provider_trials.once),
    (_has("origin"), provider_pages.page),
    (_any("capabilities", "call", "request", "send_conversation_id"), provider_asking.what_goes_out),
    (_has("body"), provider_asking.selectors),
    (_has("providers"), provider_asking.nobody_to_ask),
    (lambda given: "profile" in given and given["profile"] is None, provider_asking.no_profile),
    (_has("route"), provider_pages.page),
    (_has("now"), provider_admin.wiped),
]
