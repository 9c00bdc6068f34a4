"""Which chunks a search found, kept for a moment for who asked (spec 2.6): ids and scores, never a text.

Off unless ``LARDER_SEARCH_CACHE_SECONDS`` says otherwise. What is recalled is read, judged and audited like any other
answer. Any write to the tenant's sources, chunks or policies ends what was kept before it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from chalicelib.services.enforcement import Reading
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction


@dataclass(frozen=True, slots=True)
class Ranked:
    """Chunks by their rows' ids, best first, and their scores."""

    row_ids: list[int]
    scores: list[float]


class SearchCache:
    """What was found for one principal's one question."""

    def __init__(self, outside: Outside, who: Principal, reading: Reading, asked: Sequence[Any]) -> None:
        self._outside, self._who, self._reading, self._asked = outside, who, reading, asked

    @property
    def seconds(self) -> int:
        """How long an answer is kept; 0: there is no cache, as on every way that leads to customers."""
        return 0 if self._reading.always_enforce else self._outside.settings.search_cache_seconds

    def recall(self, tx: Transaction, now: datetime) -> Ranked | None:
        """What was found, unless it has run out or something was written since."""
        return tx.one("search_cache.recall", Ranked, tenant_id=self._who.tenant_id, key=self._key(), now=now)

    def snapshot(self, tx: Transaction) -> str | None:
        """To be taken before the search: what is written from now on ends what the search will find."""
        return tx.value("search_cache.snapshot") if self.seconds else None

    def keep(self, tx: Transaction, ranked: Ranked, snapshot: str | None, now: datetime) -> None:
        """Keep what was found since ``snapshot``."""
        if snapshot is not None:
            tx.run(
                "search_cache.keep",
                tenant_id=self._who.tenant_id,
                key=self._key(),
                row_ids=ranked.row_ids,
                scores=ranked.scores,
                snapshot=snapshot,
                expires_at=now + timedelta(seconds=self.seconds),
                rows=self._outside.settings.search_cache_rows,
                now=now,
            )

    def _key(self) -> bytes:
        """Everything that the answer depends on, but the texts and policies, whose writes end it."""
        request = asdict(self._reading.request)
        parts = [str(self._who.token_id), request, self._reading.mode, *self._asked]
        message = json.dumps(parts, default=str).encode()
        return bytes.fromhex(self._outside.keys.sign("search cache", message)[1])


def sweep(outside: Outside, now: datetime) -> dict[str, int]:
    """Take out what has run out, whoever's it is; how much of it. For the scheduled function."""
    with outside.database.transaction() as tx:
        return {
            "searches": tx.run("search_cache.drop_answers", now=now),
            "writes": tx.run("search_cache.drop_writes", now=now),
        }
