"""Decisions on their way into the record: columns of many rows, one statement."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from chalicelib.domain.evaluation import Request
from chalicelib.storage.connection import Transaction

Entry = tuple[str, str, int | None, str, str, str, bytes]
"""One decision: chunk, source (UUIDs as text), version, code, reason, policy digest, and its canonical JSON."""


def append(
    tx: Transaction, request: Request, mode: str, trace_id: str, kind: str, entries: list[Entry], now: datetime
) -> None:
    """Add ``entries`` to the chain of ``kind`` (allow or block) of the tenant's day.

    Arrays go as Postgres's own literals: adapting hundreds of values one by one took longer than writing the rows.
    """
    chunks, sources, versions, codes, reasons, digests, records = zip(*entries, strict=True)
    tx.value(
        "firewall.append",
        tenant_id=UUID(request.tenant_id),
        day=now.date(),
        kind=kind,
        chunks=_bare(chunks),
        sources=_bare(sources),
        versions=_bare("null" if version is None else str(version) for version in versions),
        decisions=_bare(codes),
        reasons=_quoted(reasons),
        digests=_bare(digests),
        records=b"".join([sha256(record).digest() for record in records]),
        role=request.role,
        purpose=request.purpose,
        operator=request.operator,
        trace_id=trace_id,
        mode=mode,
        now=now,
    )


def _bare(values: Iterable[str]) -> str:
    """An array literal of values that need no quotes: ids, numbers, codes, hexadecimal digests."""
    return f"{{{','.join(values)}}}"


def _quoted(values: Iterable[str]) -> str:
    """An array literal of any text."""
    joined = '","'.join(value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return f'{{"{joined}"}}'
