"""What work leaves behind goes after a while: finished events, answered suggestions, texts that were held for them.

The tick walks all sources in the order of their ids and begins anew at the end, once a day at most. A source's rows are
found by its id, so a tick reads what it looks at and no table; ids are random, so every tenant has its part of each.
Versions, chunks, policies and the record of decisions are no part of this.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.services.outside import Outside

SOURCES_A_BATCH = 100  # that one transaction looks at
BATCHES_A_TICK = 10
ROWS_A_SOURCE = 20  # of each kind and round: a backlog takes some rounds
ENOUGH_ROWS = 5_000  # a tick that has dropped so many leaves the rest to the next


@dataclass(frozen=True, slots=True)
class Dropped:
    """How many rows went."""

    events: int = 0
    suggestions: int = 0
    held_texts: int = 0


def drop(outside: Outside, *, now: datetime) -> Dropped:
    """Do a tick's part of the walk. Two at once are safe: the second finds its place taken and does nothing."""
    total = Dropped()
    for _ in range(BATCHES_A_TICK):
        dropped = _drop_batch(outside, now)
        if dropped is None:
            break
        total = Dropped(
            total.events + dropped.events,
            total.suggestions + dropped.suggestions,
            total.held_texts + dropped.held_texts,
        )
        if total.events + total.suggestions >= ENOUGH_ROWS:
            break
    return total


def _drop_batch(outside: Outside, now: datetime) -> Dropped | None:
    """One transaction of the walk; None if it is over for today, or another tick's."""
    with outside.database.transaction() as tx:
        place = tx.row("finished_work.take_place", today=now.date())
        if place is None:
            return None
        gone = tx.row(
            "finished_work.drop",
            after=place["dropped_upto"],
            before=now - timedelta(days=outside.settings.work_kept_days),
            now=now,
            sources=SOURCES_A_BATCH,
            rows=ROWS_A_SOURCE,
        )
        assert gone is not None
        last = gone.pop("last_source")
        tx.run("finished_work.keep_place", last_source=last, begins=place["dropped_upto"] is None, today=now.date())
        return Dropped(**gone)
