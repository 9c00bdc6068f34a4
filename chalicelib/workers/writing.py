"""What the queue calls for a text that a model is to write. The clock is read before each move."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from chalicelib.services import summary_writing
from chalicelib.services.outside import Outside
from chalicelib.telemetry import logger


def run(outside: Outside, proposal_id: UUID, *, clock: Callable[[], datetime]) -> str | None:
    """Do one piece of writing; how it ended, None if there is nothing to do.

    Raises whatever is unexpected, after the work was made available to the next delivery.
    """
    writing = summary_writing.begin(outside, proposal_id, now=clock())
    if writing is None:
        return None
    try:
        came = summary_writing.compose(outside, writing)
        result = summary_writing.finish(outside, writing, came, now=clock())
    except Exception:
        summary_writing.give_up(outside, writing)
        raise
    cause = came.cause if isinstance(came, summary_writing.Failed) else None
    logger.info("written", proposal_id=str(proposal_id), result=result, cause=cause)
    return result
