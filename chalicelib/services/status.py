"""How a tenant's knowledge base is doing, at a glance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from chalicelib.domain.night_window import Night, current_night, next_night, zone_or_utc
from chalicelib.errors import NotFound
from chalicelib.services import nights
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import tenants
from chalicelib.storage.connection import Transaction
from chalicelib.storage.tenants import Tenant

RECENT = timedelta(days=7)  # failed events are counted so far back


@dataclass(frozen=True, slots=True)
class CapUse:
    """The night's job cap: events used of it tonight, and events that wait for a night."""

    cap: int
    used: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Status:
    """What ``GET /v1/kb/status`` tells."""

    enabled: bool
    tenant: Tenant
    timezone_valid: bool
    active_sources: int
    open_suggestions: int
    approved_suggestions: int
    queue: dict[str, int]
    failed_recently: int
    window: Night
    window_open: bool
    night_id: date
    cap_use: CapUse
    last_tick_at: datetime | None


def show(outside: Outside, who: Principal, now: datetime) -> Status:
    """The tenant's status at ``now``. The window is the open one, or else the next. Raises NotFound."""
    with outside.database.transaction(who.tenant_id) as tx:
        tenant = tenants.get(tx, who.tenant_id)
        if tenant is None:
            raise NotFound("the tenant is no longer there")
        settings = nights.settings_of(tenant)
        tonight = current_night(settings, now)
        window = tonight or next_night(settings, now)
        suggestions = tx.row("suggestions.counts", tenant_id=who.tenant_id) or {"open": 0, "approved": 0}
        return Status(
            enabled=outside.settings.enable_kb and tenant.enabled,
            tenant=tenant,
            timezone_valid=zone_or_utc(tenant.timezone)[1],
            active_sources=tx.value("sources.count_active", tenant_id=who.tenant_id),
            open_suggestions=suggestions["open"],
            approved_suggestions=suggestions["approved"],
            queue=_queue(tx, who),
            failed_recently=tx.value("events.count_failed", tenant_id=who.tenant_id, since=now - RECENT),
            window=window,
            window_open=tonight is not None,
            night_id=window.id,
            cap_use=CapUse(
                cap=tenant.nightly_job_cap,
                used=tx.value("nights.used", tenant_id=who.tenant_id, night_id=window.id) or 0,
                waiting=tx.value("events.waiting_for_night", tenant_id=who.tenant_id),
            ),
            last_tick_at=tx.value("scheduler.last_tick"),
        )


def _queue(tx: Transaction, who: Principal) -> dict[str, int]:
    counts = {row["state"]: row["events"] for row in tx.rows("events.counts", tenant_id=who.tenant_id)}
    return {state: counts.get(state, 0) for state in ("pending", "dispatched", "running")}
