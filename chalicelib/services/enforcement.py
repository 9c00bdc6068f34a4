"""The one door: whatever shows a chunk's text to anybody asks here first, and what is asked is written down.

Reads are two statements: the SELECT, which brings the policy columns with the chunk, and the insert of the decisions,
in the same transaction. If the policies can't be read or the decisions can't be written, nothing is served.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

import rfc8785

from chalicelib.domain import firewall_mode, policy
from chalicelib.domain.evaluation import DEFAULT_PURPOSE, Decision, Request, evaluate
from chalicelib.domain.firewall_mode import Mode
from chalicelib.domain.policy import Policy
from chalicelib.domain.provenance import Provenance
from chalicelib.errors import Forbidden
from chalicelib.keys import Keyring
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction

WITHHELD = "[withheld by policy]"
"""Stands in a page's text where a chunk may not be read."""


class Guarded(Protocol):
    """A row of which the firewall can judge: a chunk with the policy columns that its SELECT brought."""

    @property
    def chunk_id(self) -> UUID: ...
    @property
    def source_id(self) -> UUID: ...
    @property
    def version(self) -> int | None: ...
    @property
    def policy(self) -> Policy: ...


RowT = TypeVar("RowT", bound=Guarded)


@dataclass(frozen=True, slots=True)
class Reading:
    """Who reads, for what, under which mode. ``always_enforce``: the answer leads to customers."""

    request: Request
    mode: Mode
    trace_id: str
    always_enforce: bool = False


@dataclass(frozen=True, slots=True)
class Proof:
    """Shows later that the firewall let this chunk pass: an HMAC over the RFC 8785 form of the rest."""

    chunk_id: UUID
    decision: str
    evaluated_at: datetime
    policy_digest: str
    context: dict[str, str]
    key_id: str
    mac: str


@dataclass(frozen=True, slots=True)
class Served(Generic[RowT]):
    """A row that may be shown, its proof, and in advisory mode the warning that goes with it."""

    row: RowT
    proof: Proof
    warning: str | None


def reading(
    outside: Outside,
    who: Principal,
    *,
    role: str | None,
    purpose: str | None,
    trace_id: str,
    always_enforce: bool = False,
) -> Reading:
    """What the caller's token lets this request be; a request narrows it and never widens it.

    Raises Forbidden for a role or a purpose that the token does not have.
    """
    if role is not None and role not in who.roles:
        raise Forbidden("the token does not have this role", code="role_not_held", field="role")
    if purpose is not None and who.purposes is not None and purpose not in who.purposes:
        raise Forbidden("the token does not allow this purpose", code="purpose_not_held", field="purpose")
    chosen = role if role is not None else (who.roles[0] if len(who.roles) == 1 else "")
    mode = firewall_mode.resolve(
        who.firewall_mode, outside.settings.firewall_mode or None, outside.settings.firewall_floor or None
    )
    request = Request(
        tenant_id=str(who.tenant_id),
        role=chosen,
        purpose=purpose or DEFAULT_PURPOSE,
        operator=who.operator_name or "",
    )
    if purpose is None and who.purposes is not None and DEFAULT_PURPOSE not in who.purposes:
        raise Forbidden("the token needs a purpose to be named", code="purpose_not_held", field="purpose")
    return Reading(request, mode, trace_id, always_enforce)


def admit(
    outside: Outside, tx: Transaction, reading: Reading, rows: Sequence[RowT], *, wanted: int | None, now: datetime
) -> list[Served[RowT]]:
    """Judge ``rows`` in their order, write every decision down, and return those that may be shown.

    With ``wanted`` the judging stops once so many are served: what ranked below them was never in question.
    """
    judged: list[tuple[RowT, Decision, str]] = []
    served: list[Served[RowT]] = []
    for row in rows:
        if wanted is not None and len(served) >= wanted:
            break
        decision = evaluate(row.policy, reading.request, now)
        digest = _digest(row.policy)
        judged.append((row, decision, digest))
        shown = firewall_mode.surface(reading.mode, decision, always_enforce=reading.always_enforce)
        if shown.served:
            served.append(Served(row, _proof(outside.keys, reading, row, decision, digest, now), shown.warning))
    for kind in ("allow", "block"):
        _append(tx, reading, kind, [one for one in judged if one[1].allowed == (kind == "allow")], now)
    return served


def may_describe(tx: Transaction, reading: Reading, source_id: UUID, now: datetime) -> bool:
    """Whether a page's title and description may be shown: they stand beside its text and may say the same.

    Not to a reader whom the source's policy keeps out, and to nobody where any chunk has a policy of its own. It is no
    recall of a chunk, so it writes no decision.
    """
    row = tx.row("policies.source", source_id=source_id)
    if row is None or tx.value("policies.any_of_source", source_id=source_id):
        return False
    decision = evaluate(source_policy_of(row), reading.request, now)
    return firewall_mode.surface(reading.mode, decision, always_enforce=reading.always_enforce).served


def too_few(reading: Reading, rows: Sequence[Guarded], wanted: int, now: datetime) -> bool:
    """Whether fewer than ``wanted`` of ``rows`` may be shown; nothing is written down for this look ahead."""
    shown = (
        firewall_mode.surface(
            reading.mode, evaluate(row.policy, reading.request, now), always_enforce=reading.always_enforce
        ).served
        for row in rows
    )
    return sum(shown) < wanted


def verify(keys: Keyring, proof: Proof) -> bool:
    """Whether the proof is ours and unchanged."""
    return keys.verify("proof", _proof_message(proof), proof.key_id, proof.mac)


def policy_of(row: dict[str, Any]) -> Policy:
    """The effective policy from the columns of ``row``: the strictest of source and chunk counts."""
    source = source_policy_of(row)
    if not row["chunk_has_policy"]:
        return source
    own = Policy(
        tenant_id=str(row["tenant_id"]),
        # Blank: the chunk says nothing of its own, so the source's tier is the only one.
        sensitivity=row["chunk_sensitivity"] or source.sensitivity,
        expires_at=row["chunk_expires_at"],
        permitted_roles=_set(row["chunk_permitted_roles"]),
        allowed_purposes=_set(row["chunk_allowed_purposes"]),
        content_class=row["content_class"],
        validation_status=row["validation_status"],
    )
    return _merge(source, own)


def source_policy_of(row: dict[str, Any]) -> Policy:
    """The policy that a source gives to all its chunks."""
    return Policy(
        tenant_id=str(row["tenant_id"]),
        sensitivity=row["sensitivity"],
        expires_at=row["expires_at"],
        permitted_roles=_set(row["permitted_roles"]),
        allowed_purposes=_set(row["allowed_purposes"]),
        provenance=Provenance(row["provenance"], row["producer"], row["source_uri"], row["trust"]),
    )


_merge = lru_cache(maxsize=4096)(policy.strictest)
_digest = lru_cache(maxsize=4096)(policy.digest)


def _set(values: list[str] | None) -> frozenset[str] | None:
    return None if values is None else frozenset(values)


def _context(reading: Reading) -> dict[str, str]:
    request = reading.request
    return {
        "tenant_id": request.tenant_id,
        "role": request.role,
        "purpose": request.purpose,
        "operator": request.operator,
        "trace_id": reading.trace_id,
        "mode": str(reading.mode),
    }


def _proof(keys: Keyring, reading: Reading, row: Guarded, decision: Decision, digest: str, now: datetime) -> Proof:
    unsigned = Proof(row.chunk_id, decision.code, now, digest, _context(reading), keys.newest.id, "")
    _, mac = keys.sign("proof", _proof_message(unsigned))
    return Proof(row.chunk_id, decision.code, now, digest, unsigned.context, unsigned.key_id, mac)


def _proof_message(proof: Proof) -> bytes:
    return rfc8785.dumps(
        {
            "chunk_id": str(proof.chunk_id),
            "decision": proof.decision,
            "evaluated_at": policy.instant(proof.evaluated_at),
            "policy_digest": proof.policy_digest,
            "context": dict(proof.context),
            "key_id": proof.key_id,
        }
    )


def _append(
    tx: Transaction, reading: Reading, kind: str, judged: list[tuple[Any, Decision, str]], now: datetime
) -> None:
    if not judged:
        return
    request = reading.request
    tx.value(
        "firewall.append",
        tenant_id=UUID(request.tenant_id),
        day=now.date(),
        kind=kind,
        chunks=[row.chunk_id for row, _, _ in judged],
        sources=[row.source_id for row, _, _ in judged],
        versions=[row.version for row, _, _ in judged],
        decisions=[decision.code for _, decision, _ in judged],
        reasons=[decision.reason for _, decision, _ in judged],
        digests=[digest for _, _, digest in judged],
        canonical=[canonical(reading, row, decision, digest, now) for row, decision, digest in judged],
        role=request.role,
        purpose=request.purpose,
        operator=request.operator,
        trace_id=reading.trace_id,
        mode=str(reading.mode),
        now=now,
    )


def canonical(reading: Reading, row: Guarded, decision: Decision, digest: str, now: datetime) -> str:
    """The RFC 8785 JSON of a decision, which the chain's hash is over."""
    return rfc8785.dumps(
        {
            **_context(reading),
            "chunk_id": str(row.chunk_id),
            "source_id": str(row.source_id),
            "version": row.version,
            "decision": decision.code,
            "reason": decision.reason,
            "policy_digest": digest,
            "evaluated_at": policy.instant(now),
        }
    ).decode("utf-8")
