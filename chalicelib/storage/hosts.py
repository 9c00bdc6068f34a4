"""Hosts: one fetch at a time each, and their Retry-After."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from chalicelib.storage.connection import Transaction


def lease(tx: Transaction, host: str, *, token: UUID, now: datetime, until: datetime) -> datetime | None:
    """Take the host until ``until``; None if it is ours now, else the instant before which it is not to be had."""
    if tx.row("hosts.lease", host=host, token=token, now=now, until=until) is not None:
        return None
    busy_until: datetime = tx.value("hosts.busy_until", host=host, now=now)
    return busy_until


def release(tx: Transaction, host: str, *, token: UUID, now: datetime) -> None:
    """Give the host back."""
    tx.run("hosts.release", host=host, token=token, now=now)


def close(tx: Transaction, host: str, *, now: datetime, not_before: datetime) -> None:
    """Keep everybody from the host until ``not_before``, as its server asked."""
    tx.run("hosts.close", host=host, now=now, not_before=not_before)
