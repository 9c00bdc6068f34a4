"""One spelling for one text: what a reader can't see is taken out, what looks the same is made the same (spec 1.7).

The result is what is scanned, hashed, cut and stored; cleaning it again changes nothing. It has no C0 control but tab
and line feed, no NUL, no surrogate, is NFC, and no run of blanks in it is longer than `LONGEST_BLANK`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import regex

LONGEST_BLANK = 120
"""Blanks in a row that are kept (an indentation, a column); four line feeds in a row become three."""

REPLACEMENT = "\ufffd"

_SURROGATES = re.compile("[\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_BLANKS = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_LONG_BLANK = re.compile(f"(?<![ \t])[ \t]{{{LONGEST_BLANK + 1},}}")
_MANY_LINES = re.compile("\n{4,}")

# Hints for a renderer, harmless and common (German pages are full of soft hyphens), and what no reader ever sees:
# removed and not counted. So are C0, DEL, C1, noncharacters and a byte order mark at the start.
_HINTS = re.compile(
    "\\A\ufeff|[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u206a-\u206f\ufff9-\ufffb\U0001d173-\U0001d17a\ufdd0-\ufdef"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
    + "]"
)
# What splits words, hides some or turns a line around for the eye alone: removed and counted.
_HIDDEN = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u202a-\u202e\u2060-\u2069\u3164\ufeff\uffa0"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
# The tags that spell the flags of England, Scotland and Wales are the only ones in use.
_FLAG = "\U0001f3f4(?:{})\U000e007f".format(
    "|".join("".join(chr(0xE0000 + ord(letter)) for letter in region) for region in ("gbeng", "gbsct", "gbwls"))
)
# Joiners carry meaning after a letter of a script that joins, and inside an emoji. A variation selector carries one
# after a character that has variants; what follows the first of a row is a payload.
_JOINING = "".join(
    rf"\p{{Script={script}}}"
    for script in (
        "Arabic Syriac Nko Mongolian Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala "
        "Khmer Myanmar Tibetan Balinese Javanese"
    ).split()
)
_EMOJI = r"\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?"
_VARIED = r"\p{S}\p{P}\p{N}\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Script=Mongolian}"
_INVISIBLE = (
    f"[{_HIDDEN}]"
    rf"|\u200c(?<![{_JOINING}]\u200c)"
    rf"|\u200d(?<![{_JOINING}]\u200d)(?!(?<={_EMOJI}\u200d)\p{{Extended_Pictographic}})"
    rf"|[\ufe00-\ufe0f](?<![{_VARIED}][\ufe00-\ufe0f])"
    r"|[\U000e0100-\U000e01ef](?<!\p{Script=Han}[\U000e0100-\U000e01ef])"
)
_ANY_INVISIBLE = re.compile(f"[{_HIDDEN}\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_INVISIBLES = regex.compile(f"{_FLAG}(*SKIP)(*FAIL)|(?:{_INVISIBLE})+")
# Direction marks mean something next to a script that runs from right to left, and nothing inside a word.
_MARKS = regex.compile("[\u061c\u200e\u200f]")
_IDLE_MARK = regex.compile(r"(?<=[\p{L}\p{N}\u061c\u200e\u200f])[\u061c\u200e\u200f](?=[\p{L}\p{N}])")
_RIGHT_TO_LEFT = regex.compile(
    r"[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}--\u061c]", regex.V1
)
# Sorting a run of combining marks takes CPython quadratic time, so a run that no language has is sorted beforehand.
_LONG_MARKS = regex.compile(r"[\P{Canonical_Combining_Class=0}\u0344\u0f73\u0f75\u0f81]{31,}")


@dataclass(frozen=True)
class Cleaned:
    """``invisible_removed`` counts the characters that hid, split or reversed text (flag ``invisible_unicode``)."""

    text: str
    invisible_removed: int


def clean_text(text: str) -> Cleaned:
    """Bring a text into its one spelling. Takes linear time and any string, also one with lone surrogates."""
    removed = 0
    text = _HINTS.sub("", _LINE_ENDS.sub("\n", _SURROGATES.sub(REPLACEMENT, text)))
    if not text.isascii():
        text, removed = _without_invisibles(_BLANKS.sub(" ", text))
        text = nfc(_without_idle_marks(text))
    text = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    text = _LONG_BLANK.sub(" " * LONGEST_BLANK, text)
    return Cleaned(_MANY_LINES.sub("\n\n\n", text).strip("\n"), removed)


def _without_invisibles(text: str) -> tuple[str, int]:
    if not _ANY_INVISIBLE.search(text):
        return text, 0
    kept: list[str] = []
    end = removed = 0
    for run in _INVISIBLES.finditer(text):
        kept.append(text[end : run.start()])
        removed += run.end() - run.start()
        end = run.end()
        # Two words that were kept apart by a blank, a hidden run and a blank are kept apart by one blank.
        if kept[-1].endswith(" ") and text.startswith(" ", end):
            end += 1
    kept.append(text[end:])
    return "".join(kept), removed


def nfc(text: str) -> str:
    """Normalise to NFC in linear time, whatever the combining marks (UAX #15)."""
    return unicodedata.normalize("NFC", _LONG_MARKS.sub(_sorted_marks, text))


def _sorted_marks(run: regex.Match[str]) -> str:
    marks = [part for mark in run.group() for part in unicodedata.normalize("NFD", mark)]
    return "".join(sorted(marks, key=unicodedata.combining))


def _without_idle_marks(text: str) -> str:
    if not _MARKS.search(text):
        return text
    return "\n".join((_IDLE_MARK if _RIGHT_TO_LEFT.search(line) else _MARKS).sub("", line) for line in text.split("\n"))
