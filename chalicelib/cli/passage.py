"""The lines of a text that a question is about."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Sequence

LINES, WIDTH = 3, 100


def passage(text: str, query: str) -> str:
    """At most three neighbouring lines of ``text``: those that hold the most, and the rarest, words of ``query``.

    A line that is longer than a terminal's is several. ``…`` stands where something was left out. If no word is in the
    text it begins at its beginning.
    """
    lines = [part for line in text.splitlines() for part in textwrap.wrap(line, WIDTH)]
    first = _first(_found(lines, query))
    shown = "\n".join(lines[first : first + LINES])
    return f"{'… ' if first else ''}{shown}{' …' if first + LINES < len(lines) else ''}"


def _found(lines: Sequence[str], query: str) -> list[set[str]]:
    """The words of the query with which a word of each line begins."""
    begins = {word: re.compile(rf"\b{re.escape(word)}") for word in re.findall(r"\w+", query.casefold())}
    return [{word for word, at in begins.items() if at.search(line)} for line in map(str.casefold, lines)]


def _first(found: Sequence[set[str]]) -> int:
    """Where the best lines begin: a word counts once, and the less the more lines have it."""
    frequency = Counter(word for words in found for word in words)

    def worth(lines: Sequence[set[str]]) -> float:
        return sum(1 / frequency[word] for word in set().union(*lines))

    def judged(start: int) -> tuple[float, float, int]:
        """Among equals, what stands around the words is better than what leads up to them."""
        return worth(found[start : start + LINES]), worth(found[start + 1 : start + 2]), -start

    return max(range(max(1, len(found) - LINES + 1)), key=judged)
