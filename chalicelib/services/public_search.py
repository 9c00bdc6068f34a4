"""The way to customers: registrations made for them, asked in a transaction that can see no others (spec 3.1, 3.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from chalicelib.domain.answer_room import fitting
from chalicelib.domain.projection import for_customer
from chalicelib.fetching import ssrf
from chalicelib.knowledge.answer import merged
from chalicelib.knowledge.broker import Clock, Question
from chalicelib.knowledge.exchange import Post
from chalicelib.services.consult import consult
from chalicelib.services.outside import Outside
from chalicelib.storage import registration
from chalicelib.storage.circuits import Lane
from chalicelib.storage.reach import Within


def search(
    outside: Outside, tenant_id: UUID, lane: Lane, question: Question, clock: Clock, *, post: Post = ssrf.post
) -> list[dict[str, Any]]:
    """What customers may see of what was found: five keys a result. Without a provider for them, nothing.

    What one answer has no room for is left out, unsaid: customers are told no counts.

    No conversation goes out on this way, and nothing is cached: an entry could be older than an unpublishing.
    """
    consulted = consult(
        outside,
        Within(outside.database, "public"),
        tenant_id,
        lambda tx: registration.for_customers(tx, tenant_id),
        lane,
        replace(question, conversation_id=None),
        clock,
        post=post,
    )
    results = merged([one.found for one in consulted], question)
    return fitting([for_customer(result) for result in results if result["audience"] == "public"])
