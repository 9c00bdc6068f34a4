"""Sources: add, update, list, switch on and off."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chalicelib.domain.freshness import DEFAULT_TTL, Staleness, stale_at, staleness
from chalicelib.domain.source_url import canonicalise
from chalicelib.errors import Invalid, NotFound, Problem
from chalicelib.fetching import ssrf
from chalicelib.fetching.errors import FetchError
from chalicelib.services import quotas
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import sources
from chalicelib.storage.connection import Transaction
from chalicelib.storage.sources import Source


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a caller wants a source to be; None leaves the value as it is, or takes the default."""

    uri: str
    name: str | None = None
    refresh_ttl_seconds: int | None = None
    keep_hidden_text: bool | None = None


@dataclass(frozen=True, slots=True)
class Upserted:
    """The source, and whether it is new."""

    source: Source
    created: bool


def judge(source: Source, now: datetime) -> Staleness:
    """Whether the source is stale at ``now``, why and for how long."""
    return staleness(
        source.last_checked_at, source.last_status, source.refresh_ttl_seconds, now, created_at=source.created_at
    )


def goes_stale_at(source: Source) -> datetime | None:
    """When the source goes stale; None: it was never fetched and is stale now."""
    return stale_at(source.last_checked_at, source.refresh_ttl_seconds)


def require(tx: Transaction, source_id: UUID, *, lock: bool = False) -> Source:
    """The tenant's source. Raises NotFound."""
    source = sources.get(tx, source_id, lock=lock)
    if source is None:
        raise NotFound("there is no such source")
    return source


def list_page(outside: Outside, who: Principal, *, after: tuple[datetime, UUID] | None, limit: int) -> list[Source]:
    """One page of the tenant's sources, oldest first."""
    with outside.database.transaction(who.tenant_id) as tx:
        return sources.page(tx, who.tenant_id, after=after, limit=limit)


def show(outside: Outside, who: Principal, source_id: UUID) -> Source:
    """One source. Raises NotFound."""
    with outside.database.transaction(who.tenant_id) as tx:
        return require(tx, source_id)


def upsert(outside: Outside, who: Principal, wanted: Wanted, now: datetime) -> tuple[Upserted, quotas.Allowance]:
    """Add a source, or update the one that has this uri already.

    Raises Invalid for a uri that the guard would never fetch, QuotaExceeded, RateLimited.
    """
    uri = _identity(outside, wanted.uri)
    with quotas.mutation(outside, who, now) as (tx, allowance):
        return _upsert(tx, who.tenant_id, uri, wanted, now), allowance


def upsert_many(
    outside: Outside, who: Principal, wanted: list[Wanted], now: datetime
) -> tuple[list[Upserted | Problem], quotas.Allowance]:
    """Add or update many, each with its own result; one mutation of the limit. Raises RateLimited."""
    results: list[Upserted | Problem] = []
    uris = [_identity_or_fault(outside, one.uri) for one in wanted]
    with quotas.mutation(outside, who, now) as (tx, allowance):
        sources.lock_known(tx, who.tenant_id, [uri for uri in uris if isinstance(uri, str)])
        for one, uri in zip(wanted, uris, strict=True):
            if isinstance(uri, Problem):
                results.append(uri)
                continue
            try:
                with tx.savepoint():
                    results.append(_upsert(tx, who.tenant_id, uri, one, now))
            except Problem as problem:
                results.append(problem)
        if not any(isinstance(result, Upserted) for result in results):
            allowance = quotas.give_back(tx, who.tenant_id, allowance)
    return results, allowance


def set_active(
    outside: Outside, who: Principal, source_id: UUID, active: bool | None, now: datetime
) -> tuple[Source, quotas.Allowance]:
    """Switch a source on or off, or over if ``active`` is None. Switching on is held to the quota like adding.

    Raises NotFound, QuotaExceeded, RateLimited.
    """
    with quotas.mutation(outside, who, now) as (tx, allowance):
        source = require(tx, source_id, lock=True)
        wanted = not source.active if active is None else active
        if wanted and not source.active:
            quotas.check_source_quota(tx, who.tenant_id)
        changed = tx.one("sources.set_active", Source, id=source_id, active=wanted, now=now)
        assert changed is not None
        return changed, allowance


def _identity(outside: Outside, uri: str) -> str:
    """The canonical uri, if the guard would go there as far as can be said without asking the DNS."""
    try:
        canonical = canonicalise(uri)
        ssrf.check_url(canonical, outside.fetch_policy)
        return canonical
    except FetchError as refusal:
        raise Invalid(f"uri: may not be fetched ({refusal.reason})", field="uri", rule=str(refusal.reason)) from refusal
    except ValueError as error:
        raise Invalid(f"uri: {error}", field="uri", rule=str(error)) from error


def _identity_or_fault(outside: Outside, uri: str) -> str | Problem:
    try:
        return _identity(outside, uri)
    except Invalid as fault:
        return fault


def _upsert(tx: Transaction, tenant_id: UUID, uri: str, wanted: Wanted, now: datetime) -> Upserted:
    existing = sources.find_by_uri(tx, tenant_id, uri)
    if existing is None:
        quotas.check_source_quota(tx, tenant_id)
        made = tx.one(
            "sources.insert",
            Source,
            tenant_id=tenant_id,
            uri=uri,
            name=wanted.name or uri,
            refresh_ttl_seconds=wanted.refresh_ttl_seconds or DEFAULT_TTL,
            keep_hidden_text=bool(wanted.keep_hidden_text),
            now=now,
        )
        if made is not None:
            return Upserted(made, created=True)
        existing = sources.find_by_uri(tx, tenant_id, uri)  # somebody was quicker
        assert existing is not None
    changed = tx.one(
        "sources.update",
        Source,
        id=existing.id,
        name=wanted.name,
        refresh_ttl_seconds=wanted.refresh_ttl_seconds,
        keep_hidden_text=wanted.keep_hidden_text,
        now=now,
    )
    assert changed is not None
    return Upserted(changed, created=False)
