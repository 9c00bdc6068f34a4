"""XML as text: the text of its elements, a line each. No document type, no entity but XML's and HTML's own, no network.

The parser's events know no depth and take linear time; entities that a document declares are cut out before, because
the parser would expand them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any, Protocol

from lxml import etree

from chalicelib.fetching.text_lines import Lines

_BARE_AMPERSAND = re.compile(r"&(?!#[0-9]{1,7};|#x[0-9a-fA-F]{1,6};|\w{2,32};)")
_REFERENCE = re.compile(r"&#(?:x0{0,8}([0-9a-fA-F]{1,6})|0{0,8}([0-9]{1,7}));")
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)\w{2,32};")
_EMPTY_ELEMENT = re.compile(r"<([a-zA-Z][\w:.-]*+)([^<>]*+)(?<=/)>")
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
)


class XmlTarget(Protocol):
    """Receives the events; names are without namespace prefixes, ``{uri}name``."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element opens."""

    def end(self, tag: str) -> None:
        """The innermost element closes; may be missing at the end of a broken document."""

    def data(self, text: str) -> None:
        """Characters."""

    def close(self) -> None:
        """The parser is done."""


def parse_xml(document: str, target: XmlTarget) -> None:
    """Send the events of a `prepare`d document to the target, as far as it can be read. Raises nothing."""
    handler: Any = target
    parser = etree.XMLParser(target=handler, recover=True, load_dtd=False, no_network=True, huge_tree=True)
    try:
        parser.feed(document.encode())
        parser.close()
    except (etree.XMLSyntaxError, UnicodeDecodeError):
        return  # what could be read has been sent


def prepare(text: str) -> str:
    """Leave out the document type, and write every entity outside CDATA so that a parser without one knows it."""
    outside, *sections = _without_document_type(text).replace("<!ENTITY", "").split("<![CDATA[")
    prepared = [_known_entities(outside)]
    for section in sections:
        inside, closing, outside = section.partition("]]>")
        prepared += "<![CDATA[", inside, closing, _known_entities(outside)
    return "".join(prepared)


def _character(match: re.Match[str]) -> str:
    """A reference to what is no character of XML becomes U+FFFD, as in HTML; the parser would hand on broken bytes."""
    code = int(match[1], 16) if match[1] else int(match[2])
    legal = code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
    return match[0] if legal else "\ufffd"


def root_of(document: str) -> str:
    """Return the local name of the outermost element of a `prepare`d document, in lower case."""
    root = re.match(r"<([^\s<>/]{1,100})", document)
    return local_name(root[1]).lower() if root else ""


def xhtml_to_html(document: str) -> str:
    """Write what HTML reads otherwise so that it reads the same: CDATA, and empty elements as ``<p/>``."""
    outside, *sections = document.split("<![CDATA[")
    parts = [outside]
    for section in sections:
        inside, _, outside = section.partition("]]>")
        parts += html.escape(inside, quote=False), outside
    return _EMPTY_ELEMENT.sub(_with_end_tag, "".join(parts))


def _with_end_tag(empty: re.Match[str]) -> str:
    name = empty[1].rstrip("/")
    return empty[0] if name.lower() in _VOID else f"<{name}{empty[2].removesuffix('/')}></{name}>"


def _without_document_type(text: str) -> str:
    """Cut what stands before the outermost element: declaration (its encoding has been applied), type, comments."""
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text.startswith("<?", at):
            at = _after(text, "?>", at)
        elif text.startswith("<!--", at):
            at = _after(text, "-->", at)
        elif text.startswith("<!DOCTYPE", at):
            at = _end_of_document_type(text, at)
        else:
            break
    return text[at:]


def _after(text: str, mark: str, at: int) -> int:
    end = text.find(mark, at)
    return end + len(mark) if end >= 0 else len(text)


def _end_of_document_type(text: str, at: int) -> int:
    if "[" in text[at : _after(text, ">", at)]:
        closing = re.compile(r"\]\s*>").search(text, at)
        return closing.end() if closing else len(text)
    return _after(text, ">", at)


def _known_entities(text: str) -> str:
    """Write HTML's entities, which feeds use, as characters, and ampersands that begin none as what they are."""
    if "&" not in text:
        return text
    return _ENTITY.sub(_resolve, _REFERENCE.sub(_character, _BARE_AMPERSAND.sub("&amp;", text)))


def _resolve(entity: re.Match[str]) -> str:
    return html.escape(html.unescape(entity[0]), quote=False)


def local_name(tag: str) -> str:
    """``{uri}name`` or ``prefix:name`` without what stands before the name."""
    return tag.rpartition("}")[2].rpartition(":")[2]


class XmlText:
    """Any XML: every element ends a line. ``root`` is the local name of the outermost element."""

    def __init__(self) -> None:
        self.lines = Lines()
        self.root = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """See `XmlTarget`."""
        self.root = self.root or local_name(tag).lower()
        self.lines.end_line()

    def end(self, tag: str) -> None:
        """See `XmlTarget`."""
        self.lines.end_line()

    def data(self, text: str) -> None:
        """See `XmlTarget`."""
        self.lines.add(text)

    def close(self) -> None:
        """See `XmlTarget`."""
