"""Many suggestions approved in one call, a part at a time: nobody else of the tenant waits for the whole of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from chalicelib.errors import Problem
from chalicelib.services import quotas
from chalicelib.services.approvals import schedule_nights
from chalicelib.services.outside import Outside
from chalicelib.services.suggestions import Approved, carry_out, generate
from chalicelib.services.tokens import Principal
from chalicelib.storage import sources, suggestions
from chalicelib.storage.connection import Transaction
from chalicelib.storage.suggestions import Suggestion

MOST = 1000  # suggestions that one call of approve-all decides
PART = 50  # suggestions that one transaction decides: others wait so long for the tenant's turn, and no longer

Result = tuple[UUID, Approved | Problem]


def approve_many(
    outside: Outside,
    who: Principal,
    suggestion_ids: Sequence[UUID] | None,
    *,
    correlation_id: str | None,
    now: datetime,
) -> tuple[list[Result], quotas.Allowance]:
    """Approve the given suggestions, or all open ones (None), each with its own result; one mutation of the limit.

    Each part is committed by itself, so what was approved stays so if a later part fails. Raises RateLimited.
    """
    allowance = quotas.count_mutation(outside, who, now)
    if suggestion_ids is None:
        results = _approve_all(outside, who, correlation_id, now)
    else:
        results = _approve_named(outside, who, list(dict.fromkeys(suggestion_ids)), correlation_id, now)
    if not any(isinstance(result, Approved) for _, result in results):
        with quotas.turn(outside, who) as tx:
            allowance = quotas.give_back(tx, who.tenant_id, allowance)
    return results, allowance


def _approve_named(
    outside: Outside, who: Principal, ids: Sequence[UUID], correlation_id: str | None, now: datetime
) -> list[Result]:
    results: list[Result] = []
    for start in range(0, len(ids), PART):
        with quotas.turn(outside, who) as tx:
            results += _approve_part(tx, who, ids[start : start + PART], correlation_id, now)
    return results


def _approve_all(outside: Outside, who: Principal, correlation_id: str | None, now: datetime) -> list[Result]:
    """Each part is what is open when its turn has come, so that two callers at once share the work."""
    with outside.database.transaction(who.tenant_id) as tx:
        generate(tx, who.tenant_id, now)
    results: list[Result] = []
    last: tuple[datetime, UUID] | None = None
    while len(results) < MOST:
        with quotas.turn(outside, who) as tx:
            found = suggestions.open_ids(tx, who.tenant_id, after=last, limit=PART)
            results += _approve_part(tx, who, [ident for _, ident in found], correlation_id, now)
        if len(found) < PART:
            break
        last = found[-1]
    return results


def _approve_part(
    tx: Transaction, who: Principal, ids: Sequence[UUID], correlation_id: str | None, now: datetime
) -> list[Result]:
    """The plain refreshes at once, everything else one by one."""
    suggestions.lock_sources_of(tx, ids)
    approved = _approve_refreshes(tx, who, suggestions.lock_many(tx, ids), correlation_id, now)
    results: list[Result] = []
    for ident in ids:
        if ident in approved:
            results.append((ident, approved[ident]))
            continue
        try:
            with tx.savepoint():
                results.append((ident, carry_out(tx, who, ident, correlation_id, now)))
        except Problem as problem:
            results.append((ident, problem))
    return results


def _approve_refreshes(
    tx: Transaction, who: Principal, asked: dict[UUID, Suggestion], correlation_id: str | None, now: datetime
) -> dict[UUID, Approved]:
    """Those that nothing stands against: open, of a page that is on, about which nothing else is decided here."""
    questions = Counter(one.source_id for one in asked.values())
    plain = [one for one in asked.values() if one.kind == "refresh" and one.state == "open"]
    plain = [one for one in plain if questions[one.source_id] == 1]
    found = sources.get_many(tx, [one.source_id for one in plain])
    pages = [source for source in found if source.active and source.type == "url"]
    events = schedule_nights(tx, pages, correlation_id=correlation_id, now=now)
    approved = {one.id: Approved(one.id, events[one.source_id]) for one in plain if one.source_id in events}
    answers = {ident: one.event.id for ident, one in approved.items() if one.event}
    suggestions.approve_many(tx, answers, now=now, decided_by=who.admin_token_id)
    return approved
