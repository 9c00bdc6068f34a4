"""Which old texts a new one descends from, so that what was said of them is said of it (spec 2.1).

A new chunk descends from the guarded texts that it shares a run of characters with, wherever they stood, and from the
guarded chunks in whose place it stands. Rather one descent too many than one too few: a refresh never loosens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

RUN = 24  # characters, blanks folded: shorter ones are shared by chance


def descents(old: Sequence[str], new: Sequence[tuple[str, str]], guarded: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs (hash of a new text, hash of a guarded text that it descends from), sorted.

    ``old``: hashes of the chunks that are current, in order. ``new``: (hash, text) of the chunks to come, in order.
    ``guarded``: text by hash of everything of this source that has a policy of its own, current or not.
    """
    if not guarded:
        return []
    known = set(old)
    pairs = {
        (digest, parent) for digest, parent in _in_place_of(old, [digest for digest, _ in new]) if parent in guarded
    }
    runs = {parent: _runs(text) for parent, text in guarded.items()}
    for digest, text in new:
        if digest not in known and digest not in guarded:
            own = _runs(text)
            pairs |= {(digest, parent) for parent, theirs in runs.items() if not own.isdisjoint(theirs)}
    return sorted(pairs)


def _in_place_of(old: Sequence[str], new: Sequence[str]) -> set[tuple[str, str]]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return {
        (digest, parent)
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag == "replace"
        for digest in new[k:m]
        for parent in old[i:j]
    }


def _runs(text: str) -> set[int]:
    """Hashes of every run of characters; of the whole text if it is shorter than one."""
    folded = re.sub(r"\W+", " ", unicodedata.normalize("NFKC", text).casefold()).strip()
    return {hash(folded[start : start + RUN]) for start in range(max(1, len(folded) - RUN + 1))} if folded else set()
