"""What a URL is, which one is asked for, and what the policy says to it before any DNS."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chalicelib.fetching.address_table import PRIVATE_CLASSES
from chalicelib.fetching.errors import FetchError, Reason
from chalicelib.fetching.ssrf import FetchPolicy, check_url, parse_allowlist, parse_url


def reason_of(url: object, policy: FetchPolicy | None = None) -> Reason | None:
    try:
        check_url(url, policy or FetchPolicy())  # type: ignore[arg-type]
    except FetchError as error:
        return error.reason
    return None


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://src.example.com", "http://src.example.com/"),
        ("HTTPS://SRC.Example.COM:443/A?b=C#d", "https://src.example.com/A?b=C"),
        ("http://src.example.com:", "http://src.example.com/"),
        ("http://src.example.com:8080/", "http://src.example.com:8080/"),
        ("http://src.example.com.", "http://src.example.com/"),
        ("https://src.example.com?q=1", "https://src.example.com/?q=1"),
        ("http://src.example.com/?", "http://src.example.com/?"),
        ("http://src.example.com/a/../b//c%2F%7e", "http://src.example.com/a/../b//c%2F%7e"),
        ("http://src.example.com/?path=C:\\x&m=a@b", "http://src.example.com/?path=C:\\x&m=a@b"),
        ("http://src.example.com/:@|{}\"<>^`'[]", "http://src.example.com/:@|{}\"<>^`'[]"),
        ("http://bücher.example.com/ü?ß=✓", "http://xn--bcher-kva.example.com/%C3%BC?%C3%9F=%E2%9C%93"),
        ("http://xn--bcher-kva.example.com/", "http://xn--bcher-kva.example.com/"),
        ("http://straße.example.com/", "http://xn--strae-oqa.example.com/"),
        ("http://my_wiki.example.com/", "http://my_wiki.example.com/"),
        ("http://1.1.1.1:8080/", "http://1.1.1.1:8080/"),
        ("http://[2606:4700:4700:0:0::1111]:8080/", "http://[2606:4700:4700::1111]:8080/"),
        ("http://" + "a" * 63 + ".example.com/", "http://" + "a" * 63 + ".example.com/"),
    ],
)
def test_a_good_url_has_one_spelling_and_keeps_its_path(url: str, canonical: str) -> None:
    assert parse_url(url).url == canonical
    assert parse_url(canonical).url == canonical


REFUSED: dict[Reason, list[object]] = {
    Reason.URL: [
        *("", "//src.example.com/", "/path", "http:", "http:/src.example.com/", "http:src.example.com/"),
        *("http:\\\\src.example.com\\", "http://src.example.com\\.evil.example.net/", "http://src.example.com/a\\b"),
        *(" http://src.example.com/", "http://src.example.com/ ", "http://src.example.com/a b", "ht\ttp://a.example/"),
        *("http://src.example.com/\r\nX: y", "http://src.example.com/\x00", "http://src.example.com/\x7f"),
        *("http://src.example.com/\u2028", "http://src.example.com/\ud800", "http://src.exa\u00a0mple.com/"),
        *("http://[::1/", "http://[::1]]/", "http://[::1]x/", "http://a[b]c.example/"),
        *("http://src.example.com/" + "a" * 2_026, None, 7, b"http://src.example.com/"),
    ],
    Reason.SCHEME: ["src.example.com", "file:///etc/passwd", "ftp://src.example.com/", "javascript:1", "httpſ://a.example/"],
    Reason.URL_USER_INFO: [
        *("http://user@src.example.com/", "http://user:pass@src.example.com/", "http://@src.example.com/", "http://a@b@c/"),
        *("http://127.0.0.1#@src.example.com/", "http://127.0.0.1?@src.example.com/", "http://127.0.0.1\\@1.1.1.1/"),
    ],
    Reason.URL_PORT: [
        *("http://src.example.com:0/", "http://src.example.com:65536/", "http://src.example.com:-80/"),
        *("http://src.example.com:+80/", "http://src.example.com:８０/", "http://src.example.com:0x50/"),
        *("http://src.example.com:080/", "http://src.example.com:80:80/", "http://src.example.com:80a/", "http://::1/"),
    ],
    Reason.URL_HOST: [
        *("http:///path", "http://:80/", "http://?x", "http://.example.com/", "http://a..example.com/", "http://a.com../"),
        *("http://-a.example.com/", "http://a-.example.com/", "http://" + "a" * 64 + ".example.com/"),
        *("http://" + "a." * 127 + "example/", "http://a%2eexample.com/", "http://a,b.example.com/", "http://a*.example.com/"),
        *("http://127.1/", "http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.0.0.1./"),
        *("http://1.2.3.256/", "http://1.2.3.4.5/", "http://example.0x/", "http://1.2.3.08/", "http://example.1/"),
        *("http://[fe80::1%25eth0]/", "http://[v1.a]/", "http://[]/", "http://[1.1.1.1]/", "http://[::ffff:1.1.1.01]/"),
        *("http://１.1.1.1/", "http://1。1.1.1/", "http://a｡example.com/", "http://ｅxample.com/", "http://a\u00adb.example.com/"),
        *("http://\u212a8s.example.com/", "http://example\u2100.com/", "http://a\u200b.example.com/", "http://ﬁ.example.com/"),
        *("http://BÜCHER.example.com/", "http://ΑΣ.example.com/", "http://☃.example.com/", "http://a\u0301.example.com/"),
        *("http://xn--/", "http://xn--a.example.com/", "http://xn--localhost-.example.com/"),
        *("http://xn--99999999999999999999.example.com/", "http://xn--bcher-kvA\u0130.example.com/"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("url", "reason"), [(url, reason) for reason, urls in REFUSED.items() for url in urls])
def test_what_could_be_read_in_two_ways_is_refused(url: object, reason: Reason) -> None:
    assert reason_of(url) == reason


def test_the_longest_url_is_2048_characters() -> None:
    base = "http://src.example.com/"
    assert reason_of(base + "a" * (2_048 - len(base))) is None
    assert reason_of(base + "a" * (2_049 - len(base))) == Reason.URL


@pytest.mark.parametrize(
    "host",
    [
        *(
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "printer.local",
            "redis",
            "metadata.google.internal",
            "metadata.goog",
        ),
        *("instance-data", "kubernetes.default.svc", "db.svc.cluster.local", "x.home.arpa", "1.0.0.127.in-addr.arpa"),
        *("x.onion", "x.test", "x.invalid", "router.lan", "x.corp", "host.docker.internal", "localhost.localdomain"),
    ],
)
def test_a_local_name_is_refused_until_private_networks_are_open(host: str) -> None:
    assert reason_of(f"http://{host}/") == Reason.LOCAL_NAME
    assert reason_of(f"http://{host}/", FetchPolicy(allow_private_networks=True)) is None
    assert reason_of(f"http://{host}/", FetchPolicy(exempt=PRIVATE_CLASSES)) is None


@pytest.mark.parametrize("host", ["example.com", "localhost.example.com", "local.example.com", "notlocal.xlocal"])
def test_a_public_name_that_contains_a_local_one_is_fine(host: str) -> None:
    assert reason_of(f"http://{host}/") is None


def test_the_default_ports_are_four_and_configurable() -> None:
    good = [
        port for port in (22, 25, 79, 80, 81, 443, 8000, 8080, 8443, 9200) if not reason_of(f"http://a.example:{port}/")
    ]
    assert good == [80, 443, 8080, 8443]
    assert reason_of("http://a.example:9200/", FetchPolicy(allowed_ports=frozenset({9200}))) is None
    assert reason_of("http://a.example/", FetchPolicy(allowed_ports=frozenset({9200}))) == Reason.PORT


def test_https_only_refuses_http() -> None:
    assert reason_of("http://a.example/", FetchPolicy(https_only=True)) == Reason.SCHEME
    assert reason_of("https://a.example/", FetchPolicy(https_only=True)) is None


def test_a_refusal_names_host_and_class_but_its_text_names_no_address() -> None:
    with pytest.raises(FetchError) as caught:
        check_url("http://10.1.2.3/", FetchPolicy())
    assert (caught.value.host, caught.value.detail, caught.value.final) == ("10.1.2.3", "private", True)
    assert str(caught.value) == "refused:address"
    assert caught.value.reason.status == "refused"


def test_a_literal_is_refused_before_any_other_rule_so_that_the_log_names_the_worst() -> None:
    assert reason_of("http://127.0.0.1:6379/", FetchPolicy(allowed_domains=("example.com",))) == Reason.ADDRESS


@pytest.mark.parametrize(
    ("text", "domains"),
    [
        (None, ()),
        ("", ()),
        ("example.com", ("example.com",)),
        ("Example.COM., docs.example.org ", ("example.com", "docs.example.org")),
        (".example.com,*.example.org", ("example.com", "example.org")),
        ("bücher.example", ("xn--bcher-kva.example",)),
        ("1.1.1.1,2606:4700::1111", ("1.1.1.1", "2606:4700::1111")),
    ],
)
def test_an_allowlist_is_normalised(text: str | None, domains: tuple[str, ...]) -> None:
    assert parse_allowlist(text) == domains


@pytest.mark.parametrize(
    "text",
    [
        *(
            " ",
            ",",
            "example.com,",
            ",example.com",
            "example.com,,example.org",
            "*",
            ".",
            "*.",
            "**.example.com",
            "com",
        ),
        *(
            "https://example.com",
            "example.com/path",
            "example.com:443",
            "user@example.com",
            "exa mple.com",
            "a..example",
        ),
        *("127.1", "10.0.0.0/8", "*.*.example.com", "exam*ple.com", "..example.com", "ｅxample.com", "\ud800.example"),
    ],
)
def test_an_allowlist_with_a_bad_entry_is_refused_as_a_whole(text: str) -> None:
    with pytest.raises(ValueError, match="is no domain"):
        parse_allowlist(text)


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        *(("http://example.com/", True), ("http://a.b.example.com/", True), ("http://example.com./", True)),
        *(
            ("http://evilexample.com/", False),
            ("http://example.com.evil.example.net/", False),
            ("http://1.1.1.1/", False),
        ),
        *(("http://xample.com/", False), ("http://example.org/", False), ("http://exаmple.com/", False)),
    ],
)
def test_an_allowed_domain_allows_itself_and_what_lies_below(url: str, allowed: bool) -> None:
    reason = reason_of(url, FetchPolicy(allowed_domains=("example.com",)))
    assert reason == (None if allowed else Reason.DOMAIN)


@settings(max_examples=120, deadline=None)
@example("http://xn--0000000000000000000000000000000000.com")
@example("http://\u06dd.com")
@given(st.text() | st.text().map("http://{}".format) | st.text().map("http://a.example/{}".format))
def test_a_text_is_a_url_or_a_refusal_and_never_another_error(text: str) -> None:
    try:
        target = parse_url(text)
    except FetchError:
        return
    assert target.url.isascii()
    assert target.url.isprintable()
    assert " " not in target.url
    assert parse_url(target.url) == target if len(target.url) <= 2_048 else True


@settings(max_examples=80, deadline=None)
@given(st.text())
def test_an_allowlist_is_domains_or_a_value_error(text: str) -> None:
    try:
        domains = parse_allowlist(text)
    except ValueError:
        return
    assert all(parse_url(f"http://{f'[{domain}]' if ':' in domain else domain}/").host == domain for domain in domains)


def test_a_user_agent_with_a_line_break_is_refused() -> None:
    with pytest.raises(ValueError, match="user agent"):
        FetchPolicy(user_agent="Larder\r\nX-Evil: 1")


@pytest.mark.parametrize("host", ["r3---sn-4g5.example.com", "ab--c.example.com"])
def test_a_name_with_two_hyphens_that_is_no_punycode_is_taken_as_it_stands(host: str) -> None:
    assert parse_url(f"http://{host}/").host == host
