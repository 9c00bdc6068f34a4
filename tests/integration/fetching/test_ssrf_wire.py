"""What comes back over a connection: framing, caps, codings, interim answers, redirects, and the POST mode.

Every exchange is real: a raw server on loopback, behind the case library's stub resolver and connector.
"""

from __future__ import annotations

import gzip
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice, repeat
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.fetching.errors import FetchError, Reason
from chalicelib.fetching.ssrf import FetchPolicy, FetchResult, Validators, fetch, post
from tests.cases import ssrf_certificates as certificates
from tests.cases.ssrf_words import Drop, Hold, Sleep, Step, pieces
from tests.cases.ssrf_world import Request, World

URL = "http://src.example.com/page"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"


@contextmanager
def serving(answer: Callable[[Request], Iterable[Step]] | bytes, **world: Any) -> Iterator[World]:
    def steps(request: Request) -> Iterable[Step]:
        return [answer] if isinstance(answer, bytes) else answer(request)

    def valid(name: str, address: str) -> Any:
        return certificates.server_context("valid", name or "src.example.com", address, ())

    usual: dict[str, Any] = {"answers": {}, "answer": steps, "tls_for": valid, "default_addresses": ("1.1.1.1",)}
    built = World(**usual | world)
    try:
        yield built
    finally:
        built.close()


def get(world: World, url: str = URL, policy: FetchPolicy | None = None, **more: Any) -> FetchResult:
    return fetch(
        url,
        policy or FetchPolicy(timeout_seconds=5.0),
        resolver=world.resolver,
        connector=world.connector,
        tls=certificates.trusting(),
        **more,
    )


def failure(answer: Callable[[Request], Iterable[Step]] | bytes, url: str = URL, **more: Any) -> FetchError:
    with serving(answer) as world, pytest.raises(FetchError) as caught:
        get(world, url, **more)
    return caught.value


def reason_of(world: World, policy: FetchPolicy | None = None) -> Reason | None:
    """Why the world's page can't be fetched; None if it can."""
    try:
        get(world, policy=policy)
    except FetchError as error:
        return error.reason
    return None


def response(body: bytes = b"ok", *, status: str = "200 OK", **headers: str) -> bytes:
    fields = {"Content-Type": "text/plain", "Content-Length": str(len(body))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items() if value)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


# --- the request


def test_the_request_carries_its_own_headers_and_nothing_else() -> None:
    with serving(OK) as world:
        get(world, "http://src.example.com:8080/a?b", FetchPolicy(user_agent="Larder (+https://kb.example.com/bot)"))
    headers = world.requests[0].headers
    assert set(headers) == {"accept", "accept-encoding", "host", "user-agent", "connection"}
    assert headers["host"] == "src.example.com:8080"
    assert headers["user-agent"] == "Larder (+https://kb.example.com/bot)"
    assert (headers["accept-encoding"], headers["connection"]) == ("gzip, deflate", "close")
    assert world.requests[0].head.startswith(b"GET /a?b HTTP/1.1\r\n")


@pytest.mark.parametrize("etag", ['"v1"', 'W/"v1"', "unquoted", '"\xe9\xff"', '"a b"', '"' + "x" * 4_000 + '"'])
def test_a_validator_goes_back_byte_for_byte(etag: str) -> None:
    with serving(OK) as world:
        get(world, validators=Validators(etag, "Mon, 02 Nov 2026 10:00:00 GMT"))
    assert b"\r\nIf-None-Match: " + etag.encode("latin-1") + b"\r\n" in world.requests[0].head
    assert world.requests[0].headers["if-modified-since"] == "Mon, 02 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize("etag", ["", None, '"a"\r\nX-Evil: 1', "a\nb", "a\x00b", "€", " padded ", "\x7f"])
def test_a_validator_that_is_no_header_value_is_not_sent(etag: str | None) -> None:
    with serving(OK) as world:
        get(world, validators=Validators(etag, None))
    assert not {"if-none-match", "if-modified-since", "x-evil"} & set(world.requests[0].headers)


def test_no_cache_is_sent_when_asked_for() -> None:
    with serving(OK) as world:
        get(world, no_cache=True)
    assert world.requests[0].headers["cache-control"] == "no-cache"


# --- what is kept


def test_the_result_has_the_kept_headers_in_lower_case() -> None:
    answer = response(
        ETag='W/"1"', Last_Modified="Mon, 02 Nov 2026 10:00:00 GMT", X_Robots_Tag="noindex", Set_Cookie="a=b"
    )
    with serving(answer) as world:
        result = get(world)
    assert result.headers == {
        "content-type": "text/plain",
        "etag": 'W/"1"',
        "last-modified": "Mon, 02 Nov 2026 10:00:00 GMT",
        "x-robots-tag": "noindex",
    }
    assert (result.status, result.final_url, result.body, result.hops) == (200, URL, b"ok", 0)
    assert result.permanent_redirect_to is None
    assert "ok" not in repr(result)


def test_a_header_that_contradicts_itself_or_has_a_control_character_is_not_kept() -> None:
    answer = b"HTTP/1.1 200 OK\r\nETag: a\r\nETag: b\r\nLast-Modified: x\x01y\r\nDate: d\r\nDate: d\r\n" + OK[17:]
    with serving(answer) as world:
        assert get(world).headers == {"content-type": "text/plain", "date": "d"}


def test_a_304_counts_where_a_validator_was_sent_and_has_no_body() -> None:
    with serving(b'HTTP/1.1 304 Not Modified\r\nETag: "2"\r\nContent-Length: 5\r\n\r\n') as world:
        result = get(world, validators=Validators('"1"'))
        assert (result.status, result.body, result.headers["etag"]) == (304, b"", '"2"')
        with pytest.raises(FetchError, match="unreachable:status"):
            get(world, validators=Validators("", ""))


@pytest.mark.parametrize(
    ("status", "word"),
    [
        *((201, "unreachable"), (202, "unreachable"), (206, "unreachable"), (226, "unreachable"), (300, "unreachable")),
        *(
            (304, "unreachable"),
            (305, "unreachable"),
            (204, "empty"),
            (205, "empty"),
            (400, "http_4xx"),
            (402, "http_4xx"),
        ),
        *(
            (401, "http_403"),
            (403, "http_403"),
            (407, "http_403"),
            (404, "http_404"),
            (410, "http_404"),
            (451, "http_4xx"),
        ),
        *(
            (408, "timeout"),
            (429, "http_429"),
            (500, "http_5xx"),
            (503, "http_5xx"),
            (600, "http_5xx"),
            (999, "http_5xx"),
        ),
    ],
)
def test_a_status_that_is_no_page_has_its_word(status: int, word: str) -> None:
    error = failure(response(status=f"{status} <b>phrase</b>", Retry_After="120", Location="http://b.example.com/"))
    assert (error.reason.status, error.status_code, error.retry_after) == (word, status, "120")
    assert "phrase" not in f"{error}{error!r}"


def test_a_203_is_a_page() -> None:
    with serving(response(status="203 Non-Authoritative")) as world:
        assert get(world).status == 203


# --- framing and caps


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", Reason.TRUNCATED),
        (b"HTTP/1.1 200 OK\r\nContent-Ty", Reason.TRUNCATED),
        (b"SSH-2.0-OpenSSH_9.6\r\n", Reason.NOT_HTTP),
        (b"ICY 200 OK\r\n\r\n", Reason.NOT_HTTP),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", Reason.FRAMING),
        (b"HTTP/1.1 20 OK\r\n\r\n", Reason.FRAMING),
        (b"HTTP/2 200\r\n\r\n", Reason.FRAMING),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", Reason.FRAMING),
        (b"HTTP/1.1 200 OK\r\nContent-Type : text/plain\r\n\r\n", Reason.FRAMING),
        (response(Content_Length="-1"), Reason.FRAMING),
        (response(Content_Length="+2"), Reason.FRAMING),
        (response(Content_Length="2, 3"), Reason.FRAMING),
        (response(Content_Length="9" * 30), Reason.FRAMING),
        (response(Transfer_Encoding="chunked"), Reason.FRAMING),
        (response(Content_Length="", Transfer_Encoding="gzip, chunked"), Reason.FRAMING),
        (b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Reason.FRAMING),
        (response(b"zz\r\n", Content_Length="", Transfer_Encoding="chunked"), Reason.FRAMING),
        (response(b"2\r\nokX", Content_Length="", Transfer_Encoding="chunked"), Reason.FRAMING),
        (response(b"2\r\nok\r\n", Content_Length="", Transfer_Encoding="chunked"), Reason.TRUNCATED),
        (response(b"2\r\nok\r\n0\r\n", Content_Length="", Transfer_Encoding="chunked"), Reason.TRUNCATED),
        (response(Content_Length="3"), Reason.TRUNCATED),
        (response(Content_Type=""), Reason.TYPE),
        (response(Content_Type="image/svg+xml"), Reason.TYPE),
        (OK.replace(b"\r\n\r\n", b"\r\nContent-Type: image/png\r\n\r\n"), Reason.TYPE),
        (response(Content_Encoding="br"), Reason.ENCODING),
        (response(Content_Encoding="gzip, gzip"), Reason.ENCODING),
        (OK.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\nContent-Encoding: deflate\r\n\r\n"), Reason.ENCODING),
        (response(Content_Encoding="gzip"), Reason.DECODING),
        (response(Content_Length="2097153"), Reason.TOO_LARGE),
    ],
)
def test_a_broken_answer_has_its_reason(answer: bytes, reason: Reason) -> None:
    assert failure(answer).reason == reason


@pytest.mark.parametrize("cap", [0, 1, 100])
@pytest.mark.parametrize("coding", ["identity", "gzip", "deflate", "raw", "chunked", "until close"])
def test_the_cap_is_inclusive_in_every_coding_and_framing(cap: int, coding: str) -> None:
    for length in (cap, cap + 1):
        plain = b"a" * length
        raw = zlib.compressobj(9, zlib.DEFLATED, -15)
        body, headers = {
            "identity": (plain, {}),
            "gzip": (gzip.compress(plain), {"Content_Encoding": "gzip"}),
            "deflate": (zlib.compress(plain), {"Content_Encoding": "deflate"}),
            "raw": (raw.compress(plain) + raw.flush(), {"Content_Encoding": "deflate"}),
            "chunked": (b"".join(b"1\r\na\r\n" for _ in plain) + b"0\r\n\r\n", {"Transfer_Encoding": "chunked"}),
            "until close": (plain, {}),
        }[coding]
        if coding != "identity":  # a Content-Length over the cap would end it before the decoder is reached
            headers |= {"Content_Length": ""}
        policy = FetchPolicy(max_body_bytes=cap, timeout_seconds=5.0)
        if length > cap:
            assert failure(response(body, **headers), policy=policy).reason == Reason.TOO_LARGE
        else:
            with serving(response(body, **headers)) as world:
                assert get(world, policy=policy).body == plain


def test_chunk_lines_and_extensions_count() -> None:
    chunk = b"1;" + b"x" * 1_000 + b"\r\na\r\n"
    head = response(b"", Content_Length="", Transfer_Encoding="chunked")
    error = failure(lambda _: iter([head, *repeat(chunk, 10_000)]), policy=FetchPolicy(max_body_bytes=100_000))
    assert error.reason == Reason.TOO_LARGE


def test_endless_trailers_end() -> None:
    head = response(b"0\r\n", Content_Length="", Transfer_Encoding="chunked")
    assert failure(lambda _: iter([head, *repeat(b"X-Trailer: y\r\n", 10_000)])).reason == Reason.HEADERS


@pytest.mark.parametrize(("length", "reason"), [(8_192, None), (8_193, Reason.HEADER_LINE)])
def test_a_header_line_has_at_most_8192_bytes(length: int, reason: Reason | None) -> None:
    answer = response(X_Long="a" * (length - len("X-Long: ")))
    with serving(answer) as world:
        assert reason_of(world) == reason


@pytest.mark.parametrize(("length", "reason"), [(65_536, None), (65_537, Reason.HEADERS)])
def test_a_head_has_at_most_64_kib(length: int, reason: Reason | None) -> None:
    line = b"X: " + b"a" * 1_019 + b"\r\n"
    base = len(OK) - len("ok")
    lines = line * ((length - base) // len(line) - 1)
    last = b"Y: " + b"a" * (length - base - len(lines) - 5) + b"\r\n"
    with serving(OK.replace(b"Content-Type", lines + last + b"Content-Type", 1)) as world:
        assert reason_of(world) == reason


def test_an_endless_header_line_ends() -> None:
    assert failure(lambda _: iter([b"HTTP/1.1 200 OK\r\nX: ", *repeat(b"a" * 1_000, 100)])).reason == Reason.HEADERS


def test_a_few_interim_answers_pass_and_a_flood_does_not() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    with serving(hints * 8 + OK) as world:
        assert get(world).body == b"ok"
    assert failure(hints * 9 + OK).reason == Reason.HEADERS


def test_gzip_members_join_and_what_follows_is_ignored() -> None:
    two = gzip.compress(b"one ") + gzip.compress(b"two")
    for body in (two, two + b"garbage", two + b"\0" * 600):
        with serving(response(body, Content_Encoding="gzip")) as world:
            assert get(world).body == b"one two"
    assert failure(response(two[:-9], Content_Encoding="gzip")).reason == Reason.TRUNCATED
    assert failure(response(two[:-4] + b"\0\0\0\1", Content_Encoding="gzip")).reason == Reason.DECODING


def test_a_bomb_is_defused_inside_the_decoder() -> None:
    head = response(b"", Content_Length="", Content_Encoding="gzip")
    with serving(lambda _: chain([head], islice(pieces("endless gzip of zeros"), 50))) as world:
        tracemalloc.start()
        assert reason_of(world, FetchPolicy(max_body_bytes=10_000)) == Reason.TOO_LARGE
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 2_000_000  # one read of 8 KiB holds 8 MB of zeros


def test_an_empty_body_that_claims_a_coding_is_empty() -> None:
    with serving(response(b"", Content_Encoding="gzip")) as world:
        assert get(world).body == b""


# --- time


def test_one_deadline_covers_a_drip_that_never_pauses_long() -> None:
    head = response(b"", Content_Length="1000")
    started = time.monotonic()
    error = failure(
        lambda _: (step for _ in repeat(None) for step in (head, b"a", Sleep(0.05))),
        policy=FetchPolicy(timeout_seconds=0.5),
    )
    assert error.reason == Reason.TIMEOUT
    assert 0.5 <= time.monotonic() - started < 5.0


def test_a_server_that_never_ends_its_handshake_times_out() -> None:
    world = World({}, lambda _: [], lambda name, address: None, default_addresses=("1.1.1.1",))
    with pytest.raises(FetchError) as caught:
        get(world, "https://src.example.com/", FetchPolicy(timeout_seconds=0.3))
    world.close()
    assert caught.value.reason == Reason.TIMEOUT


def test_a_dead_first_address_leaves_time_for_the_second() -> None:
    with serving(OK, refusals={"1.1.1.1": "timeout"}) as world:
        world.answers["src.example.com"] = ["1.1.1.1", "1.0.0.1"]
        assert get(world, policy=FetchPolicy(timeout_seconds=1.0)).body == b"ok"
    assert [contact.address for contact in world.contacts] == ["1.1.1.1", "1.0.0.1"]


def test_the_deadline_covers_all_hops_together() -> None:
    def slow(request: Request) -> Iterable[Step]:
        return [Sleep(0.2), response(status="302 Found", Location=request.target + "x")]

    assert failure(slow, policy=FetchPolicy(timeout_seconds=0.5)).reason == Reason.TIMEOUT


# --- names and addresses


def test_one_bad_address_among_many_refuses_all_and_nothing_is_contacted() -> None:
    for bad in ("10.0.0.1", "169.254.169.254", "::1", "no address", ""):
        with serving(OK, answers={"src.example.com": ["1.1.1.1", "2606:4700::1111", bad]}) as world:
            assert reason_of(world) == Reason.ADDRESS
        assert world.contacts == []


def test_a_resolver_may_answer_32_addresses_and_not_33() -> None:
    for count, reason in ((32, None), (33, Reason.TOO_MANY_ADDRESSES)):
        with serving(OK) as world:
            world.answers["src.example.com"] = [f"11.0.0.{number}" for number in range(count)]
            assert reason_of(world) == reason


def test_a_peer_that_is_not_the_judged_address_gets_no_byte() -> None:
    with serving(OK, peer="10.0.0.5") as world, pytest.raises(FetchError) as caught:
        get(world)
    assert caught.value.reason == Reason.PEER
    assert all(sock.fileno() == -1 for sock in world.sockets)
    assert world.requests == []


def test_a_mapped_public_address_is_pinned_like_any_other() -> None:
    with serving(OK) as world:
        world.answers["src.example.com"] = ["::ffff:1.1.1.1"]
        assert get(world).body == b"ok"


def test_a_hanging_resolver_is_left_behind() -> None:
    hold = threading.Event()
    with pytest.raises(FetchError) as caught:
        fetch(URL, FetchPolicy(timeout_seconds=0.2), resolver=lambda host, port: [str(hold.wait(10))])
    hold.set()
    assert caught.value.reason == Reason.TIMEOUT


@pytest.mark.parametrize("answer", [None, 7, [None], [b"1.1.1.1"], [["1.1.1.1"]], "1.1.1.1"])
def test_a_resolver_that_answers_nonsense_is_a_failure_and_never_another_error(answer: Any) -> None:
    with pytest.raises(FetchError):
        fetch(URL, FetchPolicy(), resolver=lambda host, port: answer)


# --- redirects


def redirecting(*hops: tuple[int, str]) -> Callable[[Request], Iterable[Step]]:
    """Answer the n-th request with the n-th hop, and what comes after with a page."""
    left = iter(hops)

    def answer(_: Request) -> Iterable[Step]:
        hop = next(left, None)
        return [response(status=f"{hop[0]} Moved", Location=hop[1]) if hop else OK]

    return answer


@pytest.mark.parametrize(
    ("statuses", "is_permanent"), [((301,), True), ((308, 301), True), ((301, 302), False), ((307, 308), False)]
)
def test_only_an_unbroken_chain_of_permanent_redirects_says_where_the_page_moved(
    statuses: tuple[int, ...], is_permanent: bool
) -> None:
    hops = [(status, f"http://b.example.com/{number}") for number, status in enumerate(statuses)]
    with serving(redirecting(*hops)) as world:
        result = get(world)
    assert result.final_url == hops[-1][1]
    assert result.hops == len(hops)
    assert result.permanent_redirect_to == (hops[-1][1] if is_permanent else None)


@pytest.mark.parametrize(
    ("location", "target"),
    [
        *(("/a", "/a"), ("b", "/dir/b"), ("../c", "/c"), ("../../d", "/d"), ("?q", "/dir/page?q"), ("#f", "/dir/page")),
        *(
            ("./", "/dir/"),
            ("/caf\u00e9", "/caf%C3%A9"),
            ("/a%2Fb;c=d?e=f:g@h", "/a%2Fb;c=d?e=f:g@h"),
            ("/x?u=//y", "/x?u=//y"),
            ("/x?", "/x?"),
            ("?", "/dir/page?"),
            ("y?#f", "/dir/y?"),
        ),
    ],
)
def test_a_reference_is_resolved_against_the_url_that_sent_it(location: str, target: str) -> None:
    as_sent = location.encode("utf-8").decode("latin-1")
    with serving(redirecting((302, as_sent))) as world:
        get(world, "http://src.example.com/dir/page")
    assert world.requests[1].target == target


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        *(("", Reason.LOCATION), ("http://10.0.0.1/", Reason.ADDRESS), ("//127.0.0.1/", Reason.ADDRESS)),
        *(("///127.0.0.1/", Reason.URL_HOST), ("/\\127.0.0.1/", Reason.URL), ("\\\\127.0.0.1\\", Reason.URL)),
        *(("http:127.0.0.1/", Reason.URL), ("http:/127.0.0.1/", Reason.URL), ("file:///etc/passwd", Reason.SCHEME)),
        *(
            ("a b", Reason.URL),
            ("/\xff", Reason.URL),
            ("/\x01", Reason.URL),
            ("/a\tb", Reason.URL),
            ("\x01/x", Reason.URL),
            ("http://a@b.example.com/", Reason.URL_USER_INFO),
        ),
        *(("http://b.example.com:22/", Reason.PORT), ("http://localhost/", Reason.LOCAL_NAME), ("x:y", Reason.SCHEME)),
        *(("http://2852039166/", Reason.URL_HOST), ("http://b.example.com/" + "a" * 2_048, Reason.URL)),
    ],
)
def test_a_redirect_to_where_nobody_may_go_is_refused_at_its_hop(location: str, reason: Reason) -> None:
    with serving(redirecting((302, location))) as world, pytest.raises(FetchError) as caught:
        get(world)
    assert (caught.value.reason, caught.value.hop) == (reason, 1)
    assert len(world.contacts) == 1


def test_a_policy_may_allow_fewer_redirects_or_none() -> None:
    with serving(redirecting((302, "/a"), (302, "/b"))) as world:
        assert reason_of(world, FetchPolicy(max_redirects=1)) == Reason.TOO_MANY_REDIRECTS
    assert len(world.requests) == 2
    with serving(redirecting((302, "/a"))) as world:
        assert reason_of(world, FetchPolicy(max_redirects=0)) == Reason.TOO_MANY_REDIRECTS
    assert len(world.requests) == 1


def test_a_failure_after_the_head_knows_the_status() -> None:
    with serving(response(b"x", Content_Length="9")) as world, pytest.raises(FetchError) as caught:
        send(world)
    assert (caught.value.reason, caught.value.status_code) == (Reason.TRUNCATED, 200)


def test_two_locations_lead_nowhere_unless_they_say_the_same() -> None:
    def twice(first: str, second: str) -> bytes:
        moved = response(b"", status="302 Found", Location=first)
        return moved.replace(b"\r\n\r\n", b"\r\nLocation: " + second.encode("ascii") + b"\r\n\r\n")

    assert failure(twice("http://b.example.com/", "http://c.example.com/")).reason == Reason.LOCATION
    assert failure(twice("http://10.0.0.1/", "http://10.0.0.1/")).reason == Reason.ADDRESS


def test_https_never_leads_to_http_but_http_leads_to_https() -> None:
    with serving(redirecting((301, "http://src.example.com/"))) as world, pytest.raises(FetchError) as caught:
        get(world, "https://src.example.com/")
    assert caught.value.reason == Reason.DOWNGRADE
    with serving(redirecting((301, "https://src.example.com/page"))) as world:
        assert get(world).permanent_redirect_to == "https://src.example.com/page"
    assert world.requests[1].sni == "src.example.com"


def test_every_hop_is_resolved_afresh_and_a_changed_answer_is_judged() -> None:
    answers = {"src.example.com": [["1.1.1.1"], ["169.254.169.254"]]}
    with serving(redirecting((302, "/again")), answers=answers) as world, pytest.raises(FetchError) as caught:
        get(world)
    assert (caught.value.reason, caught.value.hop) == (Reason.ADDRESS, 1)
    assert [contact.address for contact in world.contacts] == ["1.1.1.1"]


# --- TLS


def test_a_body_that_ends_without_the_end_of_tls_is_lost() -> None:
    """Without a length only the closing of TLS says that the body is whole; here the connection just drops."""
    with serving(lambda _: [response(b"half a page", Content_Length=""), Drop()]) as world:
        with pytest.raises(FetchError) as caught:
            get(world, "https://src.example.com/")
        assert caught.value.reason == Reason.TLS


@pytest.mark.parametrize("words", ["expired", "not yet valid", "self-signed", "for another host", "cn only"])
def test_a_certificate_that_does_not_prove_the_name_is_refused(words: str) -> None:
    def context(name: str, address: str) -> Any:
        return certificates.server_context(words, name or "src.example.com", address, ())

    world = World({}, lambda _: [OK], context, default_addresses=("1.1.1.1",))
    with pytest.raises(FetchError) as caught:
        get(world, "https://src.example.com/")
    world.close()
    assert (caught.value.reason, world.requests) == (Reason.CERTIFICATE, [])


def test_plain_http_on_a_tls_port_is_a_tls_failure() -> None:
    speaks_http = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    with serving(OK, tls_for=lambda name, address: speaks_http) as world, pytest.raises(FetchError) as caught:
        get(world, "https://src.example.com/")
    assert caught.value.reason == Reason.TLS


def test_an_ip_literal_is_verified_as_an_address_and_sends_no_name() -> None:
    with serving(OK) as world:
        world.tls_for = lambda name, address: certificates.server_context("the ip address", "", address, ())
        assert get(world, "https://1.1.1.1/").body == b"ok"
        world.tls_for = lambda name, address: certificates.server_context("valid", "src.example.com", address, ())
        with pytest.raises(FetchError, match="certificate"):
            get(world, "https://1.1.1.1/")
    assert world.handshakes == [None, None]


# --- POST


def send(world: World, url: str = "https://kb.example.com/retrieve", body: bytes = b"{}", **more: Any) -> Any:
    policy = more.pop("policy", FetchPolicy(https_only=True))
    headers = more.pop("headers", {"Content-Type": "application/json; charset=utf-8", "X-Larder-Request": "n"})
    way: dict[str, Any] = {"resolver": world.resolver, "connector": world.connector, "tls": certificates.trusting()}
    return post(url, body, headers, policy, **way, **more)


def test_a_post_sends_its_bytes_and_reports_any_status() -> None:
    seen: list[bytes] = []

    def answer(request: Request) -> Iterable[Step]:
        seen.append(request.head)
        return [
            response(
                b'{"code": "rate_limited"}', status="429 Slow", Content_Type="application/problem+json", Retry_After="7"
            )
        ]

    with serving(answer) as world:
        result = send(world, body=b'{"query": "x"}')
    assert (result.status, result.body, result.headers["retry-after"]) == (429, b"", "7")
    request = world.requests[0]
    assert (request.method, request.target, request.headers["content-length"]) == ("POST", "/retrieve", "14")
    assert request.headers["x-larder-request"] == "n"
    assert seen[0].endswith(b'{"query": "x"}')


@pytest.mark.parametrize("status", ["401 X", "429 X", "503 X", "200 X"])
def test_a_post_waits_for_the_body_of_a_200_alone(status: str) -> None:
    begun = response(b"", status=status, Content_Length="9", Retry_After="7")
    with serving(lambda _: [begun, Hold()]) as world:
        if status == "200 X":
            with pytest.raises(FetchError, match="timeout"):
                send(world, timeout_seconds=0.3)
            return
        result = send(world)
    assert (result.status, result.body, result.headers["retry-after"]) == (int(status[:3]), b"", "7")


def test_a_post_follows_no_redirect_and_reads_none_of_its_body() -> None:
    moved = response(b"", status="307 X", Location="https://b.example.com/", Content_Length="9")
    with serving(lambda _: [moved, Hold()]) as world:
        result = send(world)
    assert (result.status, result.body, len(world.requests)) == (307, b"", 1)


def test_a_post_is_guarded_like_a_fetch() -> None:
    with serving(OK) as world:
        for url, reason in (
            ("http://kb.example.com/", Reason.SCHEME),
            ("https://127.0.0.1/", Reason.ADDRESS),
            ("https://kb.example.com:22/", Reason.PORT),
        ):
            with pytest.raises(FetchError) as caught:
                send(world, url)
            assert caught.value.reason == reason
    assert world.contacts == []


def test_a_post_has_its_own_cap_and_deadline() -> None:
    with serving(response(b"x" * 101)) as world, pytest.raises(FetchError, match="too_large"):
        send(world, max_body_bytes=100)
    with serving(lambda _: [Hold()]) as world, pytest.raises(FetchError, match="timeout"):
        send(world, timeout_seconds=0.3)


def test_a_posts_headers_cannot_replace_the_guards_own() -> None:
    evil = {"HOST": "127.0.0.1", "content-length": "999", "Connection": "keep-alive", "X-Ok": "1"}
    with serving(OK) as world:
        send(world, headers=evil)
    headers = world.requests[0].headers
    assert (headers["host"], headers["content-length"], headers["connection"]) == ("kb.example.com", "2", "close")


@pytest.mark.parametrize("headers", [{"X-A": "a\r\nX-B: c"}, {"X A": "b"}, {"X-A": "€"}, {"X-A\r\nX-B": "c"}])
def test_a_header_that_would_inject_another_is_never_sent(headers: dict[str, str]) -> None:
    with serving(OK) as world, pytest.raises(FetchError):
        send(world, headers=headers)
    assert world.requests == []


# --- whatever a server says


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=200)
    | st.binary(max_size=80).map(b"HTTP/1.1 200 OK\r\n".__add__)
    | st.binary(max_size=80).map(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n".__add__
    )
    | st.binary(max_size=80).map(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b".__add__
    )
)
def test_any_bytes_are_a_result_or_a_fetch_error(answer: bytes) -> None:
    with serving(answer) as world:
        assert reason_of(world) in (None, *Reason)


@pytest.mark.parametrize("version", ["HTTP/2.0", "HTTP/3.1", "HTTP/0.9"])
def test_another_major_version_is_not_spoken_on_this_wire(version: str) -> None:
    assert failure(f"{version} 200 OK\r\nContent-Type: text/html\r\n\r\nhi".encode()).reason == Reason.NOT_HTTP


@pytest.mark.parametrize(
    ("types", "is_read"),
    [
        (["text/html,text/html"], True),
        (["text/html; charset=utf-8", "text/html; charset=latin-1"], True),
        (["text/html, image/png"], False),
        (["text/html", "application/json"], False),
    ],
)
def test_content_types_count_if_they_say_the_same_kind(types: list[str], is_read: bool) -> None:
    headers = "".join(f"Content-Type: {kind}\r\n" for kind in types)
    with serving(f"HTTP/1.1 200 OK\r\n{headers}Content-Length: 2\r\n\r\nhi".encode()) as world:
        assert reason_of(world) == (None if is_read else Reason.TYPE)
