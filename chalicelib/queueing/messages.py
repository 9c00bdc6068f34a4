"""The message from tick to worker: an event id and nothing secret. The correlation id travels as an attribute."""

from __future__ import annotations

import json
from dataclasses import dataclass
from uuid import UUID

from chalicelib.errors import LarderError

CORRELATION_ATTRIBUTE = "correlation_id"


@dataclass(frozen=True, slots=True)
class Message:
    """Which event to do, and the correlation id of the request that approved it."""

    event_id: UUID
    correlation_id: str | None


@dataclass(frozen=True, slots=True)
class Depths:
    """Messages that wait or are being worked on, in the queue and among its dead letters; None: can't be learned."""

    waiting: int | None
    dead: int | None


class MalformedMessage(LarderError):
    """A body that no tick of ours wrote; it ends in the dead-letter queue."""


def body_of(event_id: UUID) -> str:
    """The body that says: do this event."""
    return json.dumps({"event_id": str(event_id)}, separators=(",", ":"))


def event_id_in(body: str) -> UUID:
    """The event that ``body`` names. Raises MalformedMessage."""
    try:
        return UUID(json.loads(body)["event_id"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedMessage("the message names no event") from error
