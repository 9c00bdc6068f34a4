"""The way to agents: every registration of the tenant, both profiles (spec 3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chalicelib.domain.answer_room import fitting
from chalicelib.domain.locale_match import shared_locale
from chalicelib.domain.projection import for_agent
from chalicelib.fetching import ssrf
from chalicelib.knowledge.answer import merged
from chalicelib.knowledge.broker import Clock, Question
from chalicelib.knowledge.exchange import Post
from chalicelib.services.consult import Consulted, consult
from chalicelib.services.knowledge_cache import KnowledgeCache
from chalicelib.services.outside import Outside
from chalicelib.storage import providers


@dataclass(frozen=True, slots=True)
class Answer:
    """Results as agents see them, the one locale that they share, and how each provider did.

    ``left_out``: how many results more there were, for which one answer has no room.
    """

    results: list[dict[str, Any]]
    returned_locale: str | None
    consulted: list[Consulted]
    left_out: int = 0


def search(
    outside: Outside,
    tenant_id: UUID,
    question: Question,
    clock: Clock,
    *,
    principal: str | None = None,
    post: Post = ssrf.post,
) -> Answer:
    """Ask every provider. One that is down is a status, not an error.

    ``principal`` names who asks, with what they may do: answers are kept for nobody else. None: nothing is kept.
    """
    seconds = outside.settings.knowledge_cache_seconds
    is_kept = principal is not None and seconds > 0 and question.conversation_id is None
    cache = KnowledgeCache(outside, tenant_id, str(principal), question) if is_kept else None
    consulted = consult(
        outside,
        outside.database,
        tenant_id,
        lambda tx: [one.registration for one in providers.of_tenant(tx, tenant_id)],
        "main",
        question,
        clock,
        cache=cache,
        post=post,
    )
    found = [for_agent(result) for result in merged([one.found for one in consulted], question)]
    results = fitting(found)
    return Answer(
        results, shared_locale(result["locale"] for result in results), consulted, left_out=len(found) - len(results)
    )
