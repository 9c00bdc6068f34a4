"""From the bytes of an answer or an upload to clean text (spec 1.7 and 2.4).

The gates come in this order: the type is one that is read, bytes that are text, extraction, cleaning, and that there is
text at all. Scanning for secrets and cutting come after, and elsewhere.
"""

from __future__ import annotations

import re

from chalicelib.domain.clean_text import REPLACEMENT, clean_text
from chalicelib.domain.text_damage import Damage, find_damage, find_damage_in_page, marked
from chalicelib.fetching.charset import Decoded, decode
from chalicelib.fetching.extracted import EXTRACTOR_VERSION, MAX_CHARACTERS, Extracted, ExtractionError
from chalicelib.fetching.feed_text import FEED_ROOTS, FeedText
from chalicelib.fetching.html_text import HtmlText, read_html
from chalicelib.fetching.json_text import read_json
from chalicelib.fetching.pdf_text import read_pdf
from chalicelib.fetching.xml_text import XmlText, parse_xml, prepare, root_of, xhtml_to_html

__all__ = ["EXTRACTOR_VERSION", "Extracted", "ExtractionError", "extract", "extract_marked", "media_type_of"]

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_PLAIN = frozenset({"text/plain", "text/markdown", "text/x-markdown"})
_JSON = frozenset({"application/json", "text/json"})
_XML = frozenset({"application/xml", "text/xml"})
_LONGEST_TITLE = 500
_MOST_CONTROLS = 0.01
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f]")
_READABLE = re.compile(r"\w")
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,4}")


def extract(body: bytes, content_type: str | None, *, keep_hidden: bool = False) -> Extracted:
    """Read a document of at most some megabytes; takes time linear in them.

    ``content_type`` is the header's value with its parameters; without one the first bytes decide. ``keep_hidden``
    keeps what a page hides, but no scripts. Raises `ExtractionError` and nothing else.
    """
    media_type = media_type_of(body, content_type)
    if media_type in _HTML:
        found = _html(body, content_type, media_type, keep_hidden)
    elif media_type in _XML or _suffix(media_type) == "xml":
        found = _xml(body, content_type, media_type, keep_hidden)
    elif media_type in _PLAIN:
        found = _result(_strictly(body, content_type), media_type)
    elif media_type in _JSON or _suffix(media_type) == "json":
        found = _result(read_json(_strictly(body, content_type)), media_type)
    elif media_type == "application/pdf":
        pdf = read_pdf(body)
        found = _result(pdf.text, media_type, title=pdf.title)
    else:
        raise ExtractionError("unsupported_type", "the type of the document is not one that is read")
    if len(found.text) > MAX_CHARACTERS:
        raise ExtractionError("too_large", f"the document has more than {MAX_CHARACTERS} characters")
    if not _READABLE.search(found.text):
        raise ExtractionError("empty", "the document has no readable text")
    return found


def extract_marked(body: bytes, content_type: str | None) -> Extracted:
    """Read a damaged document with U+FFFD in its bad places, for a person to see.

    Raises `ExtractionError` where marks don't help: text that was decoded twice, a PDF.
    """
    media_type = media_type_of(body, content_type)
    if media_type == "application/pdf":
        raise ExtractionError("damaged_text", "the text of the PDF")
    text = decode(body, content_type, is_html=media_type in _HTML).text
    return extract(marked(text).encode(), f"{media_type}; charset=utf-8")


def media_type_of(body: bytes, content_type: str | None) -> str:
    """Return the media type in lower case without parameters; that of the first bytes if none is given."""
    essence = re.split("[;,]", content_type or "", maxsplit=1)[0].strip().lower()
    if essence:
        return essence
    start = body[:1024].lstrip(b"\xef\xbb\xbf\xff\xfe\t\n\x0c\r ").lower()
    if start.startswith(b"%pdf-"):
        return "application/pdf"
    if start.startswith(b"<?xml"):
        return "application/xml"
    return "text/html" if re.match(rb"<(?:!|[a-z])", start) else "text/plain"


def _html(body: bytes, content_type: str | None, media_type: str, keep_hidden: bool) -> Extracted:
    decoded = _leniently(body, content_type)
    document = decoded.text.replace("\0", "")
    if media_type != "text/html":
        document = xhtml_to_html(prepare(document))
    return _page(read_html(document, keep_hidden=keep_hidden), decoded, media_type)


def _page(page: HtmlText, decoded: Decoded, media_type: str) -> Extracted:
    text = _undamaged(page.lines.text(), decoded)
    return _result(
        text,
        media_type,
        title=page.title,
        language=page.language,
        canonical_url=page.canonical_url,
        description=page.description,
        hidden_removed=page.hidden_removed,
        replaced=decoded.replaced,
    )


def _xml(body: bytes, content_type: str | None, media_type: str, keep_hidden: bool) -> Extracted:
    decoded = _leniently(body, content_type)
    document = prepare(decoded.text.replace("\0", ""))
    root = root_of(document)
    if root == "html":
        return _page(read_html(xhtml_to_html(document), keep_hidden=keep_hidden), decoded, media_type)
    if root == "svg":
        raise ExtractionError("unsupported_type", "the document is an image")
    if root not in FEED_ROOTS:
        other = XmlText()
        parse_xml(document, other)
        return _result(_undamaged(other.lines.text(), decoded), media_type, replaced=decoded.replaced)
    feed = FeedText(keep_hidden=keep_hidden)
    parse_xml(document, feed)
    return _result(
        _undamaged(feed.text(), decoded),
        media_type,
        title=feed.title,
        language=feed.language,
        description=feed.description,
        hidden_removed=feed.hidden_removed,
        replaced=decoded.replaced,
    )


def _leniently(body: bytes, content_type: str | None) -> Decoded:
    """Decode markup, in which a little may be repaired. Raises `ExtractionError` for what is no text at all."""
    decoded = decode(body, content_type, is_html=True)
    controls = _CONTROL.findall(decoded.text)
    if len(controls) > _MOST_CONTROLS * len(decoded.text):
        raise _damaged(Damage("control_character", decoded.text.index(controls[0])))
    if damage := find_damage_in_page(" " * len(decoded.text), decoded.replaced, decoded.first_bad_offset or 0):
        raise _damaged(damage)
    return decoded


def _undamaged(text: str, decoded: Decoded) -> str:
    """What was repaired may all stand in the little text of a page that is nearly all markup."""
    replaced = min(decoded.replaced, text.count(REPLACEMENT))
    if damage := find_damage_in_page(text, replaced, decoded.first_bad_offset or 0):
        raise _damaged(damage)
    return text


def _strictly(body: bytes, content_type: str | None) -> str:
    """Decode a type in which nothing is repaired: one bad byte is damage (spec 1.7)."""
    decoded = decode(body, content_type, is_html=False)
    if decoded.first_bad_offset is not None:
        raise _damaged(Damage("invalid_utf8", decoded.first_bad_offset))
    if damage := find_damage(decoded.text):
        raise _damaged(damage)
    return decoded.text


def _result(
    text: str,
    media_type: str,
    *,
    title: str | None = None,
    language: str | None = None,
    canonical_url: str | None = None,
    description: str | None = None,
    hidden_removed: int = 0,
    replaced: int = 0,
) -> Extracted:
    cleaned = clean_text(text)
    tag = (language or "").strip()
    url = _in_one_line(canonical_url, 2048)
    return Extracted(
        text=cleaned.text,
        title=_in_one_line(title, _LONGEST_TITLE),
        language=tag if _LANGUAGE_TAG.fullmatch(tag) else None,
        canonical_url=url if url and " " not in url else None,
        description=_in_one_line(description, 2 * _LONGEST_TITLE),
        invisible_removed=cleaned.invisible_removed + clean_text(title or "").invisible_removed,
        hidden_removed=hidden_removed,
        replaced=replaced,
        media_type=media_type,
    )


def _in_one_line(text: str | None, longest: int) -> str | None:
    line = " ".join(clean_text((text or "")[: 8 * longest]).text.split())
    return clean_text(line[:longest]).text.rstrip() or None


def _suffix(media_type: str) -> str | None:
    """``xml`` of ``application/rss+xml``; an image's suffix makes it no text."""
    return media_type.rpartition("+")[2] if media_type.startswith(("application/", "text/")) else None


def _damaged(damage: Damage) -> ExtractionError:
    return ExtractionError("damaged_text", str(damage))
