"""Other parsers read every URL that the guard accepts; where one sees another host the guard must refuse.

A server-side request forgery by parser confusion needs two readings of one string: one for the check, one for the
connection. Larder has one parser, and accepts only what `urllib.parse` and `urllib3` read as it does.
"""

from __future__ import annotations

import itertools
import socket
from contextlib import suppress
from urllib.parse import urlsplit

import urllib3
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chalicelib.fetching.errors import FetchError
from chalicelib.fetching.ssrf import Target, parse_url

HOSTS = (
    *(
        "example.com",
        "EXAMPLE.com.",
        "127.0.0.1",
        "1.1.1.1",
        "localhost",
        "[::1]",
        "[::ffff:7f00:1]",
        "0x7f.1",
        "127.1",
    ),
    *(
        "2852039166",
        "0177.0.0.1",
        "bücher.example",
        "xn--bcher-kva.example",
        "１.1.1.1",
        "a_b.example",
        "[fe80::1%25eth0]",
    ),
    *(
        "example。com",
        "ex\u00adample.com",
        "1.1.1.1.",
        "a..b",
        "-a.example",
        "exam%70le.com",
        "example.com%00.evil.example",
    ),
)
MARKS = (
    *(
        "",
        "/",
        "//",
        "\\",
        "\\\\",
        "@",
        ":",
        "?",
        "#",
        "%",
        "%2f",
        "%40",
        "%5c",
        "[",
        "]",
        ";",
        "&",
        " ",
        "\t",
        "\n",
        "\r",
    ),
    *(
        "\0",
        "\u2028",
        "．",
        "。",
        "：",
        "／",
        "＠",
        "？",
        "＃",
        "user:pass@",
        ":80",
        ":0",
        ":443",
        ":443/",
        ":8080#",
        ".",
        "..",
    ),
    *("/../", "/?", "/#", "*", "^", "|", "<", "/@", "?@", "#@", "/\\", "?\\"),
)
SCHEMES = ("http://", "https://", "HTTP://", "hTTps://", "http:", "http:/", "http:///", "//", "http:\\\\", "ftp://")
URLS = st.lists(st.sampled_from((*HOSTS, *MARKS)), min_size=1, max_size=7).map("".join)


def accepted(url: str) -> Target | None:
    with suppress(FetchError):
        return parse_url(url)
    return None


def by_urllib(url: str) -> tuple[str, int | None, bool]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port, "@" in parts.netloc


def by_urllib3(url: str) -> tuple[str, int | None, bool]:
    parts = urllib3.util.parse_url(url)
    return (parts.host or "").strip("[]"), parts.port, parts.auth is not None


def same_host(host: str, target: Target) -> bool:
    """The same host, if a trailing dot, case, IPv6 spelling and IDNA are taken off."""
    literal = f"[{host}]" if ":" in host else host
    other = accepted(f"http://{literal}/")
    return other is not None and other.host == target.host


def contradictions(url: str) -> list[str]:
    """How others read an accepted URL differently; nothing for one that is refused."""
    target = accepted(url)
    found = []
    for read in (by_urllib, by_urllib3) if target else ():
        assert target
        try:
            host, port, has_user = read(url)
        except ValueError:  # what another parser refuses is no second reading (urllib3's errors are ValueErrors, too)
            continue
        if (
            has_user
            or not same_host(host, target)
            or (port or {"http": 80, "https": 443}[target.scheme]) != target.port
        ):
            found.append(f"{url!r}: {read.__name__} reads {host!r} {port}, the guard {target}")
    return found


def test_no_accepted_url_has_another_host_for_another_parser() -> None:
    urls = ["".join(parts) for parts in itertools.product(SCHEMES[:1], HOSTS, MARKS, HOSTS)]
    urls += ["".join(parts) for parts in itertools.product(SCHEMES, HOSTS, MARKS)]
    assert sum(accepted(url) is not None for url in urls) > 1_000
    assert [text for url in urls for text in contradictions(url)] == []


@settings(max_examples=500, deadline=None)
@example("http://1.1.1.1&@127.0.0.1#@example.com/")
@example("http://127.0.0.1\\@1.1.1.1/")
@example("http://example.com#@127.0.0.1/")
@example("http://[::1]@example.com/")
@example("http://example.com:80\\@127.0.0.1/")
@example("http://example.com／@127.0.0.1/")
@given(
    st.builds("{}{}".format, st.sampled_from(SCHEMES[:4]), URLS | st.text("abc.:/@?#[]\\%0127x-_~ \t。", min_size=1))
)
def test_nor_has_any_other_text_that_is_accepted(url: str) -> None:
    assert contradictions(url) == []


@settings(max_examples=300, deadline=None)
@given(
    st.text("0123456789abcdefx.", min_size=1, max_size=20)
    | st.integers(0, 2**33).map(str)
    | st.ip_addresses(v=4).map(str)
)
def test_what_the_c_library_reads_as_an_address_is_one_or_is_refused(host: str) -> None:
    """``inet_aton`` is what resolvers use to short-cut numeric hosts; it also reads octal, hex and shortened forms."""
    try:
        number = socket.inet_aton(host)
    except OSError:
        return
    target = accepted(f"http://{host}/")
    assert target is None or (target.is_literal and socket.inet_pton(socket.AF_INET, target.host) == number)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(HOSTS), st.sampled_from(MARKS), st.sampled_from(HOSTS))
def test_the_canonical_spelling_reads_the_same_everywhere(host: str, mark: str, more: str) -> None:
    target = accepted(f"http://{host}{mark}{more}")
    if target is not None:
        assert by_urllib(target.url)[0] == by_urllib3(target.url)[0] == target.host
        assert target.url.isascii()
