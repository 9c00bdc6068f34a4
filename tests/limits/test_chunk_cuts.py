"""Two hundred edits of long pages, and what each costs."""

from __future__ import annotations

import random

import pytest

from tests.unit.domain.test_chunk_cuts import PAGES, SENTENCE, cost


@pytest.mark.parametrize("page", PAGES, ids=[page[:12] for page in PAGES])
def test_an_edit_costs_few_chunks_wherever_it_is(page: str) -> None:
    rng = random.Random(7)
    lines = page.split("\n")
    costs = []
    for _ in range(8):
        at = rng.randrange(len(lines))
        costs.append(cost(page, "\n".join([*lines[:at], f"{SENTENCE} {lines[at]}", *lines[at + 1 :]])))
        costs.append(cost(page, "\n".join(lines[:at] + lines[at + 1 :])))
    assert max(costs) <= 5
    assert sum(costs) / len(costs) <= 2
