"""Where a text is cut, so that the cuts hold still when the text around them changes (spec 1.1, 1.7).

Where a text may be cut is a matter of form: best after a paragraph, then after a sentence or a line, then after a
word. Which of these places are taken is decided by a hash of the characters around each. The places are tried in the
order of their hashes and taken if they leave enough on both sides; then, the last one first, those are given up whose
two pieces make one chunk. So a cut depends on the text beside it and on the few cuts that outrank it, and not on how
far it is from the top of the page: a sentence inserted above moves the chunks below and changes none of them.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from zlib import crc32

import regex

MAX_CHARACTERS = 1200  # of a chunk, overlap included
MAX_OVERLAP = 150
MAX_CHUNKS = 2000

MAX_BODY = MAX_CHARACTERS - MAX_OVERLAP
MIN_BODY = 200  # on both sides of a cut, when it is taken
NEARBY = 24  # characters before a place that decide its rank
AROUND = 200  # characters on both sides that decide between places of one rank: a form repeats its lines
LONGEST_BY_CONTENT = MAX_CHUNKS * MAX_BODY // 2  # two neighbours together are longer than a body may be
WORD_REACH = 50  # characters that a window may leave empty to end after a word

_STOPS = "[.!?…؟]"
_WIDE_STOPS = "[。！？｡।॥۔։።။។།]"  # these need no blank behind them
_CLOSING = r"""["'»”’」』）)\]]"""
# A short line without a stop may be a heading, an item, a row: it is better not cut off from what follows.
_PARAGRAPH = rf"\n(?<=(?:(?:{_STOPS}|{_WIDE_STOPS}){_CLOSING}{{0,3}}|[^\n]{{79}}[^\n:：,])\n)\s*+"
_STOP = rf"{_STOPS}(?<!^[ \t]*\d{{1,3}}\.){_CLOSING}*+\s++(?!\p{{Ll}})"  # no stop: the number of an item, "e.g. this"
_SENTENCE = rf"{_STOP}|{_WIDE_STOPS}{_CLOSING}*+\s*+|\n\s*+"
_WORD = r"\s++|[,;、，；：]"
_PLACES = tuple(regex.compile(pattern, regex.MULTILINE) for pattern in (_PARAGRAPH, _SENTENCE, _WORD))
_LAST_WORD = regex.compile(f"(?r){_WORD}")

_FLAG = r"\p{GCB=Regional_Indicator}{2}[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]*+"
_CLUSTER = regex.compile(rf"{_FLAG}|\X")  # \X alone takes quadratic time on a row of flags
_SURE_EDGE = regex.compile(  # the last character before which there is an edge whatever stands further back
    r"(?r)(?<!\p{GCB=Prepend})(?!\p{Extended_Pictographic}|\p{InCB=Consonant})[\p{GCB=Other}\p{GCB=Control}]"
)


def cuts(text: str) -> list[int]:
    """Return 0, the cuts in ascending order, and the length of the text; no cut at all for an empty text.

    Bodies between them have at most `MAX_BODY` characters, the first `MAX_CHARACTERS`. A text of more than
    `LONGEST_BY_CONTENT` characters might come to too many chunks and is cut in windows, which an edit shifts.
    """
    return _by_content(text) if len(text) <= LONGEST_BY_CONTENT else _windows(text, 0, len(text))


def middle_cut(text: str, start: int, end: int) -> int:
    """Return the best place to cut text[start:end] in its middle third, by form and rank."""
    third = (end - start) // 3
    for places in _PLACES:
        if found := [match.end() for match in places.finditer(text, start + third, end - third)]:
            return _edge_before(text, start, min(found, key=lambda at: crc32(text[max(0, at - NEARBY) : at].encode())))
    return _edge_before(text, start, (start + end) // 2)


def overlap_start(text: str, before: int, start: int, most: int = MAX_OVERLAP) -> int:
    """Return where the repeat for a body at ``start`` begins, whose neighbour begins at ``before``.

    That is the first sentence, else the first word, else the first character of the last ``most`` characters.
    """
    earliest = max(before, start - most)
    if earliest == before:
        return before
    for places in _PLACES[1:]:
        for match in places.finditer(text, earliest, start):
            if match.end() < start:
                return _edge_after(text, before, match.end(), start)
    return _edge_after(text, before, earliest, start)


def _by_content(text: str) -> list[int]:
    code_points = memoryview(text.encode("utf-32-le"))

    def rank(place: int) -> tuple[int, int]:
        at, near, far = 4 * place, 4 * NEARBY, 4 * AROUND
        return crc32(code_points[max(0, at - near) : at]), crc32(code_points[max(0, at - far) : at + far])

    ends = [0, len(text)] if text else []
    taken: list[int] = []
    for places in _PLACES:
        found = [match.end() for start, end in _too_long(ends) for match in places.finditer(text, start, end)]
        for place in sorted(found, key=rank):
            after = bisect_left(ends, place, hi=len(ends) - 1)
            if min(place - ends[after - 1], ends[after] - place) >= MIN_BODY:
                edge = _edge_before(text, ends[after - 1], place)
                ends.insert(after, edge)
                taken.append(edge)
    for place in reversed(taken):
        at = bisect_left(ends, place)
        if ends[at + 1] - ends[at - 1] <= _most(ends[at - 1]):
            del ends[at]
    return sorted({*ends, *(end for piece in _too_long(ends) for end in _windows(text, *piece))})


def _most(start: int) -> int:
    """Return how long the body at ``start`` may be: only the first needs no room for an overlap."""
    return MAX_BODY if start else MAX_CHARACTERS


def _too_long(ends: list[int]) -> list[tuple[int, int]]:
    return [(start, end) for start, end in pairwise(ends) if end - start > _most(start)]


def _windows(text: str, start: int, end: int) -> list[int]:
    """Return ``start``, the ends of pieces as long as may be, and ``end``."""
    ends = [start]
    while (left := end - ends[-1]) > (most := _most(ends[-1])):
        place = ends[-1] + (most if left >= most + MIN_BODY else left // 2)
        word = _LAST_WORD.search(text, place - WORD_REACH, place)
        ends.append(_edge_before(text, ends[-1], word.end() if word else place))
    return [*ends, end]


def _edge_before(text: str, start: int, place: int) -> int:
    """Return the last edge of a grapheme cluster in (start, place]; ``place`` if the cluster began before.

    ``start`` is an edge. Looks back no further than needed.
    """
    sure = _SURE_EDGE.search(text, start, place)
    edges = [match.start() for match in _CLUSTER.finditer(text, sure.start() if sure else start, place + 1)]
    return edges[-1] if edges[-1] > start else place


def _edge_after(text: str, start: int, place: int, end: int) -> int:
    """Return the first edge of a grapheme cluster in [place, end]; ``start`` and ``end`` are edges."""
    edge = _edge_before(text, start, place)
    return edge if edge == place else min(end, _CLUSTER.match(text, edge).end())
