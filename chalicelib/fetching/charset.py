"""From bytes to characters as the web does it (WHATWG Encoding and HTML standards).

The order is byte order mark, Content-Type header, what the document says of itself, valid UTF-8; the labels are the
web's (`gb2312` is GB18030, `iso-8859-1` is Windows-1252). Two departures, because nobody repairs a stored text: bytes
that are valid UTF-8 beat a western label that a server sends by default, and any label if there are several; and where
a browser would guess an encoding from its user's language we take the language of the page, or else leave the bytes
undecoded, to be refused as damaged.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import webencodings

UNDECODED = "\ufffd"
_UTF8 = webencodings.UTF8
_HEAD = 65536
"""Bytes that are searched for what the document says of itself; the standard's 1024 miss pages with a long head."""

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_HEADER_CHARSET = re.compile(r"""(?i)(?:^|[;\s])charset\s*=\s*("[^"]*|'[^']*|[^\s;,"']+)""")
_XML_DECLARATION = re.compile(rb"""\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([^"'>]{1,40})["']""")
_META = re.compile(rb"<!--|<meta[\s/]([^>]{0,1024})>?", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"""([^\s=>"'/]+)\s*=\s*("[^"]*"|'[^']*'|[^\s>"']+)""")
_LANGUAGE = re.compile(rb"""<html\b[^>]{0,300}?\blang\s*=\s*["']?([a-z]{2,3}(?:-[a-z]{2,4})?)""", re.IGNORECASE)

_SERVER_DEFAULTS = frozenset(
    {"windows-1252", "iso-8859-2", "iso-8859-15", "windows-1250", "windows-1251", "windows-1254"}
)
# What browsers fall back to for a user of the language (HTML standard, "encoding sniffing algorithm").
_OF_LANGUAGE = {
    "zh-tw": "big5", "zh-hk": "big5", "zh-hant": "big5", "zh": "gb18030", "ja": "shift_jis", "ko": "euc-kr",
    "ru": "windows-1251", "uk": "windows-1251", "bg": "windows-1251", "sr": "windows-1251", "el": "iso-8859-7",
    "tr": "windows-1254", "he": "windows-1255", "ar": "windows-1256", "fa": "windows-1256", "vi": "windows-1258",
    "th": "windows-874", "pl": "iso-8859-2", "cs": "windows-1250", "sk": "windows-1250", "hu": "iso-8859-2",
    "lt": "windows-1257", "lv": "windows-1257", "et": "windows-1257",
}  # fmt: skip


@dataclass(frozen=True)
class Decoded:
    """Text without its byte order mark. ``encoding`` is the web's name of the encoding that was used.

    ``replaced`` counts the U+FFFD that stand for bytes; ``first_bad_offset`` is the first such byte's.
    """

    text: str
    encoding: str
    replaced: int = 0
    first_bad_offset: int | None = None


def decode(body: bytes, content_type: str | None, *, is_html: bool) -> Decoded:
    """Decode a body. Never fails: bytes that can't be decoded become U+FFFD and are counted.

    Plain text (``is_html`` false) without a label is UTF-8 and nothing is guessed.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _decode(body[len(mark) :], _known(name), len(mark))
    declared = _of_header(content_type) or _of_xml_declaration(body) or (_of_meta(body) if is_html else None)
    if declared is None:
        declared = _UTF8 if not is_html or _is_utf8(body) else _of_content(body)
    elif _is_misdeclared(declared, body):
        declared = _UTF8
    return _decode(body, declared, 0)


def _of_header(content_type: str | None) -> webencodings.Encoding | None:
    """Of a repeated parameter the first value that names an encoding; none if two headers contradict each other."""
    said = [_charset_of(header) for header in (content_type or "").split(",")]
    known = [encoding for encoding in said if encoding is not None]
    return known[0] if known and all(encoding is known[0] for encoding in known) else None


def _charset_of(header: str) -> webencodings.Encoding | None:
    labels = (label.strip("\"'") for label in _HEADER_CHARSET.findall(header))
    return next(filter(None, map(_lookup, labels)), None)


def _of_xml_declaration(body: bytes) -> webencodings.Encoding | None:
    declaration = _XML_DECLARATION.match(body)
    return _said_by_document(declaration[1]) if declaration else None


def _of_meta(body: bytes) -> webencodings.Encoding | None:
    """Read ``<meta charset>`` and ``<meta http-equiv=content-type content=…>`` outside comments."""
    head = body[:_HEAD]
    at = 0
    while found := _META.search(head, at):
        at = found.end()
        if found[1] is None:
            at = head.find(b"-->", found.start() + 2)
            if at < 0:
                return None
            continue
        attributes = {name.lower(): value.strip(b"\"'") for name, value in _ATTRIBUTE.findall(found[1])}
        label = attributes.get(b"charset")
        if label is None and attributes.get(b"http-equiv", b"").lower() == b"content-type":
            parameter = _HEADER_CHARSET.search(attributes.get(b"content", b"").decode("latin-1"))
            label = parameter[1].strip("\"'").encode() if parameter else None
        if label is not None and (encoding := _said_by_document(label)):
            return encoding
    return None


def _said_by_document(label: bytes) -> webencodings.Encoding | None:
    """A document that could be read as ASCII so far isn't UTF-16, whatever it says (HTML standard)."""
    encoding = _lookup(label.decode("latin-1"))
    if encoding is not None and encoding.name in ("utf-16le", "utf-16be"):
        return _UTF8
    if encoding is not None and encoding.name == "x-user-defined":
        return _known("windows-1252")
    return encoding


def _lookup(label: str) -> webencodings.Encoding | None:
    return webencodings.lookup(label) if label.isascii() else None


def _known(name: str) -> webencodings.Encoding:
    encoding = webencodings.lookup(name)
    assert encoding is not None, name
    return encoding


def _is_misdeclared(declared: webencodings.Encoding, body: bytes) -> bool:
    if declared.name in ("utf-16le", "utf-16be"):
        return b"\0" not in body and _is_utf8(body)
    if declared is _UTF8 or not _is_utf8(body):
        return False
    if declared.name in _SERVER_DEFAULTS or _weight_of_sequences(body) >= _SEVERAL:
        return True
    return not body.isascii() and _decode(body, declared, 0).replaced > 0


def _weight_of_sequences(body: bytes) -> int:
    """Say how little it can be chance that a body is UTF-8: GBK often has what looks like two bytes, hardly three."""
    long = len(_LONG_SEQUENCE.findall(body))
    return 3 * long + len(_SHORT_SEQUENCE.findall(body))


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


_SEVERAL = 6
_SHORT_SEQUENCE = re.compile(rb"[\xc2-\xdf]")
_LONG_SEQUENCE = re.compile(rb"[\xe0-\xf4]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")


def _of_content(body: bytes) -> webencodings.Encoding:
    """Choose for HTML that names no encoding and isn't UTF-8; UTF-8, which then fails, if nothing is sure."""
    if language := _LANGUAGE.search(body[:_HEAD]):
        code = language[1].decode("ascii").lower()
        name = _OF_LANGUAGE.get(code) or _OF_LANGUAGE.get(code.split("-")[0])
        if name is not None:
            return _fitting((name, "euc-jp") if name == "shift_jis" else (name,), body)
    runs = [len(run) for run in _HIGH_RUN.findall(body)]
    # Western text has its accents one by one among many ASCII letters.
    is_western = max(runs) <= 3 and len(runs) * 1.3 >= sum(runs) and sum(runs) * 4 <= len(body)
    return _known("windows-1252") if is_western else _UTF8


def _fitting(names: tuple[str, ...], body: bytes) -> webencodings.Encoding:
    decoded = ((_decode(body, _known(name), 0).replaced, name) for name in names)
    return _known(min(decoded)[1])


def _decode(body: bytes, encoding: webencodings.Encoding, skipped: int) -> Decoded:
    if encoding.name == "replacement":  # encodings that the web refuses because they smuggle markup
        return Decoded(UNDECODED, encoding.name, 1, 0)
    codec = _known("gb18030" if encoding.name == "gbk" else encoding.name).codec_info
    try:
        return Decoded(codec.decode(body, "strict")[0], encoding.name)
    except UnicodeDecodeError as error:
        text = codec.decode(body, "replace" if encoding is _UTF8 else "larder-web")[0]
        # U+FFFD that the author wrote is no damage.
        replaced = text.count(UNDECODED) - (body.count(UNDECODED.encode()) if encoding is _UTF8 else 0)
        return Decoded(text, encoding.name, replaced, skipped + error.start if replaced else None)


def _as_the_web(error: UnicodeError) -> tuple[str, int]:
    """Decode what Python's tables leave out and the web's have; anything else is U+FFFD."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad, start = error.object, error.start
    if error.encoding == "charmap" and 0x80 <= bad[start] <= 0x9F:  # holes of the Windows tables are C1
        return chr(bad[start]), start + 1
    if error.encoding == "gb18030" and bad[start] == 0x80:
        return "€", start + 1
    pair = bad[start : start + 2]
    if error.encoding == "euc_jp" and len(pair) == 2 and min(pair) >= 0xA1 and max(pair) <= 0xFE:
        return _of_nec_row(pair), start + 2
    return UNDECODED, error.end


def _of_nec_row(pair: bytes) -> str:
    """Decode the rows of EUC-JP that only Windows has (①, ㈱) by way of Shift_JIS, where they stand too."""
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + 0x9F if row % 2 else cell + (0x40 if cell < 63 else 0x41)
    return bytes([lead, trail]).decode("cp932", "replace")


codecs.register_error("larder-web", _as_the_web)
