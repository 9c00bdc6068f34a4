"""Characters that hide words, split them, or turn a line around for the eye alone (spec 1.7, flag `invisible_unicode`).

What carries meaning stays: joiners of the scripts that join (ZWNJ in Persian), joiners and variation selectors inside
an emoji, variants of an ideograph, the three flags that are spelled with tags, direction marks beside a script that
runs from right to left.
"""

from __future__ import annotations

import re

import regex

_ALWAYS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u202a-\u202e\u2060-\u2069\u3164\ufeff\uffa0"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_FLAG = "\U0001f3f4(?:{})\U000e007f".format(
    "|".join("".join(chr(0xE0000 + ord(letter)) for letter in region) for region in ("gbeng", "gbsct", "gbwls"))
)

_JOINING_SCRIPTS = (
    "Arabic Syriac Nko Mongolian Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala "
    "Khmer Myanmar Tibetan Balinese Javanese"
)
# A character that goes itself can't be the reason for another one to stay: cleaning twice would take that one, too.
_STAYS = f"(?![{_ALWAYS}\u061c])"
# Marks may stand between the letter and its joiner, in an order that normalising changes.
_JOINING = _STAYS + "[" + "".join(rf"\p{{Script={script}}}" for script in _JOINING_SCRIPTS.split()) + r"]\p{M}*"
_EMOJI = r"\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?"
_VARIED = _STAYS + r"(?!\p{M})[\p{S}\p{P}\p{N}\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Script=Mongolian}]"

# Each alternative starts with the character itself: a search that starts with a lookbehind is ten times slower.
_INVISIBLE = (
    f"[{_ALWAYS}]"
    rf"|\u200c(?<!{_JOINING}\u200c)"
    rf"|\u200d(?<!{_JOINING}\u200d)(?!(?<={_EMOJI}\u200d)\p{{Extended_Pictographic}})"
    # One selector may follow a character that has variants; the rest of a row of them is a payload.
    rf"|[\ufe00-\ufe0f](?<!{_VARIED}[\ufe00-\ufe0f])"
    r"|[\U000e0100-\U000e01ef](?<!(?!\p{M})\p{Script=Han}[\U000e0100-\U000e01ef])"
)
_RUNS = regex.compile(f"{_FLAG}(*SKIP)(*FAIL)|(?:{_INVISIBLE})+")
_CANDIDATE = re.compile(f"[{_ALWAYS}\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")

_MARK = re.compile("[\u061c\u200e\u200f]")
_MARK_IN_WORD = regex.compile(r"(?<=[\p{L}\p{N}\p{M}])[\u061c\u200e\u200f]+(?=[\p{L}\p{N}])")
_RIGHT_TO_LEFT = regex.compile(
    r"[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}--\u061c]", regex.V1
)


def without_invisibles(text: str) -> tuple[str, int]:
    """Return the text without invisible characters, and how many there were.

    Two words kept apart by a blank, an invisible run and a blank are then kept apart by one blank. Direction marks that
    do nothing go as well and aren't counted: they neither hide nor turn anything.
    """
    kept: list[str] = []
    end = removed = 0
    if _CANDIDATE.search(text):
        for run in _RUNS.finditer(text):
            kept.append(text[end : run.start()])
            removed += run.end() - run.start()
            end = run.end() + (kept[-1].endswith(" ") and text.startswith(" ", run.end()))
    kept.append(text[end:])
    return _without_idle_marks("".join(kept)), removed


def _without_idle_marks(text: str) -> str:
    if not _MARK.search(text):
        return text
    return "\n".join(
        (_MARK_IN_WORD if _RIGHT_TO_LEFT.search(line) else _MARK).sub("", line) for line in text.split("\n")
    )
