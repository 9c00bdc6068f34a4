"""What the schedule calls once a minute."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from chalicelib import bootstrap, metrics
from chalicelib.services import scheduling
from chalicelib.telemetry import logger


def run(request_id: str = "") -> dict[str, Any]:
    """One tick; what it found and did. ``request_id``: the invocation's, which its log lines bear."""
    logger.set_correlation_id(request_id)
    outside = bootstrap.outside()
    with outside.tracer.span("tick"):
        ticked = scheduling.tick(outside, now=datetime.now(UTC))
    logger.info("tick", **asdict(ticked))
    outside.meter.emit(
        metrics.TICKS_DONE.of(),
        metrics.SOURCES_DUE.of(ticked.due),
        metrics.EVENTS_DISPATCHED.of(ticked.dispatched),
        metrics.EVENTS_UNSENT.of(ticked.unsent),
        metrics.EVENTS_SWEPT.of(ticked.leases_swept + ticked.lost_swept),
        metrics.CAPS_REACHED.of(ticked.caps_reached),
        metrics.EVENTS_DROPPED.of(ticked.dropped.events),
        metrics.SUGGESTIONS_DROPPED.of(ticked.dropped.suggestions),
    )
    return asdict(ticked)
