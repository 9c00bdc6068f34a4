"""Policies as an admin writes them: on a source, for all its chunks, or on one chunk's text, for ever."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from chalicelib.domain import policy, policy_patch
from chalicelib.domain.firewall_mode import parse as parse_mode
from chalicelib.domain.policy import Policy
from chalicelib.errors import Invalid, NotFound, PreconditionFailed
from chalicelib.services import quotas
from chalicelib.services.enforcement import policy_of, source_policy_of
from chalicelib.services.outside import Outside
from chalicelib.services.sources import require
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction
from chalicelib.storage.sources import Source

VALIDATIONS = ("confirmed", "refuted", "unverified")


@dataclass(frozen=True, slots=True)
class Shown:
    """A policy as it counts, and its digest, which is its ETag."""

    policy: Policy
    digest: str


@dataclass(frozen=True, slots=True)
class ChunkPolicy:
    """What counts for a chunk (``effective``), and what was said of its text alone (``own``)."""

    chunk_id: UUID
    source_id: UUID
    effective: Shown
    own: Policy | None


def of_source(outside: Outside, who: Principal, source_id: UUID) -> tuple[Source, Shown]:
    """The policy of a source. Raises NotFound."""
    with outside.database.transaction(who.tenant_id) as tx:
        source = require(tx, source_id)
        return source, _shown(source_policy_of(_source_row(tx, source_id)))


def of_chunk(outside: Outside, who: Principal, chunk_id: UUID) -> ChunkPolicy:
    """The policy of a chunk, current or not. Raises NotFound."""
    with outside.database.transaction(who.tenant_id) as tx:
        return _chunk(tx, chunk_id)[1]


def set_on_source(
    outside: Outside, who: Principal, source_id: UUID, fields: Mapping[str, Any], if_match: str | None, now: datetime
) -> tuple[Source, Shown, quotas.Allowance]:
    """Change fields of a source's policy, or ``published``.

    Raises NotFound, Invalid, PreconditionFailed, RateLimited.
    """
    published, patch = fields.get("published"), _patch({k: v for k, v in fields.items() if k != "published"})
    with quotas.mutation(outside, who, now) as (tx, allowance):
        source = require(tx, source_id, lock=True)
        before = source_policy_of(_source_row(tx, source_id))
        _require_match(before, if_match)
        after = policy_patch.amend(before, patch)
        tx.run(
            "policies.set_of_source",
            source_id=source_id,
            sensitivity=after.sensitivity,
            expires_at=after.expires_at,
            permitted_roles=_list(after.permitted_roles),
            allowed_purposes=_list(after.allowed_purposes),
            published=source.published if published is None else published,
            now=now,
        )
        changed = require(tx, source_id)
        audit(
            tx,
            who,
            "source.policy",
            str(source_id),
            {**policy.as_json(before), "published": source.published},
            {**policy.as_json(after), "published": changed.published},
            now,
        )
        return changed, _shown(after), allowance


def set_on_chunk(
    outside: Outside, who: Principal, chunk_id: UUID, fields: Mapping[str, Any], if_match: str | None, now: datetime
) -> tuple[ChunkPolicy, quotas.Allowance]:
    """Change fields of what is said of a chunk's text. Raises NotFound, Invalid, PreconditionFailed, RateLimited."""
    patch = _patch(fields)
    return _write_chunk(
        outside, who, chunk_id, "chunk.policy", lambda own: policy_patch.amend(own, patch), if_match, now
    )


def validate(
    outside: Outside, who: Principal, chunk_id: UUID, status: str, why: str, if_match: str | None, now: datetime
) -> tuple[ChunkPolicy, quotas.Allowance]:
    """Say that a chunk's text is confirmed, refuted (then nobody reads it in any mode) or unverified."""
    if status not in VALIDATIONS:
        raise Invalid(f"status: must be one of {', '.join(VALIDATIONS)}", field="status")
    return _write_chunk(
        outside,
        who,
        chunk_id,
        f"chunk.validation: {why}" if why else "chunk.validation",
        lambda own: replace(own, validation_status=status),
        if_match,
        now,
    )


def forget(outside: Outside, who: Principal, chunk_id: UUID, why: str, now: datetime) -> tuple[int, quotas.Allowance]:
    """Erase a chunk's text from every version; a mark stays and keeps the next refresh from bringing it back.

    Returns how many rows were erased. Raises NotFound, RateLimited.
    """
    with quotas.mutation(outside, who, now) as (tx, allowance):
        content_hash, found = _chunk(tx, chunk_id)
        require(tx, found.source_id, lock=True)
        named = {"source_id": found.source_id, "content_hash": content_hash}
        tx.run("memory.entomb", **named, tenant_id=who.tenant_id, now=now)
        erased: int = tx.value("memory.erase", **named)
        audit(tx, who, f"chunk.forget: {why}" if why else "chunk.forget", str(chunk_id), None, {"rows": erased}, now)
        return erased, allowance


def classify(tx: Transaction, source: Source, hashes: list[str], content_class: str, now: datetime) -> None:
    """Write down what kind of text these are, once and for ever; whoever calls holds the source's lock."""
    said = policy.of_class(str(source.tenant_id), content_class)
    tx.run(
        "policies.classify",
        source_id=source.id,
        tenant_id=source.tenant_id,
        hashes=hashes,
        sensitivity=said.sensitivity,
        allowed_purposes=_list(said.allowed_purposes),
        content_class=content_class,
        now=now,
    )


def set_mode(outside: Outside, who: Principal, mode: str | None, now: datetime) -> tuple[str | None, quotas.Allowance]:
    """Choose the tenant's firewall mode; None takes the deployment's. Raises Invalid, RateLimited."""
    try:
        word = None if mode is None else str(parse_mode(mode))
    except ValueError as error:
        raise Invalid(f"mode: {error}", field="mode") from error
    with quotas.mutation(outside, who, now) as (tx, allowance):
        tx.run("tenants.set_firewall_mode", id=who.tenant_id, mode=word)
        audit(tx, who, "firewall.mode", "tenant", {"mode": who.firewall_mode}, {"mode": word}, now)
        return word, allowance


def audit(
    tx: Transaction,
    who: Principal,
    action: str,
    target: str,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
    now: datetime,
) -> None:
    """Write down who changed what, from what to what, in the transaction of the change."""
    tx.run(
        "policies.audit",
        tenant_id=who.tenant_id,
        token_id=who.admin_token_id,
        operator=who.operator_name,
        action=action,
        target=target,
        before=None if before is None else Jsonb(before),
        after=None if after is None else Jsonb(after),
        correlation_id=who.correlation_id,
        now=now,
    )


def audit_of_house(
    tx: Transaction, tenant_id: UUID, action: str, target: str, after: dict[str, Any], now: datetime
) -> None:
    """Write down what the house did by itself, on nobody's word."""
    unnamed = {"token_id": None, "operator": None, "before": None, "correlation_id": None}
    tx.run("policies.audit", tenant_id=tenant_id, action=action, target=target, after=Jsonb(after), now=now, **unnamed)


def digest_of_chunk(tx: Transaction, chunk_id: UUID) -> str:
    """The digest of the policy that counts for a chunk now. Raises NotFound."""
    return _chunk(tx, chunk_id)[1].effective.digest


def _write_chunk(
    outside: Outside,
    who: Principal,
    chunk_id: UUID,
    action: str,
    change: Callable[[Policy], Policy],
    if_match: str | None,
    now: datetime,
) -> tuple[ChunkPolicy, quotas.Allowance]:
    with quotas.mutation(outside, who, now) as (tx, allowance):
        content_hash, before = _chunk(tx, chunk_id)
        require(tx, before.source_id, lock=True)
        content_hash, before = _chunk(tx, chunk_id)  # again, now that nobody else can write
        _require_match(before.effective.policy, if_match)
        own = change(before.own or Policy(tenant_id=str(who.tenant_id)))
        tx.run(
            "policies.put",
            source_id=before.source_id,
            content_hash=content_hash,
            tenant_id=who.tenant_id,
            sensitivity=own.sensitivity,
            expires_at=own.expires_at,
            permitted_roles=_list(own.permitted_roles),
            allowed_purposes=_list(own.allowed_purposes),
            content_class=own.content_class,
            validation_status=own.validation_status,
            now=now,
        )
        after = _chunk(tx, chunk_id)[1]
        audit(
            tx,
            who,
            action,
            str(chunk_id),
            policy.as_json(before.effective.policy),
            policy.as_json(after.effective.policy),
            now,
        )
        return after, allowance


def _chunk(tx: Transaction, chunk_id: UUID) -> tuple[str, ChunkPolicy]:
    row = tx.row("policies.chunk", chunk_id=chunk_id)
    if row is None:
        raise NotFound("there is no such chunk")
    own = None
    if row["chunk_has_policy"]:
        own = Policy(
            tenant_id=str(row["tenant_id"]),
            sensitivity=row["chunk_sensitivity"],
            expires_at=row["chunk_expires_at"],
            permitted_roles=_set(row["chunk_permitted_roles"]),
            allowed_purposes=_set(row["chunk_allowed_purposes"]),
            content_class=row["content_class"],
            validation_status=row["validation_status"],
        )
    return row["content_hash"], ChunkPolicy(chunk_id, row["source_id"], _shown(policy_of(row)), own)


def _source_row(tx: Transaction, source_id: UUID) -> dict[str, Any]:
    row = tx.row("policies.source", source_id=source_id)
    assert row is not None, "the caller has seen the source"
    return row


def _shown(counts: Policy) -> Shown:
    return Shown(counts, policy.digest(counts))


def _require_match(counts: Policy, if_match: str | None) -> None:
    """RFC 9110, 13.1.1; the digest stands in quotes, as an entity tag does."""
    if if_match is None or if_match.strip() == "*":
        return
    if policy.digest(counts) not in [tag.strip().strip('"') for tag in if_match.split(",")]:
        raise PreconditionFailed("the policy was changed meanwhile", policy_digest=policy.digest(counts))


def _patch(fields: Mapping[str, Any]) -> policy_patch.PolicyPatch:
    try:
        return policy_patch.parse(fields)
    except policy_patch.PolicyError as error:
        raise Invalid(str(error), field=error.field, rule=str(error)) from error


def _set(values: list[str] | None) -> frozenset[str] | None:
    return None if values is None else frozenset(values)


def _list(values: frozenset[str] | None) -> list[str] | None:
    return None if values is None else sorted(values)
