"""What a new version changes among the chunks: which rows close, which open, and where their embeddings come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from chalicelib.domain.chunking import Chunk, content_hash
from chalicelib.storage.versions import OpenChunk


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row to open. ``reuse`` is the open row whose embedding it takes over; None: its text must be embedded."""

    chunk_id: UUID
    chunk_index: int
    overlap: int
    text: str
    content_hash: str
    reuse: int | None


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """Rows to close and rows to open; what is in neither stays as it is, untouched."""

    close: list[int]
    new: list[NewRow]

    def to_embed(self) -> list[str]:
        """The texts that have no embedding yet, each once."""
        return list(dict.fromkeys(row.text for row in self.new if row.reuse is None))


def plan(current: Sequence[OpenChunk], chunks: Sequence[Chunk], ids: Sequence[UUID]) -> ChunkPlan:
    """Compare the open rows with the chunks of the new text.

    A chunk in its old place with its old text keeps its row. One that only moved is closed and reopened with its
    embedding; equal text is never embedded again (spec 1.1).
    """
    by_index = {row.chunk_index: row for row in current}
    by_text = {row.text: row.row_id for row in current}
    kept: set[int] = set()
    new: list[NewRow] = []
    for index, (chunk, ident) in enumerate(zip(chunks, ids, strict=True)):
        row = by_index.get(index)
        if row is not None and (row.chunk_id, row.overlap, row.text) == (ident, chunk.overlap, chunk.text):
            kept.add(row.row_id)
        else:
            reuse = by_text.get(chunk.text)
            new.append(NewRow(ident, index, chunk.overlap, chunk.text, content_hash(chunk.body), reuse))
    return ChunkPlan([row.row_id for row in current if row.row_id not in kept], new)
