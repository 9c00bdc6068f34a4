"""Versions: what a source said, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.range import TimestamptzRange

from chalicelib.storage.connection import Transaction


@dataclass(frozen=True, slots=True)
class Version:
    """A row of ``kb_versions``."""

    source_id: UUID
    version: int
    system_time: TimestamptzRange
    content_hash: str
    title: str | None
    language: str | None
    description: str | None
    canonical_url: str | None
    final_url: str
    character_count: int
    chunk_count: int
    invisible_removed: int
    secrets_redacted: int
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class OpenChunk:
    """A chunk of the current version."""

    row_id: int
    chunk_id: UUID
    chunk_index: int
    overlap: int
    text: str
    content_hash: str


def current(tx: Transaction, source_id: UUID) -> Version | None:
    """The version whose range is open."""
    return tx.one("versions.current", Version, source_id=source_id)


def at(tx: Transaction, source_id: UUID, instant: datetime) -> Version | None:
    """The version that was current at ``instant``; at the exact switch the new one."""
    return tx.one("versions.at", Version, source_id=source_id, at=instant)


def get(tx: Transaction, source_id: UUID, number: int) -> Version | None:
    """The version of that number."""
    return tx.one("versions.get", Version, source_id=source_id, version=number)


def page(tx: Transaction, source_id: UUID, *, before: int | None, limit: int) -> list[Version]:
    """Up to ``limit`` versions below ``before``, newest first."""
    return tx.all("versions.page", Version, source_id=source_id, before=before, limit=limit)


def open_chunks(tx: Transaction, source_id: UUID) -> list[OpenChunk]:
    """The chunks of the current version, in order."""
    return tx.all("chunks.open_of_source", OpenChunk, source_id=source_id)


def chunks_at(tx: Transaction, version: Version) -> list[dict[str, Any]]:
    """The version's chunks in order, each with the policy columns that the firewall judges by."""
    begin = version.system_time.lower
    return tx.rows("chunks.at", source_id=version.source_id, version=version.version, at=begin)
