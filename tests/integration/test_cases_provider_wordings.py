"""Cases in other words than the library's: the player judges them, fails what is wrong, and passes nothing unread."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases.provider_player import play

pytestmark = pytest.mark.usefixtures("_hurried")

GOOD = {"contractVersion": 1, "results": [{"documentId": "d1", "title": "T", "snippet": "S", "audience": "public"}]}
T0 = 1_796_000_000
V = {"role": "provider-verifier"}
Words = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]

# What is given, what holds of it, and what does not.
WORDINGS: dict[str, Words] = {
    "rotation with an overlap of nothing": (
        {"events": ["rotate at t0", "rotate at t0+1h, overlap_seconds 0"]},
        {"emitted": ["newest"], "second": "200"},
        {"emitted": ["newest", "previous"]},
    ),
    "a rotation without overlap, then an ordinary one": (
        {"events": ["rotate with overlap_seconds 0 at t0", "rotate at t0+60"]},
        {"emitted": ["newest", "previous"], "http_statuses": [200, 200]},
        {"second": "refused"},
    ),
    "a rotation after the overlap": (
        {"events": ["rotate at t0", "rotate at t0+25h"]},
        {"second": "accepted", "v1_count": 2},
        {"second": "409"},
    ),
    "a rotation inside an overlap of its own": (
        {"events": ["rotate at t0 with overlap 2h", "rotate at t0+1h"]},
        {"second": "refused 409"},
        {"second": "accepted"},
    ),
    "a request after the overlap": (
        {"events": ["rotate at t0", "request at t0+25h"]},
        {"emitted": ["newest"], "signatures": 1},
        {"emitted": ["newest", "previous"]},
    ),
    "an overlap of the case": (
        {"overlap_seconds": 3600, "events": ["rotate at t0", "rotate at t0+2h"]},
        {"second": "accepted"},
        {"second": "refused"},
    ),
    "headers of the widget's route": (
        {"route": "/v1/widget/search"},
        {"method": "POST", "headers": {"Cache-Control": "private, no-store"}},
        {"headers": {"Cache-Control": "public"}},
    ),
    "no cookies": (
        {"route": "widget"},
        {"set_cookie": False, "headers": {"Set-Cookie": None}},
        {"set_cookie": True},
    ),
    "an origin that is not the page's": (
        {"route": "widget", "origin": "https://evil.example.com"},
        {"http_status": 403, "allow_origin": None, "provider_called": False},
        {"http_status": 200},
    ),
    "the page's own origin": (
        {"route": "widget", "origin": "https://www.example.com"},
        {"http_status": 200, "allow_origin": "https://www.example.com", "allow_credentials": False},
        {"allow_origin": "*"},
    ),
    "a preflight": (
        {"route": "widget", "origin": "https://www.example.com", "method": "OPTIONS"},
        {"http_status": 200, "cors": True, "provider_called": False},
        {"cors": False},
    ),
    "refusals compared": (
        {"route": "widget", "refusals": ["wrong origin", "unknown token", "revoked token", "agent token", "limit 11"]},
        {"same_body": True, "same_status": True, "queried": 0},
        {"same_body": False},
    ),
    "a failure on the widget's route": (
        {"route": "widget", "provider": "500"},
        {"results": 0, "http_status": 200, "requests_sent": 1, "envelope_keys": ["results"]},
        {"results": 1},
    ),
    "a failure's class on the widget's route": (
        {"route": "widget", "provider": "401"},
        {"failure_class": "configuration"},
        {"failure_class": "transient"},
    ),
    "a trial of one that refuses": (
        {"route": "POST /providers/{id}/test", "provider": "401"},
        {"failure_counter_delta": 0, "failure_class": "configuration"},
        {"failure_class": "transient"},
    ),
    "a trial of one that babbles": (
        {"route": "POST /providers/{id}/test", "provider": "malformed"},
        {"cache_writes": 0, "failure_counter_delta": 0, "status": "contract_error"},
        {"status": "timeout"},
    ),
    "a trial of one that answers": (
        {"route": "POST /v1/knowledge/providers/p1/test", "provider": "ok with 2 results"},
        {"results": 2, "cache_writes": 0},
        {"results": 1},
    ),
    "one query in two normal forms": (
        {"queries": ["Stra\u00dfe \u00e9", "Stra\u00dfe e\u0301"]},
        {"distinct_keys": 1, "rule": "NFC"},
        {"cache_hits": 0},
    ),
    "queries that differ in case": ({"queries": ["Reset", "reset"]}, {"cross_hits": 0}, {"cross_hits": 1}),
    "an answer that is too old": (
        {"sequence": ["agent q", "agent q at t0+61"]},
        {"second_cache_hit": False, "requests_sent": 2},
        {"second_cache_hit": True},
    ),
    "an answer that is fresh": (
        {"sequence": ["agent q", "agent q at t0+59"]},
        {"second_cache_hit": True},
        {"second_cache_hit": False},
    ),
    "an answer that is too old, said otherwise": (
        {"sequence": ["agent asks q", "61 s later", "agent asks q"]},
        {"cache_hit": False, "provider_called": True},
        {"cache_hit": True},
    ),
    "a change that is no other configuration": (
        {"sequence": ["agent q", "PATCH priority", "agent q"]},
        {"cache_hit": True, "config_generation": "unchanged"},
        {"config_generation": "+1"},
    ),
    "a change of the address": (
        {"sequence": ["agent q cached", "PATCH base_url", "agent q"]},
        {"cache_hit": False, "config_generation": "+1", "requests_sent": 2},
        {"cache_hit": True},
    ),
    "a rotation between questions": (
        {"sequence": ["agent q cached", "rotate secret", "agent q"]},
        {"second": "miss", "third_cache_hit": False},
        {"second": "hit"},
    ),
    "a switched-off provider between questions": (
        {"sequence": ["agent q (cached)", "disable provider", "agent q"]},
        {"second": "no results", "second_results": 0},
        {"second_results": 1},
    ),
    "a capability that is withdrawn": (
        {"sequence": ["assistant q", "revoke knowledge:read_public", "assistant q"]},
        {"second": "403", "requests_sent": 1},
        {"second": "200"},
    ),
    "an agent who is none any more": (
        {"sequence": ["agent q cached", "revoke the agent's token", "agent q"]},
        {"second": "refused", "requests_sent": 1},
        {"second": "hit"},
    ),
    "two tenants": (
        {"sequence": ["tenant A agent q", "tenant B agent q"]},
        {"cross_hits": 0, "second_cache_hit": False},
        {"cross_hits": 1},
    ),
    "two agents": (
        {"sequence": ["agent A query q", "agent B query q", "agent A query q"]},
        {"second_cache_hit": False, "third_cache_hit": True},
        {"second_cache_hit": True},
    ),
    "a conversation": (
        {"sequence": ["agent q with conversationId", "agent q with conversationId"]},
        {"cache_writes": 0, "cache_hits": 0},
        {"cache_writes": 1},
    ),
    "an assistant's question": (
        {"sequence": ["agent q", "assistant q"]},
        {"assistant_cache_hit": False, "assistant_cache_writes": 0},
        {"assistant_cache_hit": True},
    ),
    "five timeouts": (
        {"sequence": ["timeout", "timeout", "timeout", "timeout", "timeout"]},
        {"circuit": "open", "open_for_s": 30, "status": "active", "disable_counter": 0},
        {"circuit": "closed"},
    ),
    "five timeouts, counted": ({"sequence": ["timeout x5"]}, {"circuit_open": True}, {"circuit_open": False}),
    "four failures and a success": (
        {"sequence": ["500", "timeout", "503", "connection reset", "ok", "500"]},
        {"circuit": "closed", "requests_sent": 6},
        {"circuit": "open"},
    ),
    "three refusals": (
        {"sequence": ["401", "403", "malformed"]},
        {"status": "auto_disabled"},
        {"status": "active"},
    ),
    "refusals of pages": (
        {"route": "widget", "sequence": [401, 401, 401, 401]},
        {"auto_disabled": False, "agents_affected": False, "agent_status": "config_error"},
        {"auto_disabled": True},
    ),
    "a circuit that is due": (
        {"sequence": ["timeout x5", "wait 60s"]},
        {"circuit": "half-open"},
        {"circuit": "open"},
    ),
    "events without a log": (
        {"events": ["500", "500", "500", "500", "500"]},
        {"circuit": "open", "failure_class": "transient"},
        {"auto_disabled": True},
    ),
    "events in the log": (
        {"events": ["ok", "503", "reset"]},
        {"log_must_not_contain": ["secrets", "signature", "body"]},
        {"log_must_not_contain": ["secret"], "circuit": "open"},
    ),
    "a provider that is removed, in its routes": (
        {"calls": ["POST", "DELETE"]},
        {"secret_in_body": [True, False]},
        {"secret_in_body": [True, True]},
    ),
    "a rotation, in its routes": (
        {"calls": ["GET", "rotate-secret", "GET"]},
        {"secret_in_body": [False, True, False]},
        {"secret_in_body": [False, False, False]},
    ),
    "many at once, counted otherwise": (
        {"concurrent_requests": 6, "state": "half_open"},
        {"requests_sent": 1, "others": "circuit_open"},
        {"requests_sent": 6},
    ),
    "many at once while it is open": (
        {"concurrent_requests": 4, "state": "open"},
        {"probes": 0, "circuit": "open"},
        {"probes": 1},
    ),
    "a probe that fails": (
        {"concurrent_requests": 4, "state": "half-open", "provider": "500"},
        {"probes": 1, "open_for_s": 60},
        {"open_for_s": 30},
    ),
    "a wrong acknowledgement": (
        {"patch": {"allow_private_network": True, "acknowledge": "yes"}},
        {"http_status": 400},
        {"http_status": 200},
    ),
    "no acknowledgement": (
        {"patch": {"allow_private_network": True}},
        {"http_status": 400, "audit_record": False},
        {"http_status": 400, "audit_record": True},
    ),
    "a right acknowledgement": (
        {"patch": {"allow_private_network": True, "acknowledge": "ssrf-risk"}},
        {"http_status": 200, "audit_record": True, "config_generation": "bumped"},
        {"config_generation": "unchanged"},
    ),
    "a change of the priority": (
        {"patch": {"priority": 3}},
        {"http_status": 200, "config_generation": "unchanged", "admin_only": True},
        {"config_generation": "raised"},
    ),
    "a change of the status": (
        {"patch": {"status": "disabled"}},
        {"config_generation": "+1", "status": "disabled"},
        {"config_generation": 0},
    ),
    "a change to plain HTTP": (
        {"patch": {"base_url": "http://kb.example.com"}},
        {"http_status": 400},
        {"refused": False},
    ),
    "a name that nobody answers for": (
        {"base_url": "https://wiki.example.com/", "dns": "no reply", "max_elapsed_s": 10},
        {"failure_class": "transient"},
        {"failure_class": "configuration"},
    ),
    "routes for customers and a provider for agents": (
        {"profile": "agent_only", "route": "widget", "response": GOOD},
        {"results": 0, "requests_sent": 0},
        {"requests_sent": 1},
    ),
    "who is asked by whom": (
        {"token": "assistant", "route": "/v1/knowledge/search"},
        {"queried": ["customer_safe"], "agent_only_queried": 0, "results": 1},
        {"queried": ["customer_safe", "agent_only"]},
    ),
    "a tie": (
        {"results": [["p1", 1, 0.5], ["p2", 1, 0.5], ["p3", 1, 0.5]]},
        {"order": ["p1", "p2", "p3"]},
        {"order": ["p3", "p2", "p1"]},
    ),
    "a grant in the audit": (
        {"grant": "knowledge:read_public"},
        {"granted": True, "audit_record": True, "admin_only": True},
        {"audit_record": False},
    ),
    "a grant that is refused": (
        {"grant": "knowledge:read_internal"},
        {"refused": True, "audit_record": False},
        {"granted": True},
    ),
    "scores of one that does not declare them": (
        {"results": [["p1", 1, 0.2], ["p2", 1, 0.9]], "capabilities": {"p1": ["scoring"], "p2": []}},
        {"order": ["p1", "p2"]},
        {"order": ["p2", "p1"]},
    ),
    "a certificate of nobody's": (
        {"tls": "self-signed certificate"},
        {"failure_class": "configuration", "requests_sent": 0, "results": 0},
        {"failure_class": "transient"},
    ),
    "a certificate that ran out": (
        {"certificate": "expired"},
        {"failure_class": "configuration", "body_sent": False},
        {"failure_class": "contract"},
    ),
    "a right certificate": ({"certificate": "valid"}, {"failure_class": None, "results": 1}, {"results": 0}),
    "a slow drip": (
        {"provider": "slow drip, one byte at a time", "max_elapsed_s": 10},
        {"failure_class": "transient", "results": 0, "requests_sent": 1},
        {"failure_class": None},
    ),
    "a status in words": (
        {"status": "timeout"},
        {"failure_class": "transient", "disable_counter": 0},
        {"failure_class": "configuration"},
    ),
    "a status and another question": (
        {"status": 503, "retry_after": "60", "then_after_s": 61},
        {"failure_class": "transient", "called_again": True, "requests_sent": 2},
        {"called_again": False},
    ),
    "a status and another question too soon": (
        {"status": 429, "retry_after": "120", "then_after_s": 60},
        {"called_again": False, "then_status": "circuit_open"},
        {"called_again": True},
    ),
    "a registration over plain HTTP": (
        {"post": {"base_url": "http://kb.example.com/"}},
        {"http_status": 400},
        {"http_status": 201},
    ),
    "a reason for a refusal": (
        {**V, "header": f"t={T0 - 301}, n=n0nce-7f3a, v1={'0' * 64}", "now": T0},
        {"verify": "reject", "reason": "signature mismatch"},
        {"reason": "timestamp outside window"},
    ),
    "one request at two registrations": (
        {**V, "sequence": ["valid request, registration A", "same request, registration B"]},
        {"first": "accept", "second": "accept"},
        {"second": "reject"},
    ),
    "two nonces": (
        {**V, "sequence": ["good signature with nonce X", "good signature with nonce Y", "good with nonce X again"]},
        {"second": "accept", "third": "reject 401 (nonce seen)"},
        {"third": "accept"},
    ),
    "a nonce after its time": (
        {**V, "sequence": [{"t": T0, "now": T0}, {"t": T0, "now": T0 + 302}]},
        {"second": "reject (timestamp window)"},
        {"second": "reject (nonce)"},
    ),
    "replicas at once": (
        {**V, "concurrent_requests": 5},
        {"accepted": 1, "rejected": 4, "http_status": 401},
        {"accepted": 5},
    ),
    "another type of content": (
        {**V, "content_type": "text/plain"},
        {"verify": "reject", "http_status": 400, "search_executed": False},
        {"verify": "accept"},
    ),
}  # fmt: skip


def case(given: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    return {"id": "x", "input": {"role": "core", **given}, "expected": expected}


@pytest.mark.parametrize("name", WORDINGS)
def test_what_holds_passes(name: str) -> None:
    given, expected, _ = WORDINGS[name]
    verdict = play(case(given, expected))
    assert verdict.status == "PASS", verdict.why


@pytest.mark.parametrize("name", WORDINGS)
def test_what_does_not_hold_is_no_pass(name: str) -> None:
    given, _, wrong = WORDINGS[name]
    verdict = play(case(given, wrong))
    assert verdict.status == ("SKIP" if name == "events in the log" else "FAIL"), verdict.why


@pytest.mark.parametrize("name", WORDINGS)
def test_an_expectation_that_nobody_knows_is_no_pass(name: str) -> None:
    given, expected, _ = WORDINGS[name]
    assert play(case(given, {**expected, "colour": "blue"})).status == "SKIP"


@pytest.mark.parametrize("name", WORDINGS)
def test_a_condition_that_nobody_heeds_is_no_pass(name: str) -> None:
    given, expected, _ = WORDINGS[name]
    assert play(case({**given, "weather": "fine"}, expected)).status == "SKIP"


@pytest.mark.parametrize("step", ["revoke the moon", "PATCH colour", "POST everything", "admin sings", "tenant"])
def test_a_step_that_nobody_understands_is_no_provider_that_answers(step: str) -> None:
    assert play(case({"sequence": ["agent q", step, "agent q"]}, {"cache_hit": True})).status == "SKIP"


@pytest.mark.parametrize("name", ["a slow drip", "a name that nobody answers for"])
def test_a_limit_that_is_not_kept_fails(name: str) -> None:
    given, expected, _ = WORDINGS[name]
    verdict = play(case({**given, "max_elapsed_s": 1}, expected))
    assert verdict.status == "FAIL"
    assert "in time" in verdict.why
