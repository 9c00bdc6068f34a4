"""Asking over real sockets: what goes out, how failures are told, and that nobody is waited for too long."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from chalicelib.domain.provider_failure import FailureClass
from chalicelib.fetching import ssrf
from chalicelib.fetching.ssrf import FetchPolicy, PostResult
from chalicelib.knowledge import contract, signing, strict_json
from chalicelib.knowledge.broker import Question, Reply, Target, ask, ask_all, request_for
from chalicelib.knowledge.exchange import ProviderFailure, read_capabilities
from tests.scripted_provider import Says, ScriptedProvider, answer, result, status

NOW = datetime(2026, 11, 30, tzinfo=UTC)
OPEN = FetchPolicy(allow_private_networks=True, allowed_ports=frozenset(range(1, 65_536)))
TRANSIENT, CONFIGURATION, CONTRACT = FailureClass


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    one = ScriptedProvider()
    yield one
    one.close()


def target(url: str, *capabilities: str, **more: Any) -> Target:
    return Target(uuid4(), url, more.pop("keys", ("a key",)), more.pop("policy", OPEN), frozenset(capabilities), **more)


def asked(url: str, question: Question | None = None, **more: Any) -> Reply:
    return ask(target(url, **more), question or Question("kettle"), post=ssrf.post, clock=lambda: NOW)


@pytest.mark.parametrize(
    ("capabilities", "more", "fields"),
    [
        ((), {}, {"query", "limit"}),
        (("locale",), {}, {"query", "limit", "locale"}),
        (("localeFallback",), {}, {"query", "limit", "localeFallback"}),
        (("locale", "localeFallback", "scoring"), {}, {"query", "limit", "locale", "localeFallback"}),
        ((), {"wants_conversation": True}, {"query", "limit", "context"}),
    ],
)
def test_a_field_goes_only_where_it_is_declared_or_wanted(
    capabilities: tuple[str, ...], more: Mapping[str, Any], fields: set[str]
) -> None:
    question = Question("kettle", 7, "de-DE", True, "c-1")
    request = request_for(target("https://kb.example.com", *capabilities, **more), question)
    assert set(strict_json.read(request.body())) == fields


def test_what_was_not_asked_does_not_go_out() -> None:
    everything = target("https://kb.example.com", *contract.CAPABILITIES, wants_conversation=True)
    assert request_for(everything, Question("kettle")).body() == b'{"query":"kettle","limit":10}'


def test_a_request_is_signed_by_every_secret_that_counts(provider: ScriptedProvider) -> None:
    asked(provider.url, keys=("new", "old"))
    (one,) = provider.asked
    signature = signing.parse(one.headers["x-larder-signature"])
    assert all(signing.matches(signature, [key], one.body) for key in ("new", "old"))
    assert (signature.timestamp, signature.nonce) == (str(int(NOW.timestamp())), one.headers["x-larder-request"])


def test_each_request_has_a_nonce_of_its_own(provider: ScriptedProvider) -> None:
    for _ in range(3):
        asked(provider.url)
    assert len({one.headers["x-larder-request"] for one in provider.asked}) == 3


@pytest.mark.parametrize(
    ("says", "failure", "reason"),
    [
        (status(401), CONFIGURATION, "http_401"),
        (status(403), CONFIGURATION, "http_403"),
        (status(404), CONTRACT, "http_404"),
        (status(202), CONTRACT, "http_202"),
        (status(204), CONTRACT, "http_204"),
        (status(302, Location="https://kb2.example.com/retrieve"), CONTRACT, "http_302"),
        (status(500), TRANSIENT, "http_500"),
        (status(503), TRANSIENT, "http_503"),
        (Says(reset=True), TRANSIENT, "unreachable:connection_lost"),
        (Says(body=b"["), CONTRACT, "not JSON in UTF-8"),
        (Says(body=b"{}"), CONTRACT, "contractVersion breaks its rule"),
        (Says(body=b"{}", headers={"Content-Type": "text/html"}), CONTRACT, "not application/json in UTF-8"),
        (answer(*[result()] * 11), CONTRACT, "more results than were asked for"),
        (Says(body=b"x" * 1_048_577), CONTRACT, "too_large"),
        (Says(body=b"x", headers={"Content-Encoding": "br"}), CONTRACT, "unsupported_type:encoding"),
        (Says(body=b"no gzip at all", headers={"Content-Encoding": "gzip"}), CONTRACT, "unreachable:decoding"),
    ],
)
def test_a_failure_has_a_class_and_a_reason_and_is_not_retried(
    provider: ScriptedProvider, says: Says, failure: FailureClass, reason: str
) -> None:
    provider.behave = says
    reply = asked(provider.url)
    assert (reply.failure, reply.reason, reply.judged) == (failure, reason, [])
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("code", "kept"), [(429, "120"), (503, "Mon, 30 Nov 2026 00:05:00 GMT"), (500, None), (401, None)]
)
def test_only_429_and_503_may_ask_for_a_wait(provider: ScriptedProvider, code: int, kept: str | None) -> None:
    provider.behave = status(code, Retry_After=kept or "120")
    assert asked(provider.url).retry_after == kept


@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_a_wait_is_asked_for_whatever_the_body_is(provider: ScriptedProvider, encoding: str) -> None:
    provider.behave = Says(503, b"no such thing", {"Retry-After": "120", "Content-Encoding": encoding})
    reply = asked(provider.url)
    assert (reply.failure, reply.reason, reply.retry_after) == (TRANSIENT, "http_503", "120")


@pytest.mark.parametrize(("code", "failure"), [(401, CONFIGURATION), (404, CONTRACT), (429, TRANSIENT)])
def test_a_status_says_what_happened_though_its_body_never_comes(
    provider: ScriptedProvider, code: int, failure: FailureClass
) -> None:
    provider.behave = Says(code, b"", {"Content-Length": "100", "Retry-After": "120"})
    reply = asked(provider.url)
    assert (reply.failure, reply.reason) == (failure, f"http_{code}")


def test_nobody_there_is_transient() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert asked(f"http://127.0.0.1:{port}").failure is TRANSIENT


@pytest.mark.parametrize(
    "policy",
    [
        FetchPolicy(),
        FetchPolicy(exempt=frozenset({"private"})),
        FetchPolicy(https_only=True, allow_private_networks=True),
    ],
)
def test_an_address_that_may_not_be_asked_is_a_fault_of_the_configuration(
    provider: ScriptedProvider, policy: FetchPolicy
) -> None:
    assert asked(provider.url, policy=policy).failure is CONFIGURATION
    assert provider.asked == []


def resolving(answers: Callable[[], list[str]]) -> Any:
    """The guard's POST with a resolver of the test's own and no way to connect."""

    def connect(address: str, port: int, timeout: float) -> socket.socket:
        raise AssertionError(f"connected to {address}")

    return partial(ssrf.post, resolver=lambda host, port: answers(), connector=connect)


def test_a_name_server_that_never_answers_is_inside_the_time() -> None:
    def never() -> list[str]:
        time.sleep(30)
        return []

    targets = [target("https://kb.example.com", policy=FetchPolicy()) for _ in range(3)]
    start = time.monotonic()
    replies = ask_all(targets, Question("kettle"), post=resolving(never), clock=lambda: NOW, seconds=0.3)
    assert time.monotonic() - start < 10
    assert [(reply.failure, reply.reason) for reply in replies] == [(TRANSIENT, "timeout")] * 3


def test_a_post_that_ignores_its_time_is_left_behind() -> None:
    def stuck(*_: Any, **__: Any) -> PostResult:
        time.sleep(30)
        raise AssertionError

    one = target("https://kb.example.com")
    (reply,) = ask_all([one], Question("kettle"), post=stuck, clock=lambda: NOW, seconds=0.2)
    assert (reply.target, reply.failure, reply.reason) == (one.id, TRANSIENT, "timeout")


def test_all_are_asked_at_once_and_answer_in_the_order_of_registration() -> None:
    providers = [ScriptedProvider(Says(body=answer(result(f"d{n}")).body, pause=0.4 - n / 10)) for n in range(4)]
    targets = [target(one.url) for one in providers]
    start = time.monotonic()
    replies = ask_all(targets, Question("kettle"), post=ssrf.post, clock=lambda: NOW)
    elapsed = time.monotonic() - start
    for one in providers:
        one.close()
    assert [reply.target for reply in replies] == [one.id for one in targets]
    assert [reply.judged[0].result.document_id for reply in replies] == ["d0", "d1", "d2", "d3"]
    assert elapsed < 10


def test_nobody_to_ask_is_no_wait() -> None:
    assert ask_all([], Question("kettle"), post=ssrf.post, clock=lambda: NOW) == []


def test_a_label_decides_by_the_registration() -> None:
    provider = ScriptedProvider(
        answer(result("a"), result("b", audience="internal"), result("c", url="http://x.example"))
    )
    outside, inside = asked(provider.url), asked(provider.url, keeps_internal=True)
    provider.close()
    assert [one.verdict for one in outside.judged] == ["kept", "dropped_internal", "link_dropped"]
    assert [one.verdict for one in inside.judged] == ["kept", "kept", "link_dropped"]
    assert (outside.dropped, inside.dropped) == (1, 0)


def test_a_reply_and_a_target_tell_no_secret_when_printed(provider: ScriptedProvider) -> None:
    one = target(provider.url, keys=("the-secret-key",))
    question = Question("the-secret-question", conversation_id="the-secret-conversation")
    told = repr([one, question, ask(one, question, post=ssrf.post, clock=lambda: NOW)])
    assert "the-secret" not in told


def test_capabilities_are_read_without_a_signature(provider: ScriptedProvider) -> None:
    provider.capabilities = ["locale", "fly"]
    assert read_capabilities(provider.url, OPEN) == ["locale"]
    (one,) = provider.asked
    assert (one.method, one.path) == ("GET", "/capabilities")
    assert not [name for name in one.headers if name.startswith("x-larder")]


def test_a_provider_without_capabilities_says_so_by_its_failure() -> None:
    with pytest.raises(ProviderFailure) as failure:
        read_capabilities("http://127.0.0.1:9", FetchPolicy())
    assert failure.value.failure is CONFIGURATION
