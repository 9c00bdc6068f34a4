"""Short ways to rows for tests of the dispatcher and the worker."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.rows import dict_row

from chalicelib.services import approvals, sources
from chalicelib.services.tokens import Principal
from chalicelib.storage.events import Event
from chalicelib.storage.sources import Source
from tests.tenants import Deployment, Tenant


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def principal(tenant: Tenant) -> Principal:
    return Principal(tenant.id, uuid4(), True, uuid4(), "test operator")


def add(deployment: Deployment, tenant: Tenant, uri: str, now: datetime, **more: Any) -> Source:
    done, _ = sources.upsert(deployment.outside, principal(tenant), sources.Wanted(uri, **more), now)
    return done.source


def add_many(deployment: Deployment, tenant: Tenant, count: int, now: datetime) -> list[Source]:
    return [add(deployment, tenant, f"http://{tenant.name}.example.com/{number}", now) for number in range(count)]


def queue(deployment: Deployment, tenant: Tenant, source: Source, when: Any, now: datetime) -> Event:
    scheduled, _ = approvals.queue(deployment.outside, principal(tenant), source.id, when, correlation_id=None, now=now)
    return scheduled.event


def sql(deployment: Deployment, statement: str, *parameters: Any) -> list[dict[str, Any]]:
    """As the superuser, whom row-level security does not bind."""
    with deployment.superuser.cursor(row_factory=dict_row) as cursor:
        cursor.execute(statement.encode(), parameters)
        return cursor.fetchall() if cursor.description else []


def event(deployment: Deployment, event_id: UUID) -> dict[str, Any]:
    return sql(deployment, "select * from kb_events where id = %s", event_id)[0]


def set_window(
    deployment: Deployment, tenant: Tenant, start: str, end: str, timezone: str = "UTC", cap: int = 50
) -> None:
    sql(
        deployment,
        "update tenants set night_start = %s, night_end = %s, timezone = %s, nightly_job_cap = %s where id = %s",
        start,
        end,
        timezone,
        cap,
        tenant.id,
    )


def empty(deployment: Deployment) -> None:
    """As if nobody had been here before: no tenant and what belongs to it, no host, no text, no tick, no message."""
    for table in ("tenants", "host_leases", "embedding_cache", "scheduler_state"):
        sql(deployment, f"delete from {table}")
    deployment.queue.messages.clear()
