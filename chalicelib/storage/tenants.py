"""Tenants and their settings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
from uuid import UUID

from chalicelib.storage.connection import Transaction


@dataclass(frozen=True, slots=True)
class Tenant:
    """A row of ``tenants``."""

    id: UUID
    name: str
    plan: str
    enabled: bool
    timezone: str
    night_start: time
    night_end: time
    nightly_job_cap: int
    mutations_per_hour: int | None
    memory_require_approval: bool


def get(tx: Transaction, tenant_id: UUID, *, lock: bool = False) -> Tenant | None:
    """The tenant; None once it has been deleted."""
    return tx.one("tenants.get_for_update" if lock else "tenants.get", Tenant, id=tenant_id)
