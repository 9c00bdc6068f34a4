"""Which lines two versions of a text have in common, in bounded time.

Three steps, each on what the one before left open. Lines that stand once in each text, in the same order, are
*anchors* (patience diff); they cut the texts into small gaps. A gap is compared exactly (Myers 1986, greedy). A gap
that differs too much for its share of `STEPS` matches nothing. So the work grows with the length of the texts,
whatever they hold; the standard library's difflib is quadratic, and worse on hostile texts.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

STEPS = 500_000
"""Comparisons that all gaps of one pair of texts may cost together, beyond one a line."""


class Block(NamedTuple):
    """``size`` equal lines from index ``old`` of the one text and ``new`` of the other."""

    old: int
    new: int
    size: int


class Matching(NamedTuple):
    """The common lines in order, and whether a gap was given up (``coarse``): there may be more of them."""

    blocks: list[Block]
    coarse: bool


def match(old: Sequence[Hashable], new: Sequence[Hashable], *, steps: int = STEPS) -> Matching:
    """Return the blocks of equal lines: ascending in both texts, without overlap, none empty, none next to another."""
    head = _common_length(old, new)
    found = [Block(0, 0, head)]
    left = top = head
    coarse = False
    for anchor in [*_anchors(old, new, head), Block(len(old), len(new), 0)]:
        if (left, top) != (anchor.old, anchor.new):
            gap_old, gap_new = old[left : anchor.old], new[top : anchor.new]
            size = len(gap_old) + len(gap_new)
            gap = _match_gap(gap_old, gap_new, steps=size + steps * size // (len(old) + len(new)))
            found += [Block(left + block.old, top + block.new, block.size) for block in gap.blocks]
            coarse = coarse or gap.coarse
        found.append(anchor)
        left, top = anchor.old + anchor.size, anchor.new + anchor.size
    return Matching(_joined(found), coarse)


def _joined(blocks: Iterable[Block]) -> list[Block]:
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else Block(0, 0, 0)
        if joined and (last.old + last.size, last.new + last.size) == (block.old, block.new):
            joined[-1] = last._replace(size=last.size + block.size)
        elif block.size:
            joined.append(block)
    return joined


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable], head: int) -> list[Block]:
    """Return the longest run of lines after ``head``, ascending in both texts, among those that stand once in each."""
    once = _standing_once(old[head:]) & _standing_once(new[head:])
    place_in_new = {line: index for index, line in enumerate(new[head:], head) if line in once}
    pairs = [(index, place_in_new[line]) for index, line in enumerate(old[head:], head) if line in once]
    return [Block(*pair, 1) for pair in _longest_ascending(pairs)]


def _standing_once(lines: Sequence[Hashable]) -> set[Hashable]:
    return {line for line, times in Counter(lines).items() if times == 1}


def _longest_ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence whose second numbers ascend (patience sorting, n log n)."""
    tops: list[int] = []  # the smallest last number of an ascending run of each length ...
    ends: list[int] = []  # ... the pair that ends it ...
    before: list[int] = []  # ... and for each pair the one before it in its run
    for index, (_, number) in enumerate(pairs):
        pile = bisect_left(tops, number)
        tops[pile : pile + 1] = [number]
        ends[pile : pile + 1] = [index]
        before.append(ends[pile - 1] if pile else -1)
    run: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _match_gap(old: Sequence[Hashable], new: Sequence[Hashable], *, steps: int) -> Matching:
    head = _common_length(old, new)
    tail = _common_length(old[head:][::-1], new[head:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    # Lines that the other side lacks match nothing; without them the exact comparison is short.
    shared = set(old[head:old_end]) & set(new[head:new_end])
    old_places = [index for index in range(head, old_end) if old[index] in shared]
    new_places = [index for index in range(head, new_end) if new[index] in shared]
    middle = _shortest_edit([old[index] for index in old_places], [new[index] for index in new_places], steps=steps)
    blocks = [run for block in middle or [] for run in _runs(block, old_places, new_places)]
    return Matching([Block(0, 0, head), *blocks, Block(old_end, new_end, tail)], coarse=middle is None)


def _runs(block: Block, old_places: Sequence[int], new_places: Sequence[int]) -> Iterator[Block]:
    """Cut a block of places into blocks of lines: places next to each other need not be lines next to each other."""
    begin = 0
    for step in range(1, block.size + 1):
        old, new = old_places[block.old + begin], new_places[block.new + begin]
        width = step - begin
        is_last = step == block.size
        if is_last or (old_places[block.old + step], new_places[block.new + step]) != (old + width, new + width):
            yield Block(old, new, width)
            begin = step


def _common_length(old: Sequence[Hashable], new: Sequence[Hashable]) -> int:
    for index, (left, right) in enumerate(zip(old, new, strict=False)):
        if left != right:
            return index
    return min(len(old), len(new))


@dataclass(frozen=True)
class _Frontier:
    """How far a number of edits leads along each diagonal (k = old index - new index; every second, from ``low``)."""

    low: int
    reached: array[int] = field(default_factory=lambda: array("i"))

    def entry(self, k: int) -> tuple[int, int]:
        """Return where one more edit enters diagonal ``k``: by a deletion, by an insertion (-1: not at all)."""
        return self._at(k - 1) + 1, self._at(k + 1)

    def _at(self, k: int) -> int:
        index = (k - self.low) >> 1
        return self.reached[index] if 0 <= index < len(self.reached) else -1


def _shortest_edit(old: Sequence[Hashable], new: Sequence[Hashable], *, steps: int) -> list[Block] | None:
    """Return the blocks of a longest common subsequence, None if it takes more than ``steps`` (Myers 1986, fig. 2)."""
    n, m = len(old), len(new)
    if not n or not m:
        return []
    frontiers = [_Frontier(0)]
    for edits in range(n + m + 1):
        # Diagonals that ran into an edge of the grid are left out: nothing more is to be found on them.
        low, high = 2 * max(0, edits - m) - edits, edits - 2 * max(0, edits - n)
        frontier = _Frontier(low)
        for k in range(low, high + 1, 2):
            x = start = max(frontiers[-1].entry(k))
            while x < n and x - k < m and old[x] == new[x - k]:
                x += 1
            frontier.reached.append(x)
            steps -= 1 + x - start
            if k == n - m and x >= n:
                return _walk_back(frontiers, n, m)
            if steps < 0:
                return None
        frontiers.append(frontier)
    raise AssertionError("deleting all and inserting all is always an edit")


def _walk_back(frontiers: Sequence[_Frontier], x: int, y: int) -> list[Block]:
    blocks: list[Block] = []
    for frontier in reversed(frontiers):
        k = x - y
        deletion, insertion = frontier.entry(k)
        start = max(deletion, insertion)
        if x > start:
            blocks.append(Block(start, start - k, x - start))
        x, y = (insertion, insertion - k - 1) if insertion >= deletion else (deletion - 1, deletion - k)
    return blocks[::-1]
