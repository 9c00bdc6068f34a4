"""Texts that looked doubtful and wait for a person."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from chalicelib.storage.connection import Transaction


@dataclass(frozen=True, slots=True)
class HeldText:
    """A row of ``kb_held_texts`` without its id."""

    tenant_id: UUID
    source_id: UUID
    reason: str
    base_version: int | None
    text: str
    title: str | None
    language: str | None
    description: str | None
    canonical_url: str | None
    final_url: str
    invisible_removed: int
    secrets_redacted: int
    extractor_version: int
    secret_rules_version: int
    fetched_at: datetime


def insert(tx: Transaction, held: HeldText) -> UUID:
    """Keep the text; its id."""
    ident: UUID = tx.value("held_texts.insert", **asdict(held))
    return ident


def get(tx: Transaction, held_id: UUID) -> HeldText | None:
    """The text, or None if it is gone."""
    return tx.one("held_texts.get", HeldText, id=held_id)
