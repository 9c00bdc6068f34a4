"""Search: by meaning, by words, or both fused; now, or as of an instant. Every hit has passed the firewall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pgvector import Vector

from chalicelib.domain.freshness import staleness
from chalicelib.domain.policy import Policy
from chalicelib.domain.ranking import DEFAULT_WEIGHTS, RRF_K
from chalicelib.embedding.model import EmbeddingFailed
from chalicelib.services import enforcement
from chalicelib.services.enforcement import Proof, Reading, Served
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction

Mode = Literal["hybrid", "vector", "keyword"]
CANDIDATES = 100  # of each leg, before they are fused
MOST_CANDIDATES = 1000  # where blocks would shorten the answer


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. ``at`` None: now. ``source_ids`` None: every active source of the tenant."""

    query: str
    limit: int
    mode: Mode
    at: datetime | None = None
    source_ids: Sequence[UUID] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that matched, before the firewall has judged it."""

    chunk_id: UUID
    source_id: UUID
    version: int | None
    policy: Policy
    chunk_index: int
    text: str
    score: float
    source_name: str
    source_uri: str
    title: str | None
    fetched_at: datetime
    stale: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that may be shown, where it comes from, and the proof that it passed."""

    candidate: Candidate
    proof: Proof
    policy_warning: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first; ``degraded`` says what could not be used."""

    hits: list[Hit]
    degraded: str | None


def search(outside: Outside, who: Principal, reading: Reading, question: Question, now: datetime) -> Answer:
    """Ask the current chunks of the tenant's active sources, or those that were current at ``question.at``.

    Without a usable model the keyword leg answers alone and the answer says so. The query text goes nowhere but to the
    model and the database.
    """
    embedding = _embedding(outside, question)  # before the transaction: the model may take a second to load
    degraded = embedding is None and question.mode != "keyword"
    words = question.query if degraded or question.mode != "vector" else None
    with outside.database.transaction(who.tenant_id) as tx:
        tx.row("search.prepare")
        served = _served(outside, tx, who, reading, question, embedding, words, now)
    hits = [Hit(one.row, one.proof, one.warning) for one in served]
    return Answer(hits, "keyword_only" if degraded else None)


def _served(
    outside: Outside,
    tx: Transaction,
    who: Principal,
    reading: Reading,
    question: Question,
    embedding: str | None,
    words: str | None,
    now: datetime,
) -> list[Served[Candidate]]:
    """The best that may be shown. A block never shortens the answer while there is more to be found (spec 2.2)."""
    rows = _candidates(tx, who, question, embedding, words, CANDIDATES, now)
    if len(rows) >= CANDIDATES and enforcement.too_few(reading, rows, question.limit, now):
        rows = _candidates(tx, who, question, embedding, words, MOST_CANDIDATES, now)
    return enforcement.admit(outside, tx, reading, rows, wanted=question.limit, now=now)


def _candidates(
    tx: Transaction,
    who: Principal,
    question: Question,
    embedding: str | None,
    words: str | None,
    most: int,
    now: datetime,
) -> list[Candidate]:
    parameters = {
        "tenant_id": who.tenant_id,
        "embedding": embedding,
        "words": words,
        "source_ids": None if question.source_ids is None else list(question.source_ids),
        "candidates": most,
        "limit": most,
        "k": RRF_K,
        "vector_weight": DEFAULT_WEIGHTS.vector,
        "keyword_weight": DEFAULT_WEIGHTS.keyword,
    }
    if question.at is None:
        rows = tx.rows("search.current", **parameters)
    else:
        rows = tx.rows("search.as_of", **parameters, at=question.at)
    return [_candidate(row, now) for row in rows]


def _embedding(outside: Outside, question: Question) -> str | None:
    if question.mode == "keyword":
        return None
    try:
        return Vector(outside.embedder.embed([question.query])[0]).to_text()
    except EmbeddingFailed:
        return None


def _candidate(row: dict[str, Any], now: datetime) -> Candidate:
    fresh = staleness(row["last_checked_at"], None, row["refresh_ttl_seconds"], now)
    names = ("chunk_id", "source_id", "version", "chunk_index", "text", "score", "source_name", "source_uri", "title")
    columns = {name: row[name] for name in names}
    return Candidate(**columns, fetched_at=row["fetched_at"], stale=fresh.stale, policy=enforcement.policy_of(row))
