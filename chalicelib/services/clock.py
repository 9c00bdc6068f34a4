"""Our clock against the database's, before anything is written that would outlast a clock that runs ahead."""

from __future__ import annotations

from datetime import datetime

from chalicelib.errors import LarderError
from chalicelib.services.outside import Outside
from chalicelib.storage.connection import Transaction


class ClockAhead(LarderError):
    """This process's clock is further ahead of the database's than is let pass; another one's may be right."""


def require_not_ahead(outside: Outside, tx: Transaction, now: datetime) -> None:
    """Raises ClockAhead if ``now`` is more than ``outside.clock_lead`` after the database's time (ADR 3)."""
    ahead = now - tx.value("doctor.clock")
    if ahead > outside.clock_lead:
        raise ClockAhead(f"our clock is {ahead.total_seconds():.0f} s ahead of the database's")
