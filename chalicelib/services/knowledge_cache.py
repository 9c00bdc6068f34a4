"""Providers' answers, kept for a moment for the agent that asked (spec 3.4): operational data, not content storage.

Off unless ``LARDER_KNOWLEDGE_CACHE_SECONDS`` says otherwise. The way to customers has no cache, and its database role
has no right to this table.
"""

from __future__ import annotations

import contextlib
import json
import unicodedata
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.types.json import Jsonb
from pydantic import ValidationError

from chalicelib.knowledge import contract, labels
from chalicelib.knowledge.broker import Question, Reply
from chalicelib.services.outside import Outside
from chalicelib.storage.connection import Transaction
from chalicelib.storage.registration import Registration


class KnowledgeCache:
    """What was answered to one principal's one question. A question with a conversation has no such cache."""

    def __init__(self, outside: Outside, tenant_id: UUID, principal: str, question: Question) -> None:
        self._outside, self._tenant_id, self._principal, self._question = outside, tenant_id, principal, question

    def recall(self, tx: Transaction, registrations: Sequence[Registration], now: datetime) -> dict[UUID, Reply]:
        """Answers that have not run out, judged again: the rules may have become stricter since."""
        by_id = {one.id: one for one in registrations}
        keys = [self._key(one) for one in registrations]
        rows = tx.rows("knowledge_cache.recall", ids=list(by_id), keys=keys, now=now)
        recalled: dict[UUID, Reply] = {}
        for row in rows:
            with contextlib.suppress(ValidationError):  # kept by rules that were laxer: as if it were not there
                recalled[row["provider_id"]] = self._reply(by_id[row["provider_id"]], row["results"])
        return recalled

    def keep(self, tx: Transaction, came: Sequence[tuple[Registration, Reply]], now: datetime) -> None:
        """Keep answers as they are after their labels were applied. A failure is no answer and is not kept."""
        settings = self._outside.settings
        for one, reply in sorted(came, key=lambda pair: pair[0].id):
            if reply.failure is None:
                results = [judged.result.model_dump(by_alias=True) for judged in reply.judged if judged.kept]
                tx.run(
                    "knowledge_cache.keep",
                    id=one.id,
                    config_generation=one.config_generation,
                    key=self._key(one),
                    tenant_id=self._tenant_id,
                    results=Jsonb(results),
                    expires_at=now + timedelta(seconds=settings.knowledge_cache_seconds),
                    rows=settings.knowledge_cache_rows,
                    now=now,
                )

    def _reply(self, one: Registration, results: object) -> Reply:
        envelope = {"contractVersion": contract.VERSION, "results": results}
        found = contract.RetrieveResponse.model_validate(envelope).results
        return Reply(one.id, 0, labels.judge(found, keeps_internal=one.keeps_internal))

    def _key(self, one: Registration) -> bytes:
        """Everything that an answer depends on. A query is trimmed and composed (NFC), no more: C is not C#."""
        asked = self._question
        parts = [
            str(one.id),
            one.config_generation,
            unicodedata.normalize("NFC", asked.query.strip()),
            asked.locale,
            asked.locale_fallback,
            asked.limit,
            contract.VERSION,
            self._principal,
        ]
        return bytes.fromhex(self._outside.keys.sign("knowledge cache", json.dumps(parts).encode())[1])
