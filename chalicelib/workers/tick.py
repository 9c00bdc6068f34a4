"""What the schedule calls once a minute."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from chalicelib import bootstrap
from chalicelib.services import scheduling
from chalicelib.telemetry import logger


def run() -> dict[str, Any]:
    """One tick; what it did, in events."""
    ticked = asdict(scheduling.tick(bootstrap.outside(), now=datetime.now(UTC)))
    logger.info("tick", **ticked)
    return ticked
