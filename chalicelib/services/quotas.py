"""Two limits: mutations an hour, shared by all replicas, and sources a plan.

What only takes access away (a secret ended, a provider or a token switched off, a capability revoked, one of these
removed) is `protective`: it counts while there is room, and no limit refuses it. An emergency does not wait an hour.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from chalicelib.errors import QuotaExceeded, RateLimited
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import tenants
from chalicelib.storage.connection import Transaction

WINDOW = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a tenant's mutations, as the RateLimit header fields tell it."""

    limit: int
    remaining: int
    resets_in_seconds: int

    def headers(self) -> dict[str, str]:
        """``RateLimit-Policy`` and ``RateLimit`` (draft-ietf-httpapi-ratelimit-headers)."""
        return {
            "RateLimit-Policy": f'"mutations";q={self.limit};w={int(WINDOW.total_seconds())}',
            "RateLimit": f'"mutations";r={self.remaining};t={self.resets_in_seconds}',
        }


@contextmanager
def mutation(outside: Outside, who: Principal, now: datetime) -> Iterator[tuple[Transaction, Allowance]]:
    """A transaction of the caller's tenant that counts as one mutation; what is rolled back isn't counted.

    Raises RateLimited with Retry-After.
    """
    with outside.database.transaction(who.tenant_id) as tx:
        yield tx, _take(tx, who.tenant_id, outside.settings.mutations_per_hour, now)


@contextmanager
def protective(outside: Outside, who: Principal, now: datetime) -> Iterator[tuple[Transaction, Allowance]]:
    """As ``mutation``, for what can only take access away: it counts while there is room, and is never refused."""
    with outside.database.transaction(who.tenant_id) as tx:
        try:
            allowance = _take(tx, who.tenant_id, outside.settings.mutations_per_hour, now)
        except RateLimited as used_up:
            allowance = Allowance(used_up.extra["limit"], 0, used_up.extra["retry_after"])
        yield tx, allowance


def counted(
    outside: Outside, who: Principal, now: datetime, *, protects: bool
) -> AbstractContextManager[tuple[Transaction, Allowance]]:
    """``protective`` where the change can only take access away, else ``mutation``."""
    return (protective if protects else mutation)(outside, who, now)


def count_mutation(outside: Outside, who: Principal, now: datetime) -> Allowance:
    """Count a mutation that takes more than one transaction before its first. Raises RateLimited with Retry-After."""
    with mutation(outside, who, now) as (_, allowance):
        return allowance


@contextmanager
def turn(outside: Outside, who: Principal) -> Iterator[Transaction]:
    """A transaction for a part of a mutation that was counted already.

    It takes its turn among the tenant's mutations as each of them does: by the row that counts them.
    """
    with outside.database.transaction(who.tenant_id) as tx:
        tx.row("limits.turn", tenant_id=who.tenant_id)
        yield tx


def give_back(tx: Transaction, tenant_id: UUID, allowance: Allowance) -> Allowance:
    """Take one mutation back, in the transaction that took it: a bulk that was refused whole changed nothing."""
    tx.run("limits.give_back", tenant_id=tenant_id)
    return replace(allowance, remaining=allowance.remaining + 1)


def standing(outside: Outside, who: Principal, now: datetime) -> Allowance:
    """What is left of the tenant's mutations at ``now``; nothing is counted."""
    with outside.database.transaction(who.tenant_id) as tx:
        limit = _limit(tx, who.tenant_id, outside.settings.mutations_per_hour)
        window = tx.row("limits.standing", tenant_id=who.tenant_id, now=now)
    if window is None:
        return Allowance(limit, limit, int(WINDOW.total_seconds()))
    return Allowance(limit, max(0, limit - window["used"]), _seconds_left(window["started_at"], now))


def check_source_quota(tx: Transaction, tenant_id: UUID) -> None:
    """Make sure that one more active source fits the plan, and let nobody else pass meanwhile.

    The tenant's row stays locked until the transaction ends, so the count is exact under concurrent creates. Raises
    QuotaExceeded with metric, limit and used.
    """
    limit = tx.value("tenants.source_limit", id=tenant_id) or 0
    used = tx.value("sources.count_active", tenant_id=tenant_id)
    if used >= limit:
        raise QuotaExceeded(f"the plan allows {limit} active sources", metric="kb_sources", limit=limit, used=used)


def _take(tx: Transaction, tenant_id: UUID, default_limit: int, now: datetime) -> Allowance:
    """The window of an hour begins with its first mutation."""
    limit = _limit(tx, tenant_id, default_limit)
    row = tx.row("limits.take", tenant_id=tenant_id, limit=limit, now=now)
    if row is not None:
        return Allowance(limit, limit - row["used"], _seconds_left(row["started_at"], now))
    window = tx.row("limits.window", tenant_id=tenant_id)
    wait = _seconds_left(window["started_at"] if window else now, now)
    raise RateLimited(
        f"at most {limit} mutations an hour",
        headers={"Retry-After": str(wait), **Allowance(limit, 0, wait).headers()},
        limit=limit,
        retry_after=wait,
    )


def _limit(tx: Transaction, tenant_id: UUID, default_limit: int) -> int:
    tenant = tenants.get(tx, tenant_id)
    return (tenant.mutations_per_hour if tenant else None) or default_limit


def _seconds_left(started_at: datetime, now: datetime) -> int:
    """Whole seconds, rounded up; another replica's clock may be a little ahead."""
    return max(1, -((max(now, started_at) - started_at - WINDOW) // timedelta(seconds=1)))
