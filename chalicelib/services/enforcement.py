"""The one door: whatever shows a chunk's text to anybody asks here first, and what is asked is written down.

Reads are two statements: the SELECT, which brings the policy columns with the chunk, and the insert of the decisions,
in the same transaction. If the policies can't be read or the decisions can't be written, nothing is served.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from chalicelib.domain import firewall_mode, policy
from chalicelib.domain.evaluation import DEFAULT_PURPOSE, Request, evaluate
from chalicelib.domain.firewall_mode import Mode
from chalicelib.domain.policy import Policy
from chalicelib.domain.provenance import Provenance
from chalicelib.errors import Forbidden
from chalicelib.services.outside import Outside
from chalicelib.services.proofs import Clerk, Proof
from chalicelib.services.tokens import Principal
from chalicelib.storage import evaluations
from chalicelib.storage.connection import Transaction
from chalicelib.storage.evaluations import Entry

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


Names = tuple[str, ...] | None
RowT = TypeVar("RowT", bound=Guarded)
GuardedT = TypeVar("GuardedT", bound=Guarded, contravariant=True)


@dataclass(frozen=True, slots=True)
class Reading:
    """Who reads, for what, under which mode. ``always_enforce``: the answer leads to customers."""

    request: Request
    mode: Mode
    trace_id: str
    always_enforce: bool = False


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


class Room(Protocol[GuardedT]):
    """An answer that can't hold everything. A row that doesn't fit isn't shown whatever its policy says."""

    def fits(self, row: GuardedT, /) -> bool: ...
    def take(self, row: GuardedT, /) -> None: ...


def admit(
    outside: Outside,
    tx: Transaction,
    reading: Reading,
    rows: Sequence[RowT],
    *,
    wanted: int | None,
    now: datetime,
    room: Room[RowT] | None = None,
) -> list[Served[RowT]]:
    """Judge ``rows`` in their order, write every decision down, and return those that may be shown.

    With ``wanted`` the judging stops once so many are served: what ranked below them was never in question, and neither
    is what finds no ``room``. An allowed text counts as used (spec 2.5), so none is allowed that nobody gets.
    """
    entries: dict[bool, list[Entry]] = {True: [], False: []}
    served: list[Served[RowT]] = []
    clerk = Clerk(outside.keys, reading.request, reading.mode, reading.trace_id, now)
    for row in rows:
        if wanted is not None and len(served) >= wanted:
            break
        if room is not None and not room.fits(row):
            continue
        decision, digest = evaluate(row.policy, reading.request, now), policy.digest(row.policy)
        chunk_id, source_id, version = str(row.chunk_id), str(row.source_id), row.version
        form = clerk.form(decision)
        record = form.record(chunk_id, source_id, version, digest)
        entry = (chunk_id, source_id, version, decision.code, decision.reason, digest, record)
        entries[decision.allowed].append(entry)
        shown = firewall_mode.surface(reading.mode, decision, always_enforce=reading.always_enforce)
        if shown.served:
            proof = clerk.proof(row.chunk_id, decision, digest, form.proof(chunk_id, digest))
            served.append(Served(row, proof, shown.warning))
            if room is not None:
                room.take(row)
    for allowed, some in entries.items():
        if some:
            kind = "allow" if allowed else "block"
            evaluations.append(tx, reading.request, reading.mode, reading.trace_id, kind, some, now)
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
        row
        for row in rows
        if firewall_mode.surface(
            reading.mode, evaluate(row.policy, reading.request, now), always_enforce=reading.always_enforce
        ).served
    )
    return sum(1 for _ in islice(shown, wanted)) < wanted


def policy_of(row: dict[str, Any]) -> Policy:
    """The effective policy from the columns of ``row``: the strictest of source and chunk counts."""
    source = source_policy_of(row)
    if not row["chunk_has_policy"]:
        return source
    own = _own_policy(
        row["tenant_id"],
        # Blank: the chunk says nothing of its own, so the source's tier is the only one.
        row["chunk_sensitivity"] or source.sensitivity,
        row["chunk_expires_at"],
        _key(row["chunk_permitted_roles"]),
        _key(row["chunk_allowed_purposes"]),
        row["content_class"],
        row["validation_status"],
    )
    return _merge(source, own)


def source_policy_of(row: dict[str, Any]) -> Policy:
    """The policy that a source gives to all its chunks."""
    return _source_policy(
        row["tenant_id"],
        row["sensitivity"],
        row["expires_at"],
        _key(row["permitted_roles"]),
        _key(row["allowed_purposes"]),
        row["provenance"],
        row["producer"],
        row["source_uri"],
        row["trust"],
    )


# Many rows say the same, so equal columns are made one object, once.
_remembered = lru_cache(maxsize=4096)
_merge = _remembered(policy.strictest)


@_remembered
def _source_policy(
    tenant_id: UUID,
    sensitivity: str,
    expires_at: datetime | None,
    roles: Names,
    purposes: Names,
    source: str,
    producer: str,
    uri: str,
    trust: int,
) -> Policy:
    origin = Provenance(source, producer, uri, trust)
    return Policy(str(tenant_id), sensitivity, expires_at, _set(roles), _set(purposes), provenance=origin)


@_remembered
def _own_policy(
    tenant_id: UUID,
    sensitivity: str,
    expires_at: datetime | None,
    roles: Names,
    purposes: Names,
    content_class: str,
    validation_status: str,
) -> Policy:
    sets = _set(roles), _set(purposes)
    return Policy(str(tenant_id), sensitivity, expires_at, *sets, content_class, validation_status)


def _key(names: list[str] | None) -> Names:
    return None if names is None else tuple(names)


def _set(names: Names) -> frozenset[str] | None:
    return None if names is None else frozenset(names)
