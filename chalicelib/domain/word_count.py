"""How many words a text has, also where nobody writes blanks between them (Unicode Standard Annex #29)."""

from __future__ import annotations

import regex

_WITHOUT_SPACES = regex.compile(
    r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}"
    r"\p{Script=Tibetan}]"
)
_BOUNDARY = regex.compile(r"\b", regex.WORD | regex.V1)
_LETTER_OR_DIGIT = regex.compile(r"[\p{L}\p{N}]")


def count_words(text: str, at_most: int = 1_000_000) -> int:
    """Count the words of ``text``, and stop at ``at_most``.

    Between blanks stands one word, if it holds a letter or a digit. In a script without blanks each segment between
    two of Unicode's word boundaries is a word; there is no dictionary behind them, so in Thai a syllable counts.
    """
    words = 0
    for piece in text.split():
        if _WITHOUT_SPACES.search(piece):
            words += sum(1 for segment in _BOUNDARY.split(piece) if _LETTER_OR_DIGIT.search(segment))
        elif _LETTER_OR_DIGIT.search(piece):
            words += 1
        if words >= at_most:
            return at_most
    return words
