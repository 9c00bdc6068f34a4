"""Reciprocal rank fusion: one order from the vector leg's and the keyword leg's (spec 1.4; Cormack et al. 2009).

The search does this in SQL; `fuse` is the reference that the SQL is tested against, and the weights stand here once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar


class Weights(NamedTuple):
    """How much each leg counts. Ranks say nothing of how good a hit is, so the better leg must weigh more."""

    vector: float
    keyword: float


RRF_K = 60
"""Damps the top ranks: with 60 the first is worth little more than the second, so agreement of the legs decides."""

DEFAULT_WEIGHTS = Weights(vector=1.0, keyword=0.5)


class Orderable(Protocol):
    """An id: hashable, and ordered as Postgres orders it (UUIDs and integers are)."""

    def __lt__(self, other: Any, /) -> bool: ...
    def __hash__(self) -> int: ...


Id = TypeVar("Id", bound=Orderable)


def fuse(
    vector_ids: Sequence[Id],
    keyword_ids: Sequence[Id],
    k: int = RRF_K,
    weights: tuple[float, float] = DEFAULT_WEIGHTS,
) -> list[tuple[Id, float]]:
    """Return ``(id, score)``, best first, equal scores by id.

    Both inputs are best first; ranks begin at 1. ``score = sum of weight / (k + rank)`` over the legs that have the
    id; an id that a leg names twice counts where it stands first.
    """
    scores: dict[Id, float] = {}
    for ids, weight in zip((vector_ids, keyword_ids), weights, strict=True):
        for rank, identity in enumerate(_unique(ids), start=1):
            scores[identity] = scores.get(identity, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _unique(ids: Iterable[Id]) -> Iterable[Id]:
    return dict.fromkeys(ids)
