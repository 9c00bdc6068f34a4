"""Search: by meaning, by words, or both fused; now, or as of an instant. Every hit has passed the firewall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pgvector import Vector

from chalicelib.domain.freshness import staleness
from chalicelib.domain.policy import Policy
from chalicelib.domain.ranking import DEFAULT_WEIGHTS, RRF_K
from chalicelib.embedding.model import EmbeddingFailed
from chalicelib.services import enforcement
from chalicelib.services.enforcement import Reading, Room, Served
from chalicelib.services.outside import Outside
from chalicelib.services.proofs import Proof
from chalicelib.services.search_cache import Ranked, SearchCache
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

    row_id: int
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


def search(
    outside: Outside,
    who: Principal,
    reading: Reading,
    question: Question,
    now: datetime,
    *,
    room: Room[Candidate] | None = None,
) -> Answer:
    """Ask the current chunks of the tenant's active sources, or those that were current at ``question.at``.

    What finds no ``room`` is passed over, unjudged. Without a usable model the keyword leg answers alone and the answer
    says so. The query text goes nowhere but to the model and the database.
    """
    cache = SearchCache(outside, who, reading, _asked(question))
    if cache.seconds and question.at is None:
        with outside.database.transaction(who.tenant_id) as tx:
            recalled = _recalled(outside, tx, reading, question, cache, now, room)
        if recalled is not None:
            return Answer(list(map(_hit, recalled)), None)
    embedding = _embedding(outside, question)  # between the transactions: the model may take a second to load
    degraded = embedding is None and question.mode != "keyword"
    words = question.query if degraded or question.mode != "vector" else None
    with outside.database.transaction(who.tenant_id) as tx:
        snapshot = cache.snapshot(tx)
        tx.row("search.prepare")
        rows = _best(tx, who, reading, question, embedding, words, now)
        served = enforcement.admit(outside, tx, reading, rows, wanted=question.limit, now=now, room=room)
        if not degraded and question.at is None:
            cache.keep(tx, Ranked([row.row_id for row in rows], [row.score for row in rows]), snapshot, now)
    return Answer(list(map(_hit, served)), "keyword_only" if degraded else None)


def _asked(question: Question) -> list[Any]:
    sources = None if question.source_ids is None else sorted(map(str, question.source_ids))
    return [question.query, question.limit, question.mode, question.at, sources]


def _hit(served: Served[Candidate]) -> Hit:
    return Hit(served.row, served.proof, served.warning)


def _recalled(
    outside: Outside,
    tx: Transaction,
    reading: Reading,
    question: Question,
    cache: SearchCache,
    now: datetime,
    room: Room[Candidate] | None,
) -> list[Served[Candidate]] | None:
    """What the cache knows, judged and audited anew; None if it knows nothing, or less than may be served by now."""
    ranked = cache.recall(tx, now)
    if ranked is None:
        return None
    rows = [_candidate(row, now) for row in tx.rows("search.ranked", **asdict(ranked))]
    blocked = len(rows) >= CANDIDATES and enforcement.too_few(reading, rows, question.limit, now)
    if blocked or len(rows) != len(ranked.row_ids):
        return None
    return enforcement.admit(outside, tx, reading, rows, wanted=question.limit, now=now, room=room)


def _best(
    tx: Transaction,
    who: Principal,
    reading: Reading,
    question: Question,
    embedding: str | None,
    words: str | None,
    now: datetime,
) -> list[Candidate]:
    """The best that match. A block never shortens the answer while there is more to be found (spec 2.2)."""
    rows = _candidates(tx, who, question, embedding, words, CANDIDATES, now)
    if len(rows) >= CANDIDATES and enforcement.too_few(reading, rows, question.limit, now):
        return _candidates(tx, who, question, embedding, words, MOST_CANDIDATES, now)
    return rows


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
    names = "row_id chunk_id source_id version chunk_index text score source_name source_uri title"
    columns = {name: row[name] for name in names.split()}
    return Candidate(**columns, fetched_at=row["fetched_at"], stale=fresh.stale, policy=enforcement.policy_of(row))
