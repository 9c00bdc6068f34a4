"""Search: by meaning, by words, or both fused; now, or as of an instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pgvector import Vector

from chalicelib.domain.freshness import staleness
from chalicelib.domain.ranking import DEFAULT_WEIGHTS, RRF_K
from chalicelib.embedding.model import EmbeddingFailed
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal

Mode = Literal["hybrid", "vector", "keyword"]
CANDIDATES = 100  # of each leg, before they are fused


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. ``at`` None: now. ``source_ids`` None: every active source of the tenant."""

    query: str
    limit: int
    mode: Mode
    at: datetime | None = None
    source_ids: Sequence[UUID] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk, where it comes from, and how current that is."""

    chunk_id: UUID
    chunk_index: int
    text: str
    score: float
    source_id: UUID
    source_name: str
    source_uri: str
    title: str | None
    version: int
    fetched_at: datetime
    stale: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first; ``degraded`` says what could not be used."""

    hits: list[Hit]
    degraded: str | None


def search(outside: Outside, who: Principal, question: Question, now: datetime) -> Answer:
    """Ask the current chunks of the tenant's active sources, or those that were current at ``question.at``.

    Without a usable model the keyword leg answers alone and the answer says so. The query text goes nowhere but to the
    model and the database.
    """
    embedding = _embedding(outside, question)  # before the transaction: the model may take a second to load
    degraded = embedding is None and question.mode != "keyword"
    words = question.query if degraded or question.mode != "vector" else None
    parameters = {
        "tenant_id": who.tenant_id,
        "embedding": embedding,
        "words": words,
        "source_ids": None if question.source_ids is None else list(question.source_ids),
        "candidates": max(CANDIDATES, 2 * question.limit),
        "limit": question.limit,
        "k": RRF_K,
        "vector_weight": DEFAULT_WEIGHTS.vector,
        "keyword_weight": DEFAULT_WEIGHTS.keyword,
    }
    with outside.database.transaction(who.tenant_id) as tx:
        tx.row("search.prepare")
        if question.at is None:
            rows = tx.rows("search.current", **parameters)
        else:
            rows = tx.rows("search.as_of", **parameters, at=question.at)
    return Answer([_hit(row, now) for row in rows], "keyword_only" if degraded else None)


def _embedding(outside: Outside, question: Question) -> str | None:
    if question.mode == "keyword":
        return None
    try:
        return Vector(outside.embedder.embed([question.query])[0]).to_text()
    except EmbeddingFailed:
        return None


def _hit(row: dict[str, Any], now: datetime) -> Hit:
    fresh = staleness(row.pop("last_checked_at"), None, row.pop("refresh_ttl_seconds"), now)
    return Hit(**row, stale=fresh.stale)
