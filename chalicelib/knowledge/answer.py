"""From many providers' results to one list, merged, with what is known about its languages (spec 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chalicelib.domain.locale_match import is_fallback
from chalicelib.domain.merge import Batch, merge
from chalicelib.knowledge.broker import Question
from chalicelib.knowledge.labels import Judged


@dataclass(frozen=True, slots=True)
class Found:
    """What one provider found, in the words of its registration."""

    provider_id: UUID
    provider_name: str
    priority: int
    capabilities: frozenset[str]
    judged: Sequence[Judged]


def merged(found: Sequence[Found], question: Question) -> list[dict[str, Any]]:
    """The best of all, by the keys of the wire and three of our own; ``found`` in order of registration.

    Languages are judged here, after the labels: what was dropped has no say, and neither has a provider.
    """
    batches = [
        Batch(
            one.priority,
            "scoring" in one.capabilities,
            [(_result(one, judged, question), judged.result.score) for judged in one.judged if judged.kept],
        )
        for one in found
    ]
    return merge(batches, question.limit)


def _result(found: Found, judged: Judged, question: Question) -> dict[str, Any]:
    wire = judged.result.model_dump(by_alias=True)
    fallback = is_fallback(question.locale, judged.result.locale, declares_locale="locale" in found.capabilities)
    own = {"providerId": str(found.provider_id), "providerName": found.provider_name, "localeFallback": fallback}
    return {**wire, **own, "url": judged.url, "freshness": judged.result.freshness or "unknown"}
