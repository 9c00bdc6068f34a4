"""Retention (spec 2.5): which texts with an end go, by themselves or once a person has agreed.

They are swept when their end has come or, where a tenant wants to be asked, asked about once nobody has used them for
long.

When a text was last served is read off the record of decisions, by the sweep and for texts with an end alone: a read
stays two statements, and readers of one text do not wait for each other at its row. What the record tells is kept
(``chunk_recalls``) before old decisions go. An approval asks the record itself, so a use of a moment ago counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from chalicelib.services import policies
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction
from chalicelib.telemetry import log_unexpected

REQUEST_LIFE = timedelta(days=7)
MOST_OPEN = 20  # requests of a tenant, and so of a sweep
NOT_AGAIN = timedelta(days=30)  # after an answer or a lapse
TEXTS_A_SWEEP = 500
TENANTS_A_SWEEP = 1000


@dataclass(frozen=True, slots=True)
class Finite:
    """A text with an end; ``last_recalled_at`` None: it was never served."""

    source_id: UUID
    content_hash: str
    chunk_id: UUID
    expires_at: datetime
    first_seen_at: datetime
    last_recalled_at: datetime | None
    source_name: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What a sweep would do now: erase, or ask about. ``open_requests`` wait for an answer."""

    require_approval: bool
    to_erase: list[Finite]
    to_ask: list[Finite]
    open_requests: int


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did, in texts and requests."""

    erased: int
    asked: int
    lapsed: int


def preview(outside: Outside, who: Principal, now: datetime) -> Preview:
    """Show what a sweep would do; nothing is done."""
    with outside.database.transaction(who.tenant_id) as tx:
        require_approval: bool = tx.value("retention.requires_approval", tenant_id=who.tenant_id)
        waiting: int = tx.value("retention.open_requests", tenant_id=who.tenant_id)
        if require_approval:
            idle = _idle(outside, tx, who.tenant_id, MOST_OPEN - waiting, now)
            return Preview(True, [], idle, waiting)
        return Preview(False, _expired(tx, who.tenant_id, now), [], waiting)


def sweep(outside: Outside, tenant_id: UUID, now: datetime) -> Swept:
    """Do it for one tenant: at most `TEXTS_A_SWEEP` texts are erased, at most `MOST_OPEN` requests are left open."""
    with outside.database.transaction(tenant_id) as tx:
        tx.run("retention.lock", tenant_id=tenant_id)
        tx.run("retention.remember", tenant_id=tenant_id)
        lapsed = tx.run("retention.lapse", tenant_id=tenant_id, now=now)
        if tx.value("retention.requires_approval", tenant_id=tenant_id):
            return Swept(0, _ask(outside, tx, tenant_id, now), lapsed)
        return Swept(_erase_expired(tx, tenant_id, now), 0, lapsed)


def sweep_all(outside: Outside, *, now: datetime) -> None:
    """For the tick, once an hour: every tenant whose texts have an end. One that fails keeps no other from it."""
    with outside.database.transaction() as tx:
        tenants = tx.rows("retention.tenants", seed=now.isoformat(), limit=TENANTS_A_SWEEP)
    for tenant in tenants:
        try:
            sweep(outside, tenant["id"], now)
        except Exception as error:
            log_unexpected("retention failed for a tenant", error)


def erase(tx: Transaction, tenant_id: UUID, source_id: UUID, content_hash: str, now: datetime) -> int:
    """Erase a text from every version and keep it from coming back; how many rows lost it."""
    tx.row("sources.get_for_update", id=source_id)  # no refresh writes meanwhile
    tx.run("memory.entomb", source_id=source_id, content_hash=content_hash, tenant_id=tenant_id, now=now)
    erased: int = tx.value("memory.erase", source_id=source_id, content_hash=content_hash)
    return erased


def _erase_expired(tx: Transaction, tenant_id: UUID, now: datetime) -> int:
    due = _expired(tx, tenant_id, now)
    for one in sorted(due, key=lambda one: one.source_id):  # whoever locks several sources goes by their ids
        erase(tx, tenant_id, one.source_id, one.content_hash, now)
    if due:
        chunks = [str(one.chunk_id) for one in due]
        policies.audit_of_house(tx, tenant_id, "retention.expired", "tenant", {"chunks": chunks}, now)
    return len(due)


def _ask(outside: Outside, tx: Transaction, tenant_id: UUID, now: datetime) -> int:
    room = MOST_OPEN - tx.value("retention.open_requests", tenant_id=tenant_id)
    idle = _idle(outside, tx, tenant_id, room, now)
    for one in idle:
        tx.run(
            "retention.ask",
            tenant_id=tenant_id,
            source_id=one.source_id,
            content_hash=one.content_hash,
            chunk_id=one.chunk_id,
            policy_digest=policies.digest_of_chunk(tx, one.chunk_id),
            expires_at=one.expires_at,
            last_recalled_at=one.last_recalled_at,
            now=now,
            lapses_at=now + REQUEST_LIFE,
        )
    return len(idle)


def _expired(tx: Transaction, tenant_id: UUID, now: datetime) -> list[Finite]:
    return tx.all("retention.expired", Finite, tenant_id=tenant_id, now=now, limit=TEXTS_A_SWEEP)


def _idle(outside: Outside, tx: Transaction, tenant_id: UUID, most: int, now: datetime) -> list[Finite]:
    parameters: dict[str, Any] = {
        "tenant_id": tenant_id,
        "window": timedelta(days=outside.settings.retention_idle_days),
        "not_since": now - NOT_AGAIN,
        "limit": max(0, most),
    }
    return tx.all("retention.idle", Finite, **parameters, now=now)
