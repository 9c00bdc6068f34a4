"""How long it is kept what the gates made of each text (spec 2.3 has the same spans for decisions)."""

from __future__ import annotations

from datetime import datetime, timedelta

from chalicelib.services.outside import Outside

ADMITTED_KEPT = timedelta(days=30)
"""Rows of texts that came in as they were."""

REST_KEPT = timedelta(days=365)
"""Rows of texts that were refused, held, redacted, or let in unscanned."""

ROWS_A_BATCH = 2000
BATCHES_A_TICK = 50


def retain(outside: Outside, *, now: datetime) -> int:
    """Drop rows that are older than they must be kept, some at a time; how many. The next hour drops what is left."""
    dropped = 0
    for name, kept in (("ingest_log.drop_admitted", ADMITTED_KEPT), ("ingest_log.drop_rest", REST_KEPT)):
        for _ in range(BATCHES_A_TICK):
            with outside.database.transaction() as tx:
                gone = tx.run(name, before=now - kept, limit=ROWS_A_BATCH)
            dropped += gone
            if gone < ROWS_A_BATCH:
                break
    return dropped
