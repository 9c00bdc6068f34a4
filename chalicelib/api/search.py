"""``/v1/kb/search``: ask the knowledge base."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from chalicelib.api import fields
from chalicelib.api.reading import reading_of
from chalicelib.api.resource import Answer, Call, Input, NoQuery, Output, Resource
from chalicelib.services import search as service

search = Resource("search")


class SearchIn(Input):
    """What to ask. ``at``: the chunks that were current then; ``source_ids``: these sources alone."""

    query: fields.QueryText
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    mode: Literal["hybrid", "vector", "keyword"] = "hybrid"
    at: fields.Instant | None = None
    source_ids: Annotated[list[fields.Uuid], Field(min_length=1, max_length=200)] | None = None
    role: fields.Name | None = None
    purpose: fields.Purpose | None = None


class ProofOut(Output):
    """Shows later that the firewall let this chunk pass; ``mac`` is over the RFC 8785 form of the rest."""

    chunk_id: UUID
    decision: str
    evaluated_at: datetime
    policy_digest: str
    context: dict[str, str]
    key_id: str
    mac: str


class HitOut(Output):
    """A chunk and where it comes from. ``stale``: its source is past its TTL."""

    chunk_id: UUID
    chunk_index: int
    source_id: UUID
    source_name: str
    source_uri: str
    title: str | None
    version: int
    fetched_at: datetime
    stale: bool
    score: float
    text: str
    policy_warning: str | None
    proof: ProofOut


class SearchOut(Output):
    """Hits, best first; ``degraded`` is ``keyword_only`` where no model could be used."""

    hits: list[HitOut]
    degraded: str | None


@search.route("POST", "/v1/kb/search", action="kb.search", access="read", body=SearchIn, answers={200: SearchOut})
def search_kb(call: Call[SearchIn, NoQuery]) -> Answer:
    """Search the current chunks of active sources, or those of an earlier instant."""
    body = call.body
    question = service.Question(body.query, body.limit, body.mode, body.at, body.source_ids)
    found = service.search(call.outside, call.who, reading_of(call, body.role, body.purpose), question, call.now)
    return Answer(SearchOut(hits=[_shown(hit) for hit in found.hits], degraded=found.degraded))


def _shown(hit: service.Hit) -> HitOut:
    candidate = hit.candidate
    columns = {name: getattr(candidate, name) for name in HitOut.model_fields if hasattr(candidate, name)}
    return HitOut(**columns, policy_warning=hit.policy_warning, proof=ProofOut.model_validate(hit.proof))
