"""Sources: what is to be kept fresh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chalicelib.storage.connection import Transaction


@dataclass(frozen=True, slots=True)
class Source:
    """A row of ``kb_sources``; the columns are explained where they are made."""

    id: UUID
    tenant_id: UUID
    uri: str
    type: str
    name: str
    refresh_ttl_seconds: int
    active: bool
    published: bool
    keep_hidden_text: bool
    generation: int
    etag: str | None
    last_modified: str | None
    last_attempt_at: datetime | None
    last_checked_at: datetime | None
    last_changed_at: datetime | None
    last_unconditional_at: datetime | None
    last_status: str | None
    last_error: str | None
    gone_in_a_row: int
    body_hash: str | None
    pipeline: str | None
    redirect_to: str | None
    redirect_since: datetime | None
    current_version: int | None
    created_at: datetime
    updated_at: datetime


def get(tx: Transaction, source_id: UUID, *, lock: bool = False) -> Source | None:
    """The source, locked until the transaction ends if ``lock``; None if there is none in this tenant."""
    return tx.one("sources.get_for_update" if lock else "sources.get", Source, id=source_id)


def get_many(tx: Transaction, source_ids: Sequence[UUID]) -> list[Source]:
    """Those of the sources that are there in this tenant."""
    return tx.all("sources.get_many", Source, ids=list(source_ids))


def lock_known(tx: Transaction, tenant_id: UUID, uris: Sequence[str]) -> None:
    """Lock those of the canonical uris that are sources, in the order in which everybody locks several."""
    tx.rows("sources.lock_known", tenant_id=tenant_id, uris=list(uris))


def find_by_uri(tx: Transaction, tenant_id: UUID, uri: str) -> Source | None:
    """The tenant's source with this canonical uri, locked."""
    return tx.one("sources.find_by_uri", Source, tenant_id=tenant_id, uri=uri)


def page(tx: Transaction, tenant_id: UUID, *, after: tuple[datetime, UUID] | None, limit: int) -> list[Source]:
    """Up to ``limit`` sources after the keyset position, oldest first."""
    time, ident = after or (None, None)
    return tx.all("sources.page", Source, tenant_id=tenant_id, after_time=time, after_id=ident, limit=limit)


def record_attempt(
    tx: Transaction, source_id: UUID, status: str, error: str | None, *, now: datetime, gone: bool = False
) -> int:
    """Write a try down that confirmed nothing; how many in a row have now found the page ``gone``."""
    in_a_row: int = tx.value("sources.record_attempt", id=source_id, now=now, status=status, error=error, gone=gone)
    return in_a_row


def stale(tx: Transaction, tenant_id: UUID, now: datetime) -> list[Source]:
    """Active sources past their TTL about which nothing is open, queued or freshly dismissed."""
    return tx.all("sources.stale", Source, tenant_id=tenant_id, now=now)
