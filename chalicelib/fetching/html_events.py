"""HTML parsing as a stream of events, in linear time for any input.

libxml2's tokenizer (HTML5 rules since 2.14) does the reading. Its tree is not built: the tree is cut off below 2 048
levels and takes quadratic time for an element of many attributes; the events know no depth and are linear but for one
thing, end tags that match nothing, each of which is compared with every open element. So that work is bounded here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from lxml import etree

PIECE = 8192
"""Bytes that are parsed at once."""

COMPARISONS = 20_000_000
"""End tags times open elements that a document may cost before it is read flat (0.1 s)."""

FLAT = 64
"""Open elements that such a document may then have."""

# What is inside these is no markup, or isn't shown: one that never ends would swallow the rest of the page.
_SWALLOWING = (b"title", b"textarea", b"noscript", b"template", b"iframe", b"noembed", b"noframes", b"xmp", b"svg")


# A slash closes no element of HTML, so `<script/>` and `<div hidden/>` are open; libxml2 takes them for closed.
_SLASHED = re.compile(
    rb"""(<(?:script|style|template|noscript|textarea|title|iframe|canvas|audio|video|object|pre|p|div|span|a|b|i|u|s|em|strong
    |small|font|code|li|ul|ol|dl|dt|dd|table|tbody|thead|tfoot|tr|td|th|section|article|aside|main|nav|header|footer|figure
    |figcaption|details|summary|dialog|form|fieldset|label|button|select|option|blockquote|center|h[1-6])
    (?=[\s/])(?:[^<>"']++|"[^"]*+"|'[^']*+')*+)(?<=/)>""",
    re.IGNORECASE | re.VERBOSE,
)


class Sink(Protocol):
    """Receives what is in the document, in its order; start and end are balanced."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element opens. Names are lower-case, values are decoded."""

    def end(self, tag: str) -> None:
        """The innermost open element closes, by its end tag or because HTML implies it."""

    def data(self, text: str) -> None:
        """Characters, entities decoded; a paragraph may come in several pieces."""

    def close(self) -> None:
        """The parser is done; the document may go on in another one."""

    def flatten(self) -> None:
        """What is open now will be closed by the parser, though the document has not closed it."""

    depth: int


def parse_html(text: str, sink: Sink) -> None:
    """Send the events of a document to the sink. Accepts any text without NUL and surrogates; raises nothing."""
    document = text.encode()
    if b"/>" in document:
        document = _SLASHED.sub(lambda tag: tag[1][:-1] + b">", document)
    document = forgive_unclosed(document)
    parser = _parser(sink)
    comparisons = 0
    for piece in _pieces(document):
        comparisons += piece.count(b"</") * sink.depth
        if comparisons > COMPARISONS and sink.depth > FLAT:
            sink.flatten()
            parser.close()
            parser = _parser(sink)
        parser.feed(piece)
    parser.close()


def _parser(sink: Any) -> etree.HTMLParser:
    parser = etree.HTMLParser(target=sink, encoding="utf-8", huge_tree=True, no_network=True, recover=True)
    parser.feed(b"<!DOCTYPE html>")  # an empty document would be an error
    return parser


def _pieces(document: bytes) -> Iterator[bytes]:
    """Cut before a tag, so that no piece ends inside a character."""
    start = 0
    while start < len(document):
        end = document.rfind(b"<", start + 1, start + PIECE)
        if end < 0:
            end = start + PIECE
            while end < len(document) and 0x80 <= document[end] < 0xC0:
                end += 1
        yield document[start:end]
        start = end


def forgive_unclosed(document: bytes) -> bytes:
    """Take out start tags of elements that swallow what follows and are never closed.

    A browser shows nothing more after an unclosed ``<title>``; a source must not lose its text to a typing error.
    """
    lower = document.lower()
    for name in _SWALLOWING:
        after = lower.rfind(b"</" + name) + 1
        if lower.find(b"<" + name, after) >= 0:
            tail = re.sub(rb"(?i)<" + name + rb"(?![a-z0-9-])[^<>]*>", b"", document[after:])
            document = document[:after] + tail
            lower = document.lower()
    return document
