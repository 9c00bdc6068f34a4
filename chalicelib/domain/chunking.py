"""Text to chunks: what is embedded, cited and compared with the chunks of the version before (spec 1.1, 1.7)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID, uuid5

from chalicelib.domain.chunk_cuts import MAX_CHARACTERS, MAX_CHUNKS, MAX_OVERLAP, cuts, middle_cut, overlap_start
from chalicelib.domain.clean_text import nfc

CHUNKER_VERSION = 2
SURELY_FITS = 250  # bytes: a token has one at least, and no model's window is smaller


class TooManyChunks(ValueError):
    """The text has more than `MAX_CHUNKS` chunks."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """At most 1 200 characters, the first ``overlap`` (at most 150) of which repeat the text before. Never blank."""

    text: str
    overlap: int

    @property
    def body(self) -> str:
        """What this chunk adds; the bodies of a text's chunks, joined, are the text."""
        return self.text[self.overlap :]


def chunk(text: str, *, fits: Callable[[str], bool] | None = None) -> list[Chunk]:
    """Cut a text. Equal texts are cut alike, and an edit changes the chunks around it only.

    ``fits`` tells whether a model's token window holds a text; what it doesn't hold is cut further. The joined bodies
    are the text, but for blanks that would be a chunk by themselves. A grapheme cluster is cut only if it is longer
    than a body may be. Takes linear time. Raises TooManyChunks.
    """
    chunks: list[Chunk] = []
    for piece in _fitting(text, fits):
        if piece.body.isspace() and chunks and _holds(whole := _joined(chunks[-1], piece), fits):
            chunks[-1] = whole
        elif not piece.text.isspace():
            chunks.append(piece)
        if len(chunks) > MAX_CHUNKS:
            raise TooManyChunks(f"more than {MAX_CHUNKS} chunks")
    return chunks


def content_hash(text: str) -> str:
    """SHA-256 (hexadecimal) of the text's NFC form, so that two spellings of one text are one (spec 1.7)."""
    return hashlib.sha256(nfc(text).encode()).hexdigest()


def chunk_ids(source_id: UUID, chunks: Sequence[Chunk]) -> list[UUID]:
    """Name each chunk by its source, the hash of its own body and how often that body came before (spec 1.1)."""
    seen: Counter[str] = Counter()
    ids: list[UUID] = []
    for one in chunks:
        digest = content_hash(one.body)
        ids.append(uuid5(source_id, f"{digest}:{seen[digest]}"))
        seen[digest] += 1
    return ids


def _fitting(text: str, fits: Callable[[str], bool] | None) -> Iterator[Chunk]:
    """Yield each body with its repeat of the one before: one chunk, or halves of halves that fit."""
    waiting = [*pairwise(cuts(text))][::-1]
    before = 0
    while waiting:
        start, end = waiting.pop()
        begin = overlap_start(text, before, start, min(MAX_OVERLAP, (end - start) // 2))
        piece = Chunk(text[begin:end], start - begin)
        if _holds(piece, fits):
            yield piece
            before = start
        else:
            middle = middle_cut(text, start, end)
            waiting += [(middle, end), (start, middle)]


def _joined(one: Chunk, following: Chunk) -> Chunk:
    return Chunk(one.text + following.body, one.overlap)


def _holds(piece: Chunk, fits: Callable[[str], bool] | None) -> bool:
    """Whether the piece is small enough; the model is only asked where bytes alone don't tell."""
    if len(piece.text) > MAX_CHARACTERS:
        return False
    return fits is None or len(piece.text.encode()) <= SURELY_FITS or fits(piece.text)
