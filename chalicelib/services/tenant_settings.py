"""A tenant's settings: window, timezone, cap, enabled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time

from chalicelib.domain.night_window import current_night, next_start
from chalicelib.errors import NotFound
from chalicelib.services import nights, quotas
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import tenants
from chalicelib.storage.tenants import Tenant


@dataclass(frozen=True, slots=True)
class Changes:
    """New values, already checked; None leaves a setting as it is."""

    night_start: time | None = None
    night_end: time | None = None
    timezone: str | None = None
    nightly_job_cap: int | None = None
    enabled: bool | None = None
    memory_require_approval: bool | None = None


def show(outside: Outside, who: Principal) -> Tenant:
    """The tenant's settings. Raises NotFound once the tenant has been deleted."""
    with outside.database.transaction(who.tenant_id) as tx:
        return _require(tenants.get(tx, who.tenant_id))


def update(outside: Outside, who: Principal, changes: Changes, now: datetime) -> tuple[Tenant, quotas.Allowance]:
    """Change settings, and with the window or the cap what waits for it (spec 1.1). Raises RateLimited."""
    with quotas.mutation(outside, who, now) as (tx, allowance):
        before = _require(tenants.get(tx, who.tenant_id, lock=True))
        tx.run(
            "tenants.update_settings",
            id=who.tenant_id,
            enabled=changes.enabled,
            timezone=changes.timezone,
            night_start=changes.night_start,
            night_end=changes.night_end,
            nightly_job_cap=changes.nightly_job_cap,
            memory_require_approval=changes.memory_require_approval,
        )
        after = _require(tenants.get(tx, who.tenant_id))
        window = nights.settings_of(after)
        if window != nights.settings_of(before):
            tx.run(
                "events.move_to_night",
                tenant_id=who.tenant_id,
                next_night=next_start(window, now),
                window_open=current_night(window, now) is not None,
                now=now,
            )
        tonight = current_night(window, now)
        if tonight is not None and after.nightly_job_cap > before.nightly_job_cap:
            tx.run("events.back_into_tonight", tenant_id=who.tenant_id, night_start=tonight.starts_at, now=now)
        if after.enabled and not before.enabled:
            tx.run("events.wake_tenant", tenant_id=who.tenant_id, now=now)
        return after, allowance


def _require(tenant: Tenant | None) -> Tenant:
    if tenant is None:
        raise NotFound("the tenant is no longer there")
    return tenant
