"""Suggestions: questions to a person about a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from chalicelib.storage.connection import Transaction


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A row of ``kb_suggestions``; ``source_uri`` and ``source_name`` come with lists alone."""

    id: UUID
    tenant_id: UUID
    source_id: UUID
    kind: str
    state: str
    reason: str
    detail: dict[str, Any]
    held_text_id: UUID | None
    event_id: UUID | None
    stale_since: datetime | None
    created_at: datetime
    snoozed_until: datetime | None
    decided_at: datetime | None
    source_uri: str | None = None
    source_name: str | None = None


@dataclass(frozen=True, slots=True)
class RefreshOffer:
    """A stale source to ask about."""

    source_id: UUID
    reason: str
    detail: dict[str, Any]
    stale_since: datetime


def offer(
    tx: Transaction,
    *,
    tenant_id: UUID,
    source_id: UUID,
    kind: str,
    reason: str,
    now: datetime,
    detail: dict[str, Any] | None = None,
    held_text_id: UUID | None = None,
    stale_since: datetime | None = None,
) -> None:
    """Open a suggestion unless one of its kind is open or snoozed for the source already."""
    tx.run(
        "suggestions.insert",
        tenant_id=tenant_id,
        source_id=source_id,
        kind=kind,
        reason=reason,
        detail=Jsonb(detail or {}),
        held_text_id=held_text_id,
        stale_since=stale_since,
        now=now,
    )


def offer_refreshes(tx: Transaction, tenant_id: UUID, offers: Sequence[RefreshOffer], now: datetime) -> None:
    """Open a refresh suggestion for each source that has none, all in one statement: a tenant may have thousands."""
    tx.run(
        "suggestions.insert_refreshes",
        tenant_id=tenant_id,
        source_ids=[offer.source_id for offer in offers],
        reasons=[offer.reason for offer in offers],
        details=[Jsonb(offer.detail) for offer in offers],
        stale_since=[offer.stale_since for offer in offers],
        now=now,
    )


def tell_failure(tx: Transaction, source_id: UUID, status: str) -> None:
    """Have an unanswered question about a refresh say that it was tried meanwhile, and how it failed."""
    tx.run("suggestions.refresh_failed", source_id=source_id, status=status)


def get(tx: Transaction, suggestion_id: UUID, *, lock: bool = False) -> Suggestion | None:
    """The suggestion, locked until the transaction ends if ``lock``."""
    return tx.one("suggestions.get_for_update" if lock else "suggestions.get", Suggestion, id=suggestion_id)


def lock_sources_of(tx: Transaction, suggestion_ids: Sequence[UUID]) -> None:
    """Lock the sources that these suggestions are about, before the suggestions, in the order of their ids.

    Everybody who decides about a suggestion has its source; whoever takes several sources takes them in this order.
    """
    tx.rows("suggestions.lock_sources_of", ids=list(suggestion_ids))


def lock_many(tx: Transaction, suggestion_ids: Sequence[UUID]) -> dict[UUID, Suggestion]:
    """Those of the suggestions that are there, locked; the caller has locked their sources."""
    found = tx.all("suggestions.get_many_for_update", Suggestion, ids=list(suggestion_ids))
    return {suggestion.id: suggestion for suggestion in found}


def bring_up_to_date(tx: Transaction, tenant_id: UUID, now: datetime) -> None:
    """Open again what was put off until now, and close what needs no answer any more."""
    due = [row["id"] for row in tx.rows("suggestions.due_again", tenant_id=tenant_id, now=now)]
    moot = [row["id"] for row in tx.rows("suggestions.moot", tenant_id=tenant_id, now=now)]
    if due or moot:
        lock_sources_of(tx, due + moot)
        tx.run("suggestions.reopen", ids=due, now=now)
        tx.run("suggestions.close", ids=moot)


def page(tx: Transaction, tenant_id: UUID, *, after: tuple[datetime, UUID] | None, limit: int) -> list[Suggestion]:
    """Up to ``limit`` open suggestions after the keyset position, oldest first."""
    time, ident = after or (None, None)
    return tx.all("suggestions.page", Suggestion, tenant_id=tenant_id, after_time=time, after_id=ident, limit=limit)


def approve_many(tx: Transaction, approved: Mapping[UUID, UUID], *, now: datetime, decided_by: UUID | None) -> None:
    """Write down that these suggestions were approved, each with its event, in one statement."""
    tx.run(
        "suggestions.approve_many",
        ids=list(approved),
        event_ids=list(approved.values()),
        now=now,
        decided_by=decided_by,
    )


def open_ids(
    tx: Transaction, tenant_id: UUID, *, after: tuple[datetime, UUID] | None, limit: int
) -> list[tuple[datetime, UUID]]:
    """Where up to ``limit`` open suggestions after the keyset position stand: when they were made, and their ids."""
    time, ident = after or (None, None)
    found = tx.rows("suggestions.open_ids", tenant_id=tenant_id, after_time=time, after_id=ident, limit=limit)
    return [(row["created_at"], row["id"]) for row in found]


def decide(
    tx: Transaction,
    suggestion_id: UUID,
    *,
    state: str,
    now: datetime,
    decided_by: UUID | None,
    snoozed_until: datetime | None = None,
    event_id: UUID | None = None,
) -> None:
    """Write a person's answer down."""
    tx.run(
        "suggestions.decide",
        id=suggestion_id,
        state=state,
        now=now,
        decided_by=decided_by,
        snoozed_until=snoozed_until,
        event_id=event_id,
    )
