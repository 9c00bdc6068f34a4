"""What the doctor looks at among the tenant's knowledge providers: whether each of them is asked."""

from __future__ import annotations

from datetime import datetime

from chalicelib.services.doctor_finding import Finding, Look
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import providers


def _asked(outside: Outside, who: Principal, now: datetime) -> Finding:
    with outside.database.transaction(who.tenant_id) as tx:
        found = providers.of_tenant(tx, who.tenant_id)
        lanes = providers.circuits(tx, who.tenant_id)
    paused = {row["provider_id"] for row in lanes if row["open_until"] is not None and now < row["open_until"]}
    stopped = {row["provider_id"] for row in lanes if row["stopped"]}
    disabled = [one.name for one in found if one.status == "auto_disabled"]
    active = [one for one in found if one.status == "active"]
    waiting = [one.name for one in active if one.id in paused]
    for_widgets = [one.name for one in active if one.id in stopped]
    facts = {"providers": len(found), "auto_disabled": disabled, "paused": waiting, "stopped_for_widgets": for_widgets}
    if disabled:
        told = f"{len(disabled)} of {len(found)} providers were disabled after failures: larder providers list."
        return Finding("warning", told, facts)
    if waiting or for_widgets:
        count = len({*waiting, *for_widgets})
        return Finding("warning", f"{count} of {len(found)} providers are not asked now: larder providers list.", facts)
    return Finding("ok", f"None of {len(found)} knowledge providers is kept from being asked.", facts)


CHECKS: tuple[tuple[str, Look], ...] = (("knowledge_providers", _asked),)
