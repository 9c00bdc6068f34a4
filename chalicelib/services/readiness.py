"""Whether the service can do its work, in one cheap look: for whoever sends requests here, or stops sending them.

Names and yes or no: it is told to everybody, so it tells no more. The doctor says what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

import psycopg

from chalicelib.services.doctor_platform import queue_of, schedule_of
from chalicelib.services.outside import Outside
from chalicelib.storage import migrate
from chalicelib.telemetry import log_unexpected

CHECKS = ("database", "schema", "queue", "schedule")


def examine(outside: Outside, now: datetime) -> dict[str, bool]:
    """Each of ``CHECKS``, and whether it is in order. What can't be known, because the database is silent, is not."""
    try:
        with outside.database.transaction() as tx:
            state = tx.row("doctor.readiness") or {}
    except psycopg.Error as error:
        log_unexpected("the service is not ready", error)
        return dict.fromkeys(CHECKS, False) | {"database": not isinstance(error, psycopg.OperationalError)}
    return {
        "database": True,
        "schema": _is_current(state),
        "queue": queue_of(state).status == "ok",
        "schedule": schedule_of(state, now).status == "ok",
    }


def _is_current(state: Mapping[str, Any]) -> bool:
    """Whether this code's migrations are applied. A newer schema serves this code too."""
    return _wanted() <= set(state["applied"])


@cache
def _wanted() -> frozenset[str]:
    return frozenset(migration.checksum for migration in migrate.files())
