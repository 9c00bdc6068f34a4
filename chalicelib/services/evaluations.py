"""The record of decisions: read, exported, proven whole, sealed and let go."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

import rfc8785

from chalicelib.domain.evaluation_record import Form, Recorder
from chalicelib.keys import Keyring
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction
from chalicelib.telemetry import logger

SEALED = "sealed a head"
KEPT_DAYS = {"allow": 30, "block": 365}
ROWS_A_READ = 1000
SEALS_A_TICK = 2000  # and so of lines in the log; 24 ticks a day seal the heads of 24 000 tenants


@dataclass(frozen=True, slots=True)
class Filters:
    """Which decisions: from ``since`` on and before ``until``; None lets everything through."""

    since: datetime
    until: datetime
    decision: str | None = None
    chunk_id: UUID | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Where the record is not what it was. ``number`` is a row's place in its segment, None stands for the head."""

    kind: str
    day: date
    number: int | None
    what: str


@dataclass(frozen=True, slots=True)
class Head:
    """A sealed head of a segment; hash and HMAC in hex. The log has it too, under the same names."""

    kind: str
    day: date
    row_count: int
    last_hash: str
    seal: str
    key_id: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What was looked at, what was wrong with it, the sealed heads, and rows of older segments that were left out."""

    segments: int
    rows: int
    faults: list[Fault]
    heads: list[Head]
    left_out: int = 0


def page(
    outside: Outside, who: Principal, filters: Filters, *, after: tuple[datetime, UUID] | None, limit: int
) -> list[dict[str, Any]]:
    """One page of decisions, oldest first."""
    time, ident = after or (None, None)
    with outside.database.transaction(who.tenant_id) as tx:
        return tx.rows(
            "firewall.page",
            tenant_id=who.tenant_id,
            since=filters.since,
            until=filters.until,
            decision=filters.decision,
            chunk_id=filters.chunk_id,
            role=filters.role,
            after_time=time,
            after_id=ident,
            limit=limit,
        )


def verify(outside: Outside, who: Principal, *, most_rows: int | None = None) -> Verified:
    """Walk every chain of the tenant from its first row to its head, and every seal.

    Finds a row that was edited, taken out, put in another place or cut off the end, and a head that was changed after
    it was sealed. What retention dropped is known by its sealed head; a segment that was dropped before its time is
    found. With ``most_rows`` only the newest segments that together have no more are walked; the seals are looked at
    all the same.
    """
    rows = left_out = 0
    faults: list[Fault] = []
    with outside.database.transaction(who.tenant_id) as tx:
        segments = tx.rows("firewall.segments", tenant_id=who.tenant_id)
        before: dict[str, str | None] = {}
        walked = _newest(segments, most_rows)
        for segment in segments:
            if segment["dropped_at"] is not None:
                faults += _check_drop(segment)
            elif (segment["kind"], segment["day"]) not in walked:
                left_out += segment["row_count"]
            else:
                seen, wrong = _walk(tx, segment)
                rows += seen
                faults += wrong
            faults += _check_seal(outside.keys, segment, before.get(segment["kind"]))
            before[segment["kind"]] = segment["seal"]
    heads = [_head(segment) for segment in segments if segment["sealed_at"] is not None]
    return Verified(len(segments), rows, faults, heads, left_out)


def seal(outside: Outside, *, now: datetime) -> int:
    """Seal the heads of finished days into each other, oldest first, and log each; for the tick. Returns how many.

    Logged before the commit: a seal that is made again says the same, and none goes without its line.
    """
    with outside.database.transaction() as tx:
        tx.run("firewall.lock_seals")
        due = tx.rows("firewall.to_seal", today=now.date(), limit=SEALS_A_TICK)
        sealed: dict[tuple[UUID, str], str] = {}
        for segment in due:
            chain = (segment["tenant_id"], segment["kind"])
            message = _head_message(segment, sealed.get(chain, segment["before"]))
            key_id, mac = outside.keys.sign("head", message)
            sealed[chain] = mac
            named = {name: segment[name] for name in ("tenant_id", "kind", "day")}
            tx.run("firewall.seal", **named, seal=mac, key_id=key_id, now=now)
            head = asdict(_head({**segment, "seal": mac, "key_id": key_id}))
            logger.info(SEALED, tenant_id=str(segment["tenant_id"]), **{**head, "day": head["day"].isoformat()})
        return len(due)


def retain(outside: Outside, *, now: datetime) -> int:
    """Drop whole sealed segments that are older than they must be kept; their heads stay. Returns rows dropped."""
    with outside.database.transaction() as tx:
        return sum(
            tx.run("firewall.drop_segments", kind=kind, before=now.date() - timedelta(days=days), now=now)
            for kind, days in KEPT_DAYS.items()
        )


def _newest(segments: list[dict[str, Any]], most_rows: int | None) -> set[tuple[str, date]]:
    """Kind and day of the newest segments that together have at most so many rows; None: of all."""
    taken: set[tuple[str, date]] = set()
    rows = 0
    for segment in sorted(segments, key=lambda one: one["day"], reverse=True):
        rows += 0 if segment["dropped_at"] else segment["row_count"]
        if most_rows is not None and rows > most_rows:
            break
        taken.add((segment["kind"], segment["day"]))
    return taken


def _walk(tx: Transaction, segment: dict[str, Any]) -> tuple[int, list[Fault]]:
    kind, day = segment["kind"], segment["day"]
    last = hashlib.sha256(f"{segment['tenant_id']} {day} {kind}".encode()).digest()
    number = 0
    faults: list[Fault] = []
    for row in _rows(tx, segment):
        number += 1
        if row["number"] != number:
            return number - 1, [*faults, Fault(kind, day, number, "missing")]
        last = hashlib.sha256(last + hashlib.sha256(_record(row)).digest()).digest()
        if (row["row_hash"], row["id"].bytes) != (last, last[:16]):
            return number, [*faults, Fault(kind, day, number, "edited")]
    if (number, last) != (segment["row_count"], segment["last_hash"]):
        faults.append(Fault(kind, day, number + 1, "cut off"))
    return number, faults


def _rows(tx: Transaction, segment: dict[str, Any]) -> Iterator[dict[str, Any]]:
    after = 0
    named = {name: segment[name] for name in ("tenant_id", "kind", "day")}
    upto = segment["row_count"]  # what a reader appends meanwhile is for the next walk
    while batch := tx.rows("firewall.segment_rows", **named, after=after, upto=upto, limit=ROWS_A_READ):
        yield from batch
        after = batch[-1]["number"]


def _record(row: dict[str, Any]) -> bytes:
    """The decision's canonical JSON again, from the columns that people read."""
    context = (row["tenant_id"], row["role"], row["purpose"], row["operator"], row["trace_id"], row["mode"])
    form = _form(row["evaluated_at"], row["decision"], row["reason"], *map(str, context))
    return form.record(str(row["chunk_id"]), str(row["source_id"]), row["version"], row["policy_digest"])


@lru_cache(maxsize=64)  # the rows of one read follow each other
def _form(evaluated_at: datetime, decision: str, reason: str, *context: str) -> Form:
    names = ("tenant_id", "role", "purpose", "operator", "trace_id", "mode")
    return Recorder(dict(zip(names, context, strict=True)), evaluated_at).form(decision, reason)


def _check_drop(segment: dict[str, Any]) -> list[Fault]:
    """Retention is the only one that may drop, and drops nothing before its time."""
    kept = timedelta(days=KEPT_DAYS[segment["kind"]])
    if segment["sealed_at"] is not None and segment["day"] < segment["dropped_at"].astimezone(UTC).date() - kept:
        return []
    return [Fault(segment["kind"], segment["day"], None, "dropped before its time")]


def _check_seal(keys: Keyring, segment: dict[str, Any], before: str | None) -> list[Fault]:
    if segment["sealed_at"] is None:
        return []
    if keys.verify("head", _head_message(segment, before), segment["key_id"], segment["seal"]):
        return []
    return [Fault(segment["kind"], segment["day"], None, "head changed after it was sealed")]


def _head(segment: dict[str, Any]) -> Head:
    columns = {name: segment[name] for name in ("kind", "day", "row_count", "seal", "key_id")}
    return Head(**columns, last_hash=segment["last_hash"].hex())


def _head_message(segment: dict[str, Any], before: str | None) -> bytes:
    return rfc8785.dumps(
        {
            "tenant_id": str(segment["tenant_id"]),
            "kind": segment["kind"],
            "day": segment["day"].isoformat(),
            "row_count": segment["row_count"],
            "last_hash": segment["last_hash"].hex(),
            "before": before,
        }
    )
