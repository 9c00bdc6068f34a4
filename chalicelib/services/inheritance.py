"""What was said of a source's old texts, and which new chunks it is said of (spec 2.1: a refresh never loosens)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from chalicelib.domain import chunking, lineage
from chalicelib.domain.chunking import Chunk
from chalicelib.storage.connection import Transaction
from chalicelib.storage.versions import OpenChunk


@dataclass(frozen=True, slots=True)
class Guarded:
    """The texts of a source that have a policy of their own, by content hash, as of ``epoch``: the last such write."""

    epoch: datetime | None
    texts: dict[str, lineage.Guarded]


def guarded(tx: Transaction, source_id: UUID) -> Guarded:
    """Every guarded text of the source, current or not."""
    epoch = tx.value("policies.epoch", source_id=source_id)
    rows: list[dict[str, Any]] = tx.rows("policies.guarded", source_id=source_id) if epoch else []
    texts = {row["content_hash"]: lineage.Guarded(row["text"], row["said"], row["said_at"]) for row in rows}
    return Guarded(epoch, texts)


def parents(current: Sequence[OpenChunk], coming: Sequence[Chunk], guarded: Guarded) -> list[tuple[str, str]]:
    """Pairs (content hash of a coming chunk, hash of a guarded text that it descends from), sorted."""
    return lineage.descents(
        [(chunk.content_hash, chunk.text[chunk.overlap :]) for chunk in current],
        [(chunking.content_hash(chunk.body), chunk.body) for chunk in coming],
        guarded.texts,
    )
