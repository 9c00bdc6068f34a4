"""Which texts have a run of characters in common, however it is spaced, punctuated or capitalised."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping

RUN = 24  # characters, blanks folded: shorter ones are shared by chance
BATCH = 200  # texts whose runs are in memory at once: some 20 MB


def sharers(texts: Mapping[str, str], others: Mapping[str, str]) -> Iterator[tuple[str, set[str]]]:
    """For each of ``others``, by name, the names of those ``texts`` that have a run of it; a name may come again.

    One that is shorter than a run must be there as a whole. Takes time in proportion to all of them together, for
    every `BATCH` texts.
    """
    folded = [(name, _folded(text)) for name, text in texts.items()]
    for start in range(0, len(folded), BATCH):
        batch = folded[start : start + BATCH]
        holders: defaultdict[int, list[str]] = defaultdict(list)
        for name, text in batch:
            for run in set(_runs(text)):
                holders[run].append(name)
        for other, text in others.items():
            theirs = _folded(text)
            found: set[str] = set()
            for run in _runs(theirs):
                found.update(holders.get(run, ()))
            if theirs and len(theirs) < RUN:
                found = {name for name, text in batch if f" {theirs} " in f" {text} "}
            if found:
                yield other, found


def _folded(text: str) -> str:
    return re.sub(r"\W+", " ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _runs(folded: str) -> Iterator[int]:
    """Hashes of the runs: two runs of one hash find a sharer too many, which is allowed."""
    return (hash(folded[start : start + RUN]) for start in range(len(folded) - RUN + 1))
