"""Many providers' results in one order (spec 3.4): priority, then score or turn, then order of registration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, zip_longest
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Batch(Generic[T]):
    """What one provider found, in its own order, each with its score (None: it gave none).

    ``priority``: lower goes first. ``scoring``: the provider declares that its scores can be compared with others'.
    """

    priority: int
    scoring: bool
    items: Sequence[tuple[T, float | None]]


def merge(batches: Sequence[Batch[T]], limit: int) -> list[T]:
    """The best ``limit`` of all. ``batches`` come in order of registration, which decides between equals.

    Inside one priority the scored results of scoring providers go first, the highest score ahead; a scoring provider's
    result without a score goes behind those. The others follow in turns, one of each provider at a time. Nothing is
    taken for a duplicate: two registrations that hold the same document answer twice.
    """
    ordered = sorted(batches, key=lambda batch: batch.priority)  # stable: equals stay in order of registration
    merged = (
        item for _, band in groupby(ordered, key=lambda batch: batch.priority) for item in _one_priority(list(band))
    )
    return list(islice(merged, limit))


def _one_priority(band: Sequence[Batch[T]]) -> Iterator[T]:
    scored = [pair for batch in band if batch.scoring for pair in batch.items]
    yield from (item for item, _ in sorted(scored, key=lambda pair: float("inf") if pair[1] is None else -pair[1]))
    turns = zip_longest(*([(item,) for item, _ in batch.items] for batch in band if not batch.scoring))
    yield from (place[0] for turn in turns for place in turn if place is not None)
