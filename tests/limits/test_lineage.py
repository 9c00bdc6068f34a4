"""A page that is guarded and changed from end to end."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from chalicelib.domain.lineage import Guarded, descents

EARLY = datetime(2026, 11, 30, tzinfo=UTC)


def test_a_page_that_is_guarded_and_changed_from_end_to_end_takes_seconds() -> None:
    texts = {f"g{n}": " ".join(f"word{n}x{k}" for k in range(100)) for n in range(120)}
    new = {f"n{n}": f"{text} more" for n, text in enumerate(texts.values())}
    started = time.process_time()
    said = {name: Guarded(text, int(name[1:]) % 3, EARLY) for name, text in texts.items()}
    found = descents(list(texts.items()), list(new.items()), said)
    assert time.process_time() - started < 20
    assert {heir for heir, _ in found} == set(new)
    assert len(found) <= 3 * len(new)
