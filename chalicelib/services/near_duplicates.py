"""Looking for texts that say nearly the same, so many at a time, because an admin asked for it (spec 2.6).

One call looks at `PAGE` chunks and at the `NEIGHBOURS` nearest to each, which the vector index finds; it brings ids,
policies and lengths into memory, at most `PAGE` × `NEIGHBOURS` of them, and no text. No schedule calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from chalicelib.domain import near_duplicate, policy
from chalicelib.domain.near_duplicate import Candidate
from chalicelib.services import enforcement, quotas
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction

PAGE = 200  # chunks a call
NEIGHBOURS = 10  # of each, itself among them
MOST_OPEN = 200  # extractive proposals of a tenant that wait for an answer

Place = tuple[UUID, int]
"""A chunk's source and its index in it."""

Text = tuple[UUID, str]
"""A source and a hash."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """What one page brought. ``next_place`` None: that was the last. ``full``: there is no room for more proposals."""

    examined: int
    proposed: int
    next_place: Place | None
    full: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts to ask about."""

    name: str
    kept: Candidate
    other: Candidate
    similarity: float


def scan(
    outside: Outside, who: Principal, after: Place | None, now: datetime
) -> tuple[Scanned, quotas.Allowance | None]:
    """Look at the page after a place and propose what it finds. A page that proposes nothing is no mutation.

    Raises RateLimited.
    """
    with outside.database.transaction(who.tenant_id) as tx:
        last = _last(tx, who.tenant_id, after)
        if last is None:
            return Scanned(0, 0, None, full=False), None
        pairs = _unasked(tx, who.tenant_id, _pairs(tx, who.tenant_id, after, last, now))
        room = _room(tx, who.tenant_id)
    reached: Place = (last["source_id"], last["chunk_index"])
    following = reached if last["examined"] == PAGE else None
    if not pairs:
        return Scanned(last["examined"], 0, following, full=False), None
    if room <= 0:
        return Scanned(last["examined"], 0, after, full=True), None
    with quotas.mutation(outside, who, now) as (tx, allowance):
        tx.run("consolidation.lock", tenant_id=who.tenant_id)
        room = _room(tx, who.tenant_id)
        proposed = _propose(tx, who.tenant_id, _still(tx, pairs, now), room, now)
        if not proposed:
            allowance = quotas.give_back(tx, who.tenant_id, allowance)
    if proposed >= room:  # there may be more here: the same page again, once there is room
        return Scanned(last["examined"], proposed, after, full=True), allowance
    return Scanned(last["examined"], proposed, following, full=False), allowance


def standing(tx: Transaction, texts: Iterable[Text]) -> dict[Text, Candidate]:
    """The texts that are current, of sources that are on, and not superseded, by source and hash."""
    wanted = list(texts)
    rows = tx.rows(
        "consolidation.standing", sources=[one for one, _ in wanted], hashes=[digest for _, digest in wanted]
    )
    return {(row["source_id"], row["content_hash"]): _candidate(row) for row in rows}


def _last(tx: Transaction, tenant_id: UUID, after: Place | None) -> dict[str, Any] | None:
    return tx.row("consolidation.last_of_page", tenant_id=tenant_id, **_after(after), limit=PAGE)


def _pairs(tx: Transaction, tenant_id: UUID, after: Place | None, last: dict[str, Any], now: datetime) -> list[Pair]:
    tx.row("search.prepare")
    rows = tx.rows(
        "consolidation.neighbours",
        tenant_id=tenant_id,
        **_after(after),
        last_source=last["source_id"],
        last_index=last["chunk_index"],
        neighbours=NEIGHBOURS,
        threshold=near_duplicate.SIMILARITY,
    )
    near = [
        ((row["source_id"], row["content_hash"]), (row["near_source_id"], row["near_hash"]), row["similarity"])
        for row in rows
    ]
    return list({one.name: one for one in _joined(tx, near, now)}.values())


def _still(tx: Transaction, pairs: list[Pair], now: datetime) -> list[Pair]:
    """Those that hold, as they hold now that nobody accepts or proposes: a moment lies between looking and asking."""
    near = [(_text(one.kept), _text(one.other), one.similarity) for one in pairs]
    return list(_joined(tx, near, now))


def _joined(tx: Transaction, near: Sequence[tuple[Text, Text, float]], now: datetime) -> Iterator[Pair]:
    found = standing(tx, {text for first, second, _ in near for text in (first, second)})
    for first, second, similarity in near:
        one, other = found.get(first), found.get(second)
        if one and other and near_duplicate.may_join(one, other, now):
            yield Pair(near_duplicate.pair(one, other), *near_duplicate.keep(one, other), similarity)


def _unasked(tx: Transaction, tenant_id: UUID, pairs: list[Pair]) -> list[Pair]:
    rows = tx.rows(
        "consolidation.unasked",
        tenant_id=tenant_id,
        pairs=[one.name for one in pairs],
        sources=[one.other.source_id for one in pairs],
        hashes=[one.other.content_hash for one in pairs],
    )
    names = {row["pair"] for row in rows}
    return [one for one in pairs if one.name in names]


def _room(tx: Transaction, tenant_id: UUID) -> int:
    return MOST_OPEN - int(tx.value("consolidation.count_open", tenant_id=tenant_id))


def _text(one: Candidate) -> Text:
    return one.source_id, one.content_hash


def _propose(tx: Transaction, tenant_id: UUID, pairs: list[Pair], room: int, now: datetime) -> int:
    """Ask about pairs that were not asked about, the nearest first, while there is room."""
    made = 0
    for one in sorted(pairs, key=lambda one: (-one.similarity, one.name)):
        if made >= room:
            break
        made += tx.run("consolidation.propose", **_columns(tenant_id, one, now))
    return made


def _columns(tenant_id: UUID, one: Pair, now: datetime) -> dict[str, Any]:
    return {
        "tenant_id": tenant_id,
        "kind": "extractive",
        "state": "open",
        "pair": one.name,
        "similarity": one.similarity,
        "kept_source_id": one.kept.source_id,
        "kept_hash": one.kept.content_hash,
        "kept_chunk_id": one.kept.chunk_id,
        "other_source_id": one.other.source_id,
        "other_hash": one.other.content_hash,
        "other_chunk_id": one.other.chunk_id,
        "policy_digest": policy.rules_digest(one.kept.policy),
        "now": now,
    }


def _candidate(row: dict[str, Any]) -> Candidate:
    names = ("source_id", "content_hash", "chunk_id", "characters", "since")
    return Candidate(**{name: row[name] for name in names}, policy=enforcement.policy_of(row))


def _after(place: Place | None) -> dict[str, Any]:
    source, index = place or (None, None)
    return {"after_source": source, "after_index": index}
