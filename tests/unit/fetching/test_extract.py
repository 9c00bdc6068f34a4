import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chalicelib.domain.text_damage import find_damage
from chalicelib.fetching.extract import ExtractionError, extract, media_type_of
from chalicelib.fetching.extracted import MAX_CHARACTERS

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06\x00\x00\x00\\r\xa8f" * 20


def text(body: str | bytes, content_type: str | None) -> str:
    return extract(body.encode() if isinstance(body, str) else body, content_type).text


def status(body: bytes, content_type: str | None) -> str:
    with pytest.raises(ExtractionError) as error:
        extract(body, content_type)
    return error.value.status


@pytest.mark.parametrize(
    ("body", "content_type", "media_type"),
    [
        (b"", "Text/HTML; charset=utf-8", "text/html"),
        (b"", "text/html, text/plain", "text/html"),
        (b"", "text/html,text/html", "text/html"),
        (b"\xef\xbb\xbf\n<!doctype html>", None, "text/html"),
        (b"<p>x", "", "text/html"),
        (b"<?xml version='1.0'?>", None, "application/xml"),
        (b"%PDF-1.7", None, "application/pdf"),
        (b"a < b", None, "text/plain"),
        (b"<p>x", "application/octet-stream", "application/octet-stream"),
    ],
)
def test_the_header_names_the_type_and_without_one_the_first_bytes_do(
    body: bytes, content_type: str | None, media_type: str
) -> None:
    assert media_type_of(body, content_type) == media_type


@pytest.mark.parametrize(
    "content_type",
    ["image/png", "image/svg+xml", "application/octet-stream", "application/zip", "text/csv", "video/mp4", "text/css",
     "application/javascript", "nonsense"],
)  # fmt: skip
def test_other_types_are_refused(content_type: str) -> None:
    assert status(b"text", content_type) == "unsupported_type"


def test_an_image_is_one_under_any_type_of_xml() -> None:
    assert status(b"<svg xmlns='http://www.w3.org/2000/svg'><text>x</text></svg>", "text/xml") == "unsupported_type"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", "text/html"),
        (b"<div id=root></div><script src=/app.js></script>", "text/html"),
        (b"<p>&nbsp;&#x200b;</p>|", "text/html"),
        (b" \n\n", "text/plain"),
        (b"...", "text/markdown"),
        (b"<rss><channel><title>News</title></channel></rss>", "application/rss+xml"),
        (b"<html><frameset><frame src=a></frameset></html>", "text/html"),
    ],
)
def test_a_document_without_words_is_empty(body: bytes, content_type: str) -> None:
    assert status(body, content_type) == "empty"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        pytest.param(PNG, "text/html", id="image called HTML"),
        pytest.param(PNG, "text/html; charset=iso-8859-1", id="image called Latin-1"),
        pytest.param(b"\x00\x01\x02" * 1000, "text/html", id="NULs called HTML"),
        pytest.param("text ".encode("utf-16-le") * 50, "text/html", id="UTF-16 without a mark"),
        pytest.param(b"<p>caf\xe9 \xe0 la carte", "text/html; charset=utf-8", id="Latin-1 called UTF-8"),
        pytest.param("<p>人民日报".encode("gb18030"), "text/html", id="Chinese without a label"),
        pytest.param("<p>CafÃ© â€“ guide".encode(), "text/html; charset=utf-8", id="decoded twice"),
        pytest.param(b"<p>" + b"x" * 500 + b"a\x07b", "text/html", id="one control character left"),
        pytest.param(b"<p>a&#1;b", "text/html", id="control character by entity"),
        pytest.param(b"<script>" + b"x" * 9000 + b"</script><p>\xff\xfe\xff", "text/html", id="all of the little text"),
        pytest.param(b"<p>x", "text/html; charset=iso-2022-kr", id="encoding that the web refuses"),
        pytest.param(b"caf\xe9", "text/plain", id="Latin-1 called nothing"),
        pytest.param(b"a" * 10_000 + b"\xff", "text/plain; charset=utf-8", id="one byte of ten thousand"),
        pytest.param(b"a\x00b", "text/plain", id="NUL in plain text"),
        pytest.param(b"# a\x1bb", "text/markdown", id="escape in Markdown"),
        pytest.param(b'{"a": "\xff"}', "application/json", id="byte in JSON"),
        pytest.param(b'{"a": ', "application/json", id="half a JSON"),
        pytest.param(b"<rss><item><title>\xff\xff", "application/rss+xml", id="bytes in a feed"),
    ],
)
def test_damage_is_refused(body: bytes, content_type: str) -> None:
    assert status(body, content_type) == "damaged_text"


def test_the_detail_tells_the_offset_and_quotes_nothing() -> None:
    with pytest.raises(ExtractionError) as error:
        extract(b"secret\xff", "text/plain")
    assert error.value.detail == "invalid utf8 at offset 6"


def test_a_little_damage_in_html_is_repaired_and_counted() -> None:
    found = extract(b"<p>caf\xe9 " + b"and more words " * 20, "text/html; charset=utf-8")
    assert found.text.startswith("caf\ufffd and")
    assert found.replaced == 1
    assert text(b"<p>w\x00ord " + b"x" * 200, "text/html").startswith("word")


def test_plain_text_and_markdown_are_kept() -> None:
    source = "# Title\r\n\r\n    code  \r\n* item\tx\r\n<b>no markup</b> &amp;"
    for content_type in ("text/plain", "text/markdown; charset=utf-8", "text/x-markdown"):
        assert text(source, content_type) == "# Title\n\n    code\n* item\tx\n<b>no markup</b> &amp;"
    assert text("wide".encode("utf-16"), "text/plain") == "wide"


def test_json_gives_its_keys_and_values_in_lines() -> None:
    source = '{"name": "Larder\\nand more", "n": 1.50, "list": ["é", {"a": null, "a": true}], "empty": {}}'
    assert text(source, "application/ld+json") == (
        "name: Larder\n  and more\nn: 1.50\nlist:\n  - é\n  -\n    a: null\n    a: true\nempty:"
    )
    assert text('"only"', "application/json") == "only"
    assert text('{"a": "x\\ud83d\\u0000y"}', "application/json") == "a: x\ufffdy"


@pytest.mark.parametrize("depth", [50, 400])
def test_json_may_be_deep(depth: int) -> None:
    assert text("[" * depth + "1" + "]" * depth, "application/json").endswith("- 1")


def test_json_too_deep_to_read_is_refused() -> None:
    assert status(b"[" * 200_000, "application/json") == "too_large"


@pytest.mark.parametrize(
    "body",
    [
        "[" * 39 + '"' + "x\\n" * 6600 + '"' + "]" * 39,
        "[" + ",".join(["[" * 39 + "1" + "]" * 39] * 240) + "]",
    ],
    ids=["lines", "levels"],
)
def test_json_that_indentation_would_blow_up_is_too_large(body: str, limit: int) -> None:
    assert len(body) < limit / 2
    assert status(body.encode(), "application/json") == "too_large"


@pytest.mark.parametrize("content_type", ["text/plain", "text/html", "application/xml", "application/rss+xml"])
def test_text_of_any_type_has_one_limit(content_type: str, limit: int) -> None:
    start = "<rss><item><title>"
    assert text(start + "word " * ((limit - len(start)) // 5), content_type)
    assert status((start + "word " * (limit // 5 + 10)).encode(), content_type) == "too_large"


def test_the_limit_is_twice_what_a_body_may_hold() -> None:
    """Each character of a body of 2 MB may become two (spec 1.3)."""
    assert MAX_CHARACTERS == 2 * 2_000_000


def test_xhtml_is_read_as_xml_is_meant() -> None:
    found = extract(
        b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://dtd.example.com/x" []>'
        b'<html xmlns="http://www.w3.org/1999/xhtml"><head><script src="a.js"/><title>T</title></head>'
        b"<body><div/><p>a <![CDATA[x < y & z]]><br/> b&nbsp;c</p></body></html>",
        "application/xhtml+xml",
    )
    assert (found.title, found.text) == ("T", "a x < y & z\nb c")
    assert text("<html xmlns='http://www.w3.org/1999/xhtml'><p>x</p></html>", "application/xml") == "x"


CONTENT_TYPES = ["text/html", "text/html; charset=gb2312", "text/html; charset=utf-16", "application/xhtml+xml",
                 "text/plain", "text/plain; charset=shift_jis", "application/json", "application/rss+xml",
                 "application/xml", "image/png", "", None]  # fmt: skip
PIECES = (
    "<p>|</p>|<table>|<tr>|<td>|<th>|</table>|<pre>|</pre>|<svg>|</svg>|<p hidden>|</div>|<b style='font-size:0'>|</b>|"
    "<i style='font-size:9px'>|<title>|<template>|</template>|<style>.a{display:none}</style>|<b class=a>|<br>|<!--|"
    "-->|<![CDATA[|]]>|<script>|</script>|<textarea>|<select><option>|<rss><channel><item><title>|<description>|</item>|"
    "</description>|<feed xmlns='http://www.w3.org/2005/Atom'>|<entry><content type='xhtml'>|</content>|&#0;|&#x1;|"
    "&nbsp;|&amp|word| |\n|\u200b|e\u0301|\ufffd|<html>|<!DOCTYPE x [|]>|<|>|<a/>"
)
MARKUP = st.lists(st.sampled_from(PIECES.split("|")), max_size=25).map(lambda parts: "".join(parts).encode())


@settings(max_examples=120, deadline=None)
@given(st.binary(max_size=60) | MARKUP, st.sampled_from(CONTENT_TYPES), st.booleans())
@example(b"<html xmlns='x'><![CDATA[<![CDATA[]]>", "application/xhtml+xml", False)
def test_any_bytes_give_clean_text_or_an_extraction_error(body: bytes, kind: str | None, keep_hidden: bool) -> None:
    try:
        found = extract(body, kind, keep_hidden=keep_hidden)
    except ExtractionError:
        return
    for said in (found.text, found.title or "", found.description or "", found.canonical_url or ""):
        assert find_damage(said) is None
        assert unicodedata.is_normalized("NFC", said)
        said.encode()
    assert found.text.strip("\n") == found.text != ""


@pytest.mark.parametrize("reference", ["&#xd800;", "&#xDFFF;", "&#0;", "&#1;", "&#55296;", "&#xFFFE;", "&#x110000;"])
@pytest.mark.parametrize(
    "page",
    [
        "<a>before {} after</a>",
        "<a b='{}'>before after</a>",
        "<rss><channel><item><title>{}x</title></item></channel></rss>",
    ],
)
def test_a_reference_to_no_character_never_breaks_xml(page: str, reference: str) -> None:
    text = extract(page.format(reference).encode(), "application/xml").text
    assert not set(text) & {"\x00", "\x01", "\ud800"}
