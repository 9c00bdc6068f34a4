"""Quarantine: texts that a gate stopped, for a person to release or drop (spec 2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, takewhile
from typing import Any
from uuid import UUID

from chalicelib.domain import policy_patch
from chalicelib.domain.cursor import cut
from chalicelib.domain.ingest_gates import (
    MAX_DENY_PATTERNS,
    Deposit,
    Gate,
    check_deny_pattern,
    kept_pattern,
    screen,
)
from chalicelib.errors import Conflict, Invalid, NotFound
from chalicelib.services import deposits, policies, quotas
from chalicelib.services.outside import Outside
from chalicelib.services.sources import require
from chalicelib.services.tokens import Principal
from chalicelib.storage import events
from chalicelib.storage.connection import Transaction
from chalicelib.storage.events import Event

OCTETS_A_PAGE = 1_400_000
"""Of texts. JSON in the JSON that Lambda answers makes four bytes of a quotation mark, and no more of anything."""


@dataclass(frozen=True, slots=True)
class Held:
    """A row of ``quarantine``."""

    id: UUID
    source_id: UUID | None
    deposit: str
    gate: str
    reason: str
    title: str | None
    text: str
    policy: dict[str, Any]
    state: str
    created_at: datetime
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Size:
    id: UUID
    created_at: datetime
    octets: int


def list_page(
    outside: Outside, who: Principal, *, state: str, after: tuple[datetime, UUID] | None, limit: int
) -> tuple[list[Held], str | None]:
    """One page of what is held, oldest first, and the cursor of the next: `limit` texts, or as many as go together."""
    time, ident = after or (None, None)
    with outside.database.transaction(who.tenant_id) as tx:
        sizes = tx.all(
            "memory.quarantine_sizes",
            _Size,
            tenant_id=who.tenant_id,
            state=state,
            after_time=time,
            after_id=ident,
            limit=limit + 1,
        )
        page, following = cut(sizes, min(limit, _together(sizes)))
        return tx.all("memory.quarantined", Held, ids=[size.id for size in page]), following


def _together(sizes: Sequence[_Size]) -> int:
    """How many of the first go into one answer; one always does."""
    total = accumulate(size.octets for size in sizes)
    return max(1, sum(1 for _ in takewhile(lambda octets: octets <= OCTETS_A_PAGE, total)))


def release(
    outside: Outside, who: Principal, held_id: UUID, *, correlation_id: str | None, now: datetime
) -> tuple[Event, quotas.Allowance]:
    """Let a text in that a person has read: past the gate that stopped it, through those after it.

    Raises NotFound, Conflict if it was decided already or its source has work under way, Invalid, RateLimited.
    """
    with quotas.mutation(outside, who, now) as (tx, allowance):
        held = _undecided(tx, held_id)
        patterns = deposits.deny_patterns(tx, who.tenant_id) if held.gate == Gate.TEXT_DAMAGE else ()
        screening = screen(held.text, Deposit(held.deposit), patterns, beside=[held.title])
        if screening.outcome != "admit":
            raise Invalid(f"the text does not pass: {screening.reason}", code=screening.reason, gate=screening.gate)
        if held.source_id is not None:
            source = require(tx, held.source_id, lock=True)
            if events.open_of_source(tx, source.id) is not None:
                raise Conflict("a refresh of this source is under way", code="event_open")
            event = deposits.publish(tx, source, screening, held.title, 0, correlation_id, now)
        else:
            patch = policy_patch.parse(held.policy)
            offered = deposits.Offered(Deposit(held.deposit), held.text, held.title, held.policy)
            made = deposits.keep(outside, tx, who, offered, screening, patch, correlation_id, now)
            assert made.event is not None
            event = made.event
        _decide(tx, who, held, "released", now)
        return event, allowance


def drop(outside: Outside, who: Principal, held_id: UUID, now: datetime) -> quotas.Allowance:
    """Let nothing in. Raises NotFound, Conflict, RateLimited."""
    with quotas.mutation(outside, who, now) as (tx, allowance):
        _decide(tx, who, _undecided(tx, held_id), "dropped", now)
        return allowance


def deny_patterns(outside: Outside, who: Principal) -> list[str]:
    """The tenant's deny patterns."""
    with outside.database.transaction(who.tenant_id) as tx:
        return deposits.deny_patterns(tx, who.tenant_id)


def change_deny_patterns(
    outside: Outside, who: Principal, *, add: list[str], remove: list[str], now: datetime
) -> tuple[list[str], quotas.Allowance]:
    """Add and take away deny patterns; in force for the next text. Raises Invalid, RateLimited."""
    try:
        checked = [check_deny_pattern(pattern) for pattern in add]
    except ValueError as error:
        raise Invalid(f"add: {error}", field="add", rule=str(error)) from error
    with quotas.mutation(outside, who, now) as (tx, allowance):
        before = deposits.deny_patterns(tx, who.tenant_id)
        for pattern in checked:
            tx.run("memory.add_deny_pattern", tenant_id=who.tenant_id, pattern=pattern, now=now)
        for pattern in remove:
            tx.run("memory.remove_deny_pattern", tenant_id=who.tenant_id, pattern=kept_pattern(pattern))
        after = deposits.deny_patterns(tx, who.tenant_id)
        if len(after) > max(MAX_DENY_PATTERNS, len(before)):
            rule = f"a tenant has at most {MAX_DENY_PATTERNS} deny patterns"
            raise Invalid(f"add: {rule}", field="add", rule=rule)
        policies.audit(tx, who, "deny_patterns", "tenant", {"patterns": before}, {"patterns": after}, now)
        return after, allowance


def _undecided(tx: Transaction, held_id: UUID) -> Held:
    held = tx.one("memory.quarantined_for_update", Held, id=held_id)
    if held is None:
        raise NotFound("there is no such text in quarantine")
    if held.state != "held":
        raise Conflict(f"the text was {held.state}", code="quarantine_decided", state=held.state)
    return held


def _decide(tx: Transaction, who: Principal, held: Held, state: str, now: datetime) -> None:
    tx.run("memory.decide_quarantined", id=held.id, state=state, decided_by=who.admin_token_id, now=now)
    policies.audit(tx, who, f"quarantine.{state}", str(held.id), None, {"gate": held.gate}, now)
