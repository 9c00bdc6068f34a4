"""One spelling for one text: what a reader can't see is taken out, what looks the same is made the same (spec 1.7).

The result is what is scanned, hashed, cut and stored; cleaning it again changes nothing. It has no control character
but tab and line feed, no surrogate, is NFC, and no run of blanks in it is longer than `LONGEST_BLANK`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import regex

from chalicelib.domain.invisible import without_invisibles

LONGEST_BLANK = 120
"""Blanks in a row that are kept: an indentation, a column. Of line feeds three are."""

REPLACEMENT = "\ufffd"

_SURROGATES = re.compile("[\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_BLANKS = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_LONG_BLANK = re.compile(f"(?<![ \t])[ \t]{{{LONGEST_BLANK + 1},}}")
_MANY_LINES = re.compile("\n{4,}")
# Hints for a renderer, harmless and common (German pages are full of soft hyphens), and what no reader ever sees: C0,
# DEL, C1, noncharacters, a byte order mark at the start. They hide nothing, so they aren't counted.
_HINTS = re.compile(
    "\\A\ufeff|[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u206a-\u206f\ufff9-\ufffb\U0001d173-\U0001d17a\ufdd0-\ufdef"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
    + "]"
)
# CPython takes quadratic time to sort a run of combining marks, so one that no language has is sorted beforehand.
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
        text, removed = without_invisibles(_BLANKS.sub(" ", text))
        text = nfc(text)
    text = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    text = _LONG_BLANK.sub(" " * LONGEST_BLANK, text)
    return Cleaned(_MANY_LINES.sub("\n\n\n", text).strip("\n"), removed)


def nfc(text: str) -> str:
    """Normalise to NFC in linear time, whatever the combining marks (UAX #15)."""
    return unicodedata.normalize("NFC", _LONG_MARKS.sub(_sorted_marks, text))


def _sorted_marks(run: regex.Match[str]) -> str:
    marks = [part for mark in run.group() for part in unicodedata.normalize("NFD", mark)]
    return "".join(sorted(marks, key=unicodedata.combining))
