"""Text that must not be stored because it isn't what its author wrote.

Spec 1.7 "Damage" and 2.4: bytes that are no text, control characters, and UTF-8 that somebody read as Windows-1252 or
another encoding and encoded once more ("CafÃ©"). The caller refuses the document and keeps what it had, or keeps it
aside with a mark in each bad place, for a person to see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

DamageKind = Literal[
    "invalid_utf8", "control_character", "lone_surrogate", "replacement_characters", "double_decoded_utf8"
]

MAX_REPLACEMENT_SHARE = 0.01

_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Damage:
    """What is wrong and where it starts: a byte offset if bytes were examined, else a character offset."""

    kind: DamageKind
    offset: int

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')} at offset {self.offset}"


def find_damage(document: bytes | str) -> Damage | None:
    """Examine plain text, Markdown, JSON or an upload, where one bad byte is enough (spec 2.4).

    Bytes must be valid UTF-8. Tab, line feed, carriage return and form feed are text; DEL, C1 and U+FFFD are let be.
    """
    if isinstance(document, bytes):
        try:
            text = document.decode("utf-8")
        except UnicodeDecodeError as error:
            return Damage("invalid_utf8", error.start)
        damage = find_damage(text)
        return damage and Damage(damage.kind, len(text[: damage.offset].encode()))
    if control := _CONTROL.search(document):
        return Damage("control_character", control.start())
    if surrogate := _SURROGATE.search(document):
        return Damage("lone_surrogate", surrogate.start())
    return None


def marked(text: str) -> str:
    """The text with U+FFFD for each character that must not be stored."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("\ufffd", text))


def find_damage_in_page(text: str, replaced: int = 0, first_bad_offset: int = 0) -> Damage | None:
    """Examine the text of a page, where decoding may have repaired a little (spec 1.7).

    ``replaced`` counts the U+FFFD that decoding put in for bytes; up to 1 % of the characters may be such.
    ``first_bad_offset`` is where the first of those bytes stood.
    """
    if replaced > MAX_REPLACEMENT_SHARE * len(text):
        return Damage("replacement_characters", first_bad_offset)
    return find_damage(text) or find_double_decoding(text) or find_foreign_decoding(text)


# A byte of a UTF-8 sequence as Windows-1252 shows it: 0x80-0xBF, the holes of the table passed through as C1.
_CONTINUATION = "\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_SEQUENCE = re.compile(
    # à-ï opens three bytes and ð-ô four; two bytes count only where they decode to a script that people write:
    f"[à-ï][{_CONTINUATION}]{{2}}|[ð-ô][{_CONTINUATION}]{{3}}"
    f"|[ÂÃÄÅÎÏÐÑ×ØÙ][{_CONTINUATION}]"  # Latin, Greek, Cyrillic, Hebrew, Arabic
)
_NON_ASCII = re.compile("[^\x00-\x7f]")
# Real text does put these after an accented letter: "MANHÃ”", "«café…»".
_PUNCTUATION = "\u00a0«»‘’“”„…–—›‹"
_CHARACTERS_PER_POINT = 500


def find_double_decoding(text: str) -> Damage | None:
    """Find UTF-8 that was decoded as Windows-1252 and encoded again.

    A lone one proves nothing: an article on encodings, a "Â©" in a footer. Damaged is a text with at least two points,
    one in 500 characters, where such sequences hold half of what isn't ASCII; "Ã©" has two points, "Â©" one and what
    may be an accented letter before a quotation mark none.
    """
    covered = score = 0
    first = -1
    for match in _SEQUENCE.finditer(text):
        found = match.group()
        first = match.start() if first < 0 else first
        covered += len(found)
        if found[0] == "Â":
            score += 1
        elif not all(c in _PUNCTUATION for c in found[1:]):
            score += 2
    if score < 2 or score * _CHARACTERS_PER_POINT < len(text):
        return None
    others = len(_NON_ASCII.findall(text))
    return Damage("double_decoded_utf8", first) if covered * 2 >= others else None


_FOREIGN = ("cp1251", "koi8-r", "cp1256", "iso8859-7", "gb18030")
_NON_ASCII_RUN = re.compile("[^\x00-\x7f\ufffd]+")
_LONG_SEQUENCE = re.compile("[\u0800-\ufffc\U00010000-\U0010ffff]")
_FOREIGN_CHARACTERS_PER_POINT = 100


def find_foreign_decoding(text: str) -> Damage | None:
    """Find UTF-8 that was decoded as an encoding of Cyrillic, Arabic, Greek or Chinese and encoded again.

    Encoded back, all of it is UTF-8 but for what got lost on the way; real text of these scripts is hardly ever, since
    its letters stand where UTF-8 has the beginnings of sequences. A sequence of two bytes is one point, a longer one
    three. Damaged is a text with six points, one in 100 characters, and at most half as many bad places as sequences.
    """
    runs = _NON_ASCII_RUN.findall(text)
    if not runs:
        return None
    joined = " ".join(runs)
    for codec in _FOREIGN:
        encoded = joined.encode(codec, "ignore")
        lost = len(joined) - len(encoded) if codec != "gb18030" else 0
        read = encoded.decode("utf-8", "replace")
        bad = lost + read.count("\ufffd")
        good = len(_NON_ASCII.findall(read.replace("\ufffd", "")))
        points = good + 2 * len(_LONG_SEQUENCE.findall(read))
        if points >= 6 and points * _FOREIGN_CHARACTERS_PER_POINT >= len(text) and bad * 2 <= good:
            return Damage("double_decoded_utf8", text.index(runs[0]))
    return None
