"""Providers' answers, kept for a moment for the agent that asked (spec 3.4): operational data, not content storage.

Off unless ``LARDER_KNOWLEDGE_CACHE_SECONDS`` says otherwise. The way to customers has no cache, and its database role
has no right to this table.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb
from pydantic import ValidationError

from chalicelib.knowledge import contract, labels
from chalicelib.knowledge.broker import Question, Reply
from chalicelib.services.consult import Kept
from chalicelib.services.outside import Outside
from chalicelib.storage.connection import Transaction
from chalicelib.storage.registration import Registration
from chalicelib.telemetry import logger


class KnowledgeCache:
    """What was answered to one principal's one question. A question with a conversation has no such cache."""

    def __init__(self, outside: Outside, tenant_id: UUID, principal: str, question: Question) -> None:
        self._outside, self._tenant_id, self._principal, self._question = outside, tenant_id, principal, question

    def recall(self, tx: Transaction, registrations: Sequence[Registration], now: datetime) -> list[Kept]:
        """What has not run out, as it stands there: it is judged by ``judged``, outside of any transaction."""
        by_id = {one.id: one for one in registrations}
        keys = [self._key(one) for one in registrations]
        rows = tx.rows("knowledge_cache.recall", ids=list(by_id), keys=keys, now=now)
        return [(by_id[row["provider_id"]], row["results"]) for row in rows]

    def judged(self, kept: Sequence[Kept], now: datetime) -> dict[UUID, Reply]:
        """Answers that were kept, judged again: the rules may have become stricter since."""
        replies = (self._reply(one, results, now) for one, results in kept)
        return {reply.target: reply for reply in replies if reply is not None}

    def keep(self, tx: Transaction, came: Sequence[tuple[Registration, Reply]]) -> None:
        """Keep answers as they are after labels and links were judged, in the order of ``came``, that of their ids.

        A failure is no answer and is not kept; nor is what a registration answered that was changed since. One that the
        database does not take costs no other its place.
        """
        if came:
            tx.run("knowledge_cache.lock", tenant_id=self._tenant_id)
        for one, reply in came:
            if reply.failure is None:
                try:
                    with tx.savepoint():
                        self._keep(tx, one, reply)
                except psycopg.DataError as error:
                    why = type(error).__name__
                    logger.error("what a provider answered could not be kept", provider_id=str(one.id), error=why)
        if came:
            tx.run("knowledge_cache.evict", tenant_id=self._tenant_id, now=came[0][1].at)

    def _keep(self, tx: Transaction, one: Registration, reply: Reply) -> None:
        settings = self._outside.settings
        kept = [judged for judged in reply.judged if judged.kept]
        results = [judged.result.model_dump(by_alias=True) | {"url": judged.url} for judged in kept]
        tx.run(
            "knowledge_cache.keep",
            id=one.id,
            config_generation=one.config_generation,
            key=self._key(one),
            tenant_id=self._tenant_id,
            results=Jsonb(results),
            expires_at=reply.at + timedelta(seconds=settings.knowledge_cache_seconds),
            rows=settings.knowledge_cache_rows,
            now=reply.at,
        )

    def _reply(self, one: Registration, results: object, now: datetime) -> Reply | None:
        """What is kept, or None if it can't be read by today's rules: then it is as if nothing were."""
        envelope = {"contractVersion": contract.VERSION, "results": results}
        try:
            found = contract.RetrieveResponse.model_validate(envelope).results
        except ValidationError:
            return None
        if len(found) > self._question.limit:
            return None
        return Reply(one.id, 0, now, labels.judge(found, keeps_internal=one.keeps_internal))

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
