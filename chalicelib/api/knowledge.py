"""``/v1/knowledge/search``: for agents, who see everything, and assistants, who see what customers may (spec 3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, cast
from uuid import UUID

from chalice.app import Response
from pydantic import Field

from chalicelib import bootstrap
from chalicelib.api import fields
from chalicelib.api.providers import LocaleTag
from chalicelib.api.resource import Answer, Call, Input, NoQuery, Output, Resource, Route, bearer_of, respond
from chalicelib.errors import Conflict, Forbidden
from chalicelib.knowledge.broker import Question
from chalicelib.knowledge.contract import DEFAULT_LIMIT, MAX_LIMIT
from chalicelib.services import consumers, knowledge_search, public_search
from chalicelib.services.consumers import READ_PUBLIC, Consumer


class KnowledgeIn(Input):
    """What to ask every provider. The conversation goes only to providers for agents that were set up to get it."""

    query: fields.AnyQuery
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    locale: LocaleTag | None = None
    localeFallback: bool | None = None
    conversationId: Annotated[str, Field(min_length=1, max_length=256)] | None = None


class CustomerResult(Output):
    """All that a customer sees of a result; title and snippet are text, to be shown escaped."""

    title: str
    snippet: str
    url: str | None
    locale: str | None
    localeFallback: bool


class AgentResult(CustomerResult):
    """A result with everything that the contract knows, and who it is from."""

    documentId: str
    audience: str
    revision: str | None
    chunkId: str | None
    score: float | None
    freshness: str
    reviewDueAt: str | None
    translationGroupId: str | None
    providerId: UUID
    providerName: str


class ProviderStatus(Output):
    """How a provider did: ok, timeout, circuit_open, config_error, contract_error or disabled, and how long it took."""

    id: UUID
    name: str
    status: str
    ms: int


class KnowledgeOut(Output):
    """What was found. An assistant gets ``results`` alone, each with the five keys that customers may see.

    ``leftOut`` is there where an answer had no room for so many results more.
    """

    results: list[AgentResult] | list[CustomerResult]
    returnedLocale: str | None = None
    providers: list[ProviderStatus] | None = None
    leftOut: int | None = None


class ForCustomers(Output):
    """What an assistant gets."""

    results: list[CustomerResult]


class ForAgents(Output):
    """What an agent gets."""

    results: list[AgentResult]
    returnedLocale: str | None
    providers: list[ProviderStatus]


class CutForAgents(ForAgents):
    """What an agent gets of more than one answer can carry."""

    leftOut: int


def _as_consumer(route: Route, request: Any, path: Mapping[str, str], correlation_id: str) -> Response:
    now = datetime.now(UTC)
    outside = bootstrap.outside()
    asking = consumers.authenticate(outside.database, bearer_of(request.headers), ["agent", "assistant"])
    if not (outside.settings.enable_kb and asking.tenant_enabled):
        raise Conflict("the knowledge base is switched off", code="kb_disabled")
    return respond(route, request, path, correlation_id, outside=outside, who=asking.consumer, now=now)


knowledge = Resource("knowledge", _as_consumer)


@knowledge.route(
    "POST",
    "/v1/knowledge/search",
    action="knowledge.search",
    access="consumer",
    body=KnowledgeIn,
    answers={200: KnowledgeOut},
)
def search_knowledge(call: Call[KnowledgeIn, NoQuery]) -> Answer:
    """Ask every provider that the caller's token may reach; one that is down is a status, not an error."""
    consumer, body = cast(Consumer, call.who), call.body
    question = Question(body.query, body.limit, body.locale, body.localeFallback, body.conversationId)
    if consumer.kind == "agent":
        principal = " ".join([str(consumer.id), *sorted(consumer.capabilities)])
        found = knowledge_search.search(call.outside, consumer.tenant_id, question, _clock, principal=principal)
        return Answer(_for_agent(found))
    if READ_PUBLIC not in consumer.capabilities:
        raise Forbidden(f"this assistant was not granted {READ_PUBLIC}", code="capability_missing")
    results = public_search.search(call.outside, consumer.tenant_id, "main", question, _clock)
    return Answer(ForCustomers.model_validate({"results": results}))


def _for_agent(answer: knowledge_search.Answer) -> ForAgents:
    providers = [
        ProviderStatus(id=one.registration.id, name=one.registration.name, status=one.status, ms=one.milliseconds)
        for one in answer.consulted
    ]
    told = {"results": answer.results, "returnedLocale": answer.returned_locale, "providers": providers}
    if answer.left_out:
        return CutForAgents.model_validate({**told, "leftOut": answer.left_out})
    return ForAgents.model_validate(told)


def _clock() -> datetime:
    return datetime.now(UTC)
