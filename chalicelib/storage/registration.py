"""A registration as far as asking it goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from chalicelib.storage.connection import Transaction


@dataclass(frozen=True, slots=True)
class Registration:
    """Columns of ``knowledge_providers``; the last two are never set on the way to customers."""

    id: UUID
    name: str
    base_url: str
    secret: bytes = field(repr=False)
    secret_key_id: str
    previous_secret: bytes | None = field(repr=False)
    previous_secret_key_id: str | None
    previous_secret_until: datetime | None
    capabilities: list[str]
    priority: int
    status: str
    allow_private_network: bool
    config_generation: int
    keeps_internal: bool = False
    send_conversation_id: bool = False

    def secrets_at(self, now: datetime) -> list[tuple[str, bytes]]:
        """The secrets that count at ``now``, each as its key's id and its ciphertext, the newest first."""
        current = [(self.secret_key_id, self.secret)]
        if self.previous_secret is None or self.previous_secret_until is None or now >= self.previous_secret_until:
            return current
        return [*current, (str(self.previous_secret_key_id), self.previous_secret)]


def for_customers(tx: Transaction, tenant_id: UUID) -> list[Registration]:
    """The tenant's registrations for customers, in order of registration."""
    return tx.all("registration.for_customers", Registration, tenant_id=tenant_id)


def lock(tx: Transaction, idents: Sequence[UUID]) -> dict[UUID, int]:
    """Lock registrations until the transaction ends; the generation of each that is still there."""
    return {row["id"]: row["config_generation"] for row in tx.rows("registration.lock", ids=list(idents))}


def warn(tx: Transaction, ident: UUID, count: int, now: datetime) -> None:
    """Record that ``count`` results were dropped for their label: the provider is set up wrongly."""
    tx.run("registration.warn", id=ident, count=count, now=now)


def auto_disable(tx: Transaction, ident: UUID, now: datetime) -> None:
    """Stop asking it until an admin acts."""
    tx.run("registration.auto_disable", id=ident, now=now)


def forget_answers(tx: Transaction, idents: Sequence[UUID]) -> None:
    """Drop what is kept of their answers; not within the reach of the way to customers."""
    tx.run("knowledge_cache.forget", ids=list(idents))
