"""What an operator sees of the record: decisions, reads, deposits, and who changed a policy; the newest first.

No text and no query is in any of it: none is recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal

SPAN = timedelta(days=30)
MOST_CHANGES = 50

Place = tuple[datetime, UUID]
"""The row before which a page begins: its time and id."""


@dataclass(frozen=True, slots=True)
class DayCount:
    """How often something came about on a day of UTC."""

    day: date
    what: str
    count: int


@dataclass(frozen=True, slots=True)
class DayOfDeposits(DayCount):
    """How many texts came to this, and how many secrets were redacted in them."""

    redactions: int


@dataclass(frozen=True, slots=True)
class Sought:
    """Which decisions; None lets everything through."""

    decision: str | None = None
    chunk_id: UUID | None = None
    trace_id: str | None = None
    at: datetime | None = None

    @property
    def any(self) -> bool:
        """Whether something is asked for in particular."""
        return self != Sought()


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision about a chunk."""

    id: UUID
    evaluated_at: datetime
    chunk_id: UUID
    source_name: str | None
    version: int | None
    role: str
    purpose: str
    operator: str
    trace_id: str
    decision: str
    reason: str
    mode: str

    @property
    def created_at(self) -> datetime:
        """Its place in the list."""
        return self.evaluated_at


@dataclass(frozen=True, slots=True)
class Read:
    """One request that read: who asked, and how many chunks were allowed and blocked."""

    id: UUID
    created_at: datetime
    trace_id: str
    role: str
    purpose: str
    operator: str
    mode: str
    allowed: int
    blocked: int


@dataclass(frozen=True, slots=True)
class LoggedDeposit:
    """A row of the ingest log: what the gates made of a text."""

    id: UUID
    created_at: datetime
    deposit: str
    outcome: str
    gate: str | None
    reason: str
    redactions: int
    source_name: str | None
    correlation_id: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """A row of the admin audit."""

    id: UUID
    at: datetime
    operator: str | None
    action: str
    target: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    correlation_id: str | None


def decisions_by_day(outside: Outside, who: Principal, now: datetime) -> list[DayCount]:
    """How often each decision fell on each of the last 30 days."""
    with outside.database.transaction(who.tenant_id) as tx:
        return tx.all("audit.decisions_by_day", DayCount, tenant_id=who.tenant_id, since=first_day(now))


def decisions(
    outside: Outside, who: Principal, sought: Sought, now: datetime, *, before: Place | None, limit: int
) -> list[Decided]:
    """One page of the last 30 days' decisions."""
    with outside.database.transaction(who.tenant_id) as tx:
        return tx.all(
            "audit.decisions",
            Decided,
            tenant_id=who.tenant_id,
            since=now - SPAN,
            decision=sought.decision,
            chunk_id=sought.chunk_id,
            trace_id=sought.trace_id,
            at=sought.at,
            limit=limit,
            **_before(before),
        )


def reads(outside: Outside, who: Principal, now: datetime, *, before: Place | None, limit: int) -> list[Read]:
    """One page of the last 30 days' requests that read chunks."""
    with outside.database.transaction(who.tenant_id) as tx:
        return tx.all("audit.reads", Read, tenant_id=who.tenant_id, since=now - SPAN, limit=limit, **_before(before))


def deposits_by_day(outside: Outside, who: Principal, now: datetime) -> list[DayOfDeposits]:
    """What the gates made of texts on each of the last 30 days."""
    with outside.database.transaction(who.tenant_id) as tx:
        return tx.all("audit.deposits_by_day", DayOfDeposits, tenant_id=who.tenant_id, since=first_day(now))


def deposits(outside: Outside, who: Principal, *, before: Place | None, limit: int) -> list[LoggedDeposit]:
    """One page of the ingest log."""
    with outside.database.transaction(who.tenant_id) as tx:
        return tx.all("audit.deposits", LoggedDeposit, tenant_id=who.tenant_id, limit=limit, **_before(before))


def changes(outside: Outside, who: Principal, targets: Sequence[str]) -> list[Change]:
    """The last changes of what admins may change of ``targets``: ids as text."""
    with outside.database.transaction(who.tenant_id) as tx:
        return tx.all("audit.changes", Change, tenant_id=who.tenant_id, targets=list(targets), limit=MOST_CHANGES)


def first_day(now: datetime) -> date:
    """The first of the 30 days that end with today's, in UTC."""
    return (now - SPAN + timedelta(days=1)).date()


def _before(place: Place | None) -> dict[str, Any]:
    time, ident = place or (None, None)
    return {"before_time": time, "before_id": ident}
