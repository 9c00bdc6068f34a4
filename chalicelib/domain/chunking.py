"""Text to chunks whose ends hold still when the text around them changes (spec 1.1, 1.7).

Where a text may be cut is a matter of form: best after a paragraph, then after a sentence, a word, anywhere between
two grapheme clusters. Which of these places are taken is a matter of a small hash of the characters around each: the
places are tried in the order of their rank, and one is taken if the piece it lies in is still too long and both halves
would be long enough. So a cut depends on the text near it and on the cuts that outrank it, never on the distance from
the top of the page: a sentence inserted above moves the chunks below and changes none of them.
"""

from __future__ import annotations

import hashlib
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID, uuid5
from zlib import crc32

import regex

CHUNKER_VERSION = 1
MAX_CHARACTERS = 1200  # of a chunk, overlap included
MAX_OVERLAP = 150
MAX_BODY = MAX_CHARACTERS - MAX_OVERLAP
MIN_BODY = 350  # a cut leaves at least so much on both sides
MAX_CHUNKS = 2000
NEARBY = 16  # characters before and after a place that decide its rank
SURELY_FITS = 250  # bytes: no tokenizer makes more tokens than bytes, and no model's window is as small

_JOINED = r"(?![\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}])"  # a mark after a blank belongs to it
_PARAGRAPH = regex.compile(r"\n\s*+" + _JOINED)
_SENTENCE = regex.compile(r"""(?:[.!?…:;]["'»”’)\]]*+\s++|[。！？｡؟۔।॥։።។။།]["'»”’」』）)\]]*+\s*+)""" + _JOINED)
_WORD = regex.compile(r"(?:\s++|[、，；：,;])" + _JOINED)
_SURE_START = regex.compile(r"(?r)[^\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}\p{GCB=Regional_Indicator}]")
_CLUSTER = regex.compile(r"\p{GCB=Regional_Indicator}{2}[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]*+|\X")


class TooManyChunks(ValueError):
    """The text has more than `MAX_CHUNKS` chunks."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """At most `MAX_CHARACTERS` characters, the first ``overlap`` of which repeat the text before. Never blank."""

    text: str
    overlap: int

    @property
    def body(self) -> str:
        """What this chunk adds; the bodies of a text's chunks, joined, are the text."""
        return self.text[self.overlap :]


def chunk(text: str, *, fits: Callable[[str], bool] | None = None) -> list[Chunk]:
    """Cut a text; equal texts are cut alike, and an edit changes the chunks around it only.

    ``fits`` tells whether a model's token window holds a text; what doesn't fit is cut further. The joined bodies are
    the text, but for blanks so long that they would fill a chunk. A grapheme cluster is cut only if it is longer than
    a chunk. Takes linear time. Raises TooManyChunks.
    """
    ends = _cuts(text)
    if len(ends) > MAX_CHUNKS + 1:
        ends = _windows(text, 0, len(text))
    chunks: list[Chunk] = []
    for start, end in pairwise(ends):
        for piece in _fitting(text, start, end, fits):
            if piece.text.strip():
                chunks.append(piece)
            if len(chunks) > MAX_CHUNKS:
                raise TooManyChunks(f"more than {MAX_CHUNKS} chunks")
    return chunks


def content_hash(text: str) -> str:
    """SHA-256 (hexadecimal) of the text's NFC form, so that two spellings of one text are one (spec 1.7)."""
    return hashlib.sha256(unicodedata.normalize("NFC", text).encode()).hexdigest()


def chunk_ids(source_id: UUID, chunks: Sequence[Chunk]) -> list[UUID]:
    """Name each chunk by its source, the hash of its own body and how often that body came before (spec 1.1)."""
    seen: Counter[str] = Counter()
    ids: list[UUID] = []
    for one in chunks:
        digest = content_hash(one.body)
        ids.append(uuid5(source_id, f"{digest}:{seen[digest]}"))
        seen[digest] += 1
    return ids


def _cuts(text: str) -> list[int]:
    """Return 0, the cuts in order, and the length of the text."""
    cuts = [0, len(text)] if text else [0]
    for places in (_PARAGRAPH, _SENTENCE, _WORD):
        candidates = [match.end() for start, end in _too_long(cuts) for match in places.finditer(text, start, end)]
        for place in sorted(candidates, key=lambda place: _rank(text, place)):
            after = bisect_left(cuts, place)
            start, end = cuts[after - 1], cuts[after] if after < len(cuts) else 0
            if end - start > MAX_BODY and place - start >= MIN_BODY and end - place >= MIN_BODY:
                cuts.insert(after, place)
    for start, end in list(_too_long(cuts)):
        after = bisect_left(cuts, end)
        cuts[after:after] = _windows(text, start, end)[1:-1]
    return cuts


def _too_long(cuts: list[int]) -> Iterator[tuple[int, int]]:
    return ((start, end) for start, end in pairwise(cuts) if end - start > MAX_BODY)


def _rank(text: str, place: int) -> int:
    return crc32(text[max(0, place - NEARBY) : place + NEARBY].encode())


def _windows(text: str, start: int, end: int) -> list[int]:
    """Return ``start``, the ends of pieces as long as may be, and ``end``."""
    cuts = [start]
    while end - cuts[-1] > MAX_BODY:
        cuts.append(_cluster_start(text, cuts[-1], cuts[-1] + MAX_BODY))
    return [*cuts, end]


def _cluster_start(text: str, start: int, place: int) -> int:
    """Return the last place in (start, place] that cuts no grapheme cluster; ``place`` itself if there is none."""
    sure: regex.Match[str] | None = _SURE_START.search(text, start, place)
    begin: int = sure.start() if sure else start
    starts: list[int] = [match.start() for match in _CLUSTER.finditer(text, begin, min(len(text), place + 1))]
    return starts[-1] if starts[-1] > start else place


def _fitting(text: str, start: int, end: int, fits: Callable[[str], bool] | None) -> Iterator[Chunk]:
    """Yield the piece as one chunk, or in halves of halves where the model's window is smaller."""
    waiting = [(start, end)]
    while waiting:
        start, end = waiting.pop()
        begin = _overlap_start(text, start, min(MAX_OVERLAP, end - start)) if start else 0
        candidate = Chunk(text[begin:end], start - begin)
        if fits is None or end - start == 1 or len(candidate.text.encode()) <= SURELY_FITS or fits(candidate.text):
            yield candidate
        else:
            middle = _middle(text, start, end)
            waiting += [(middle, end), (start, middle)]


def _middle(text: str, start: int, end: int) -> int:
    """Return the best place to cut in the middle third."""
    third = (end - start) // 3
    for places in (_PARAGRAPH, _SENTENCE, _WORD):
        candidates = [match.end() for match in places.finditer(text, start + third, end - third)]
        if candidates:
            return min(candidates, key=lambda place: _rank(text, place))
    return _cluster_start(text, start, (start + end) // 2)


def _overlap_start(text: str, start: int, most: int) -> int:
    """Return where the repeated text begins: the first sentence, else word, of the ``most`` characters before."""
    earliest = max(0, start - most)
    for places in (_SENTENCE, _WORD):
        found = next((m.end() for m in places.finditer(text, earliest, start) if m.end() < start), None)
        if found is not None:
            return found
    first: int = _cluster_start(text, max(0, earliest - MAX_BODY), earliest)
    if first < earliest:
        first = _CLUSTER.match(text, first, start).end()
    return first
