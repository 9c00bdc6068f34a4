from string import ascii_letters, digits
from urllib.parse import quote, unquote_to_bytes

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chalicelib.domain.source_url import MAX_URL_LENGTH, canonical_url, canonicalise

modest = settings(max_examples=50, deadline=None)

SAME = [
    ("http://src.example.com", "http://src.example.com/"),
    ("HTTP://SRC.Example.com/A", "http://src.example.com/A"),
    ("http://src.example.com:80/a", "http://src.example.com/a"),
    ("https://src.example.com:443/a", "https://src.example.com/a"),
    ("https://src.example.com:0443/a", "https://src.example.com/a"),
    ("http://src.example.com:/a", "http://src.example.com/a"),
    ("http://src.example.com/a#part", "http://src.example.com/a"),
    ("http://src.example.com/a#", "http://src.example.com/a"),
    ("http://src.example.com#?a=1", "http://src.example.com/"),
    ("http://src.example.com?a=1", "http://src.example.com/?a=1"),
    ("http://src.example.com./a", "http://src.example.com/a"),
    ("http://src.example.com/a/../b", "http://src.example.com/b"),
    ("http://src.example.com/a/./b/", "http://src.example.com/a/b/"),
    ("http://src.example.com/a/b/..", "http://src.example.com/a/"),
    ("http://src.example.com/a/.", "http://src.example.com/a/"),
    ("http://src.example.com/../../a", "http://src.example.com/a"),
    ("http://src.example.com/..", "http://src.example.com/"),
    ("http://src.example.com/a/%2e%2E/b", "http://src.example.com/b"),
    ("http://src.example.com/%7Euser/%41", "http://src.example.com/~user/A"),
    ("http://src.example.com/%c3%a9?q=%c3%a9", "http://src.example.com/é?q=é"),
    ("http://src.example.com/a%2fb", "http://src.example.com/a%2Fb"),
    ("http://src.example.com/?q=%61%2d", "http://src.example.com/?q=a-"),
    ('http://src.example.com/a"b|c', "http://src.example.com/a%22b%7Cc"),
    ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
    ("http://bu\u0308cher.example/", "http://XN--BCHER-KVA.example/"),
    ("http://straße.example/", "http://xn--strae-oqa.example/"),
    ("http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"),
    ("http://[2606:4700:4700:0::1111]/", "http://[2606:4700:4700::1111]:80/"),
    ("http://[2606:4700:4700::ABCD]/", "http://[2606:4700:4700::abcd]/"),
]

APART = [
    ("http://src.example.com/a", "https://src.example.com/a"),
    ("http://src.example.com/a", "http://src.example.com/a/"),
    ("http://src.example.com/A", "http://src.example.com/a"),
    ("http://src.example.com/a?utm_source=x", "http://src.example.com/a"),
    ("http://src.example.com/?a=1&b=2", "http://src.example.com/?b=2&a=1"),
    ("http://src.example.com/?a=1", "http://src.example.com/?A=1"),
    ("http://src.example.com/a?", "http://src.example.com/a"),
    ("http://src.example.com/a%2Fb", "http://src.example.com/a/b"),
    ("http://src.example.com/?a=%26", "http://src.example.com/?a=&"),
    ("http://src.example.com/?a=+", "http://src.example.com/?a=%20"),
    ("http://src.example.com//a", "http://src.example.com/a"),
    ("http://src.example.com/a;b", "http://src.example.com/a"),
    ("http://src.example.com/?a/../b", "http://src.example.com/?b"),
    ("http://src.example.com:8080/", "http://src.example.com/"),
    ("http://src.example.com:443/", "http://src.example.com/"),
    ("http://www.example.com/", "http://example.com/"),
    ("http://src.example.com/a%00", "http://src.example.com/a"),
    ("http://src.example.com/index.html", "http://src.example.com/"),
    ("http://src.example.com/é", "http://src.example.com/e\u0301"),
]


@pytest.mark.parametrize(("spelling", "other"), SAME)
def test_two_spellings_of_one_url_are_one_source(spelling: str, other: str) -> None:
    assert canonicalise(spelling) == canonicalise(other)


@pytest.mark.parametrize(("url", "other"), APART)
def test_what_only_the_server_can_equate_stays_apart(url: str, other: str) -> None:
    assert canonicalise(url) != canonicalise(other)


@pytest.mark.parametrize("query", ["q=%zz%7E", "q=%u0416", "q=50%", "%%341", "%4%31"])
def test_a_malformed_percent_sequence_is_sent_as_it_was_written(query: str) -> None:
    assert canonicalise(f"http://src.example.com/?{query}") == f"http://src.example.com/?{query}"


NO_SCHEME = ["", "src.example.com/page", "//src.example.com/", "http:src.example.com/", "http:/src.example.com/"]
OTHER_SCHEME = ["file:///etc/passwd", "ftp://src.example.com/", "javascript:alert(1)", "jar:http://src.example.com!/"]
NO_HOST = ["http:///path", "http://", "http://:80/", "http://?a", "http://./", "http://.example.com/"]
BAD_HOST = [
    "http://example..com/",
    "http://src.example.com../",
    "http://exa mple.com/",
    "http://-a.example.com/",
    "http://a-.example.com/",
    "http://%31.example.com/",
    "http://a,b.example.com/",
    "http://example.com\\.example.net/",
    "http://example.com／.example.net/",
    "http://i❤.example/",
    "http://" + "a" * 64 + ".example.com/",
    "http://" + "a." * 127 + "example.com/",
    "http://[::1/",
    "http://::1/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[example.com]/",
    "http://[]/",
]
BAD_ADDRESS = [
    "http://0177.0.0.1/",
    "http://2852039166/",
    "http://127.1/",
    "http://0x7f.0.0.1/",
    "http://0x7f000001/",
    "http://127.000.000.001/",
    "http://1.2.3.256/",
    "http://１２７.０.０.１/",
    "http://169｡254｡169｡254/",
]
BAD_PORT = ["http://a.example:0/", "http://a.example:65536/", "http://a.example:-80/", "http://a.example:+80/"]
ODD_PORT = ["http://a.example:８０/", "http://a.example:0x50/", "http://a.example:80:80/", "http://a.example:000080/"]
USER = [
    "http://user:pass@a.example/",
    "http://@a.example/",
    "http://a.example@b.example/",
    "http://a.example／@b.example/",
]
BLANKS = [f"http://a.example/x{blank}y" for blank in " \t\r\n\0\x7f\x85\xa0\u2028\ud800"] + [" http://a.example/"]


@pytest.mark.parametrize(
    "url", [*NO_SCHEME, *OTHER_SCHEME, *NO_HOST, *BAD_HOST, *BAD_ADDRESS, *BAD_PORT, *ODD_PORT, *USER, *BLANKS]
)
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="the URL"):
        canonicalise(url)


def test_a_url_is_bounded_before_and_after_its_encoding() -> None:
    start = "http://src.example.com/"
    longest = start + "a" * (MAX_URL_LENGTH - len(start))
    assert canonicalise(longest) == longest
    for url in (longest + "a", start + "é" * 1000):
        with pytest.raises(ValueError, match="longer"):
            canonicalise(url)


def test_the_parts_of_a_url_are_joined_in_the_same_spelling() -> None:
    assert canonical_url("HTTP", "Src.Example.COM.", 80, "") == "http://src.example.com/"
    assert canonical_url("https", "2606:4700::1", 8443, "/a/../%7Eb?x=%7e") == "https://[2606:4700::1]:8443/~b?x=~"
    with pytest.raises(ValueError, match="must start with"):
        canonical_url("ftp", "src.example.com", None, "/")


# Properties

PIECES = [*"aZ09-._~%/:@!$&'()*+,;=[]|\\^`{}<>\"", "%2", "%41", "%2e", "%2F", "%c3%a9", "..", "/../", "é", "日", "😀"]
paths = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
hosts = st.sampled_from(
    ["src.example.com", "SRC.example.com.", "bücher.example", "[2606:4700::1]", "1.1.1.1", "a_b.example"]
)
urls = st.builds(
    lambda scheme, host, port, path, query, fragment: f"{scheme}://{host}{port}/{path}{query}{fragment}",
    st.sampled_from(["http", "https", "HTTPS"]),
    hosts,
    st.sampled_from(["", ":", ":80", ":443", ":8443"]),
    paths,
    st.just("") | paths.map("?{}".format),
    st.just("") | paths.map("#{}".format),
)


@given(urls)
@modest
@example("http://src.example.com/%zz/../%7Eb")
@example("http://src.example.com/?%%341")
def test_the_identity_of_an_identity_is_itself(url: str) -> None:
    once = canonicalise(url)
    assert canonicalise(once) == once
    assert once.isascii()
    assert "#" not in once
    assert not {"", ".", ".."} & set(once.partition("://")[2].partition("?")[0].split("/")[1:-1]) - {""}


@given(urls)
@modest
def test_a_query_keeps_its_bytes(url: str) -> None:
    _, mark, query = url.partition("#")[0].partition("?")
    _, found_mark, found = canonicalise(url).partition("?")
    assert mark == found_mark
    assert unquote_to_bytes(found) == unquote_to_bytes(query)


@given(st.text([*ascii_letters, *digits, *"-._~é日/"]))
@modest
def test_a_path_is_the_same_however_much_of_it_is_percent_encoded(path: str) -> None:
    raw = canonicalise(f"http://src.example.com/{path}")
    encoded = "".join(
        character if character == "/" else "".join(f"%{b:02x}" for b in character.encode()) for character in path
    )
    assert canonicalise(f"http://src.example.com/{encoded}") == raw
    assert canonicalise(f"http://src.example.com/{quote(path, safe='/~')}") == raw


@given(st.text(st.characters(exclude_categories=[])) | st.text("htps:/@[]?#%.0a\\").map("http://{}".format))
@modest
def test_whatever_is_typed_is_a_url_or_a_value_error(text: str) -> None:
    try:
        once = canonicalise(text)
    except ValueError:
        return
    assert canonicalise(once) == once
