"""Which old texts a new one descends from, so that what was said of them is said of it (spec 2.1).

A new chunk descends from the guarded texts that it shares a run of characters with, wherever they stood, and from the
guarded chunks whose text its own replaces. Rather one descent too many than one too few: a refresh never loosens.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, pairwise, product

from chalicelib.domain.line_matching import Block, match
from chalicelib.domain.shared_runs import sharers

_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]+|[^.!?\n]+")


@dataclass(frozen=True, slots=True)
class Guarded:
    """A text that has a policy of its own: what that says, and when it was written."""

    text: str
    policy: Hashable
    said_at: datetime


def descents(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]], guarded: Mapping[str, Guarded]
) -> list[tuple[str, str]]:
    """Pairs (hash of a new text, hash of a guarded text that it descends from), sorted.

    ``old``: (hash, text) of the chunks that are current, in order. ``new``: of the chunks to come. ``guarded``: by
    hash, everything of this source that has a policy of its own, current or not.

    A chunk that stays keeps what it has. A guarded text that comes back keeps what was said of it, and takes over what
    was said of its like since then. Of parents of which the same was said one is named.
    """
    if not guarded:
        return []
    current = {digest for digest, _ in old}
    coming = {digest: text for digest, text in new if digest not in current}
    named: dict[tuple[str, Hashable], str] = {}
    for heir, parent in chain(_in_place_of(old, new, guarded), _sharing(coming, guarded)):
        if heir in coming and (heir not in guarded or guarded[heir].said_at < guarded[parent].said_at):
            # A parent that is to come itself may be about to change: it counts for itself.
            named[heir, (parent if parent in coming else guarded[parent].policy)] = parent
    return sorted(_with_ancestors({(heir, parent) for (heir, _), parent in named.items()}))


def _sharing(coming: Mapping[str, str], guarded: Mapping[str, Guarded]) -> Iterator[tuple[str, str]]:
    for parent, heirs in sharers(coming, {digest: one.text for digest, one in guarded.items()}):
        for heir in heirs:
            yield heir, parent


def _in_place_of(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]], guarded: Mapping[str, Guarded]
) -> Iterator[tuple[str, str]]:
    """Chunks with text that stands where guarded text stood, by the sentences that both pages have in common."""
    before, after = _sentences(old), _sentences(new)
    matched = match([sentence for _, sentence in before], [sentence for _, sentence in after]).blocks
    for one, following in pairwise([Block(0, 0, 0), *matched, Block(len(before), len(after), 0)]):
        gone = {digest for digest, _ in before[one.old + one.size : following.old]} & guarded.keys()
        come = {digest for digest, _ in after[one.new + one.size : following.new]}
        yield from product(come, gone)


def _sentences(chunks: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """(hash of the chunk, sentence), blanks folded; more or less sentences: the finer, the fewer are replaced."""
    return [
        (digest, " ".join(sentence.split()))
        for digest, text in chunks
        for sentence in _SENTENCE.findall(text)
        if sentence.strip()
    ]


def _with_ancestors(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """What a parent takes over from its own parents goes on to its heirs."""
    parents: defaultdict[str, set[str]] = defaultdict(set)
    for heir, parent in pairs:
        parents[heir].add(parent)
    return {(heir, ancestor) for heir in list(parents) for ancestor in _ancestors(heir, parents)}


def _ancestors(heir: str, parents: Mapping[str, set[str]]) -> Iterator[str]:
    waiting, seen = [heir], {heir}
    while waiting:
        further = parents.get(waiting.pop(), set()) - seen
        seen |= further
        waiting += further
    yield from seen - {heir}
