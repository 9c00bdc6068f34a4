"""Embeddings by text: from the cache where some text was embedded before, else from the model, which is then kept."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime

from pgvector import Vector

from chalicelib.services.outside import Outside

BATCH = 32  # texts between two writes to the cache: so much is done again if the worker dies


def embed(outside: Outside, texts: Sequence[str], now: datetime) -> dict[str, str]:
    """The vector of each text, in pgvector's input form. No connection is held while the model works.

    Raises EmbeddingFailed.
    """
    hashes = {text: hashlib.sha256(text.encode()).digest() for text in texts}
    model = outside.embedder.model_id
    with outside.database.transaction() as tx:
        rows = tx.rows("embeddings.find", model_id=model, hashes=list(hashes.values()), now=now) if hashes else []
    known = {row["text_hash"]: row["embedding"] for row in rows}
    vectors = {text: known[digest] for text, digest in hashes.items() if digest in known}
    missing = [text for text in hashes if text not in vectors]
    for batch in _batches(missing):
        fresh = [Vector(vector).to_text() for vector in outside.embedder.embed(batch)]
        with outside.database.transaction() as tx:
            tx.run("embeddings.put", model_id=model, hashes=[hashes[text] for text in batch], embeddings=fresh, now=now)
        vectors.update(zip(batch, fresh, strict=True))
    return vectors


def _batches(texts: Sequence[str]) -> list[Sequence[str]]:
    return [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
