"""The queue and who hands it out, in memory: at least once, as SQS with Lambda's poller does."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from chalicelib.queueing.messages import Depths, Message

VISIBILITY = timedelta(seconds=2520)  # as in the template: what was taken and not deleted comes back after so long
MAX_RECEIVES = 5
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass
class Parcel:
    """One message in the queue: when it can be taken, and how often it was."""

    event_id: UUID
    visible_at: datetime
    receives: int = 0


class Delivery:
    """Messages by the tick, ``duplicates`` (a share from 0 to 1) of them twice; ``now`` is the caller's clock."""

    def __init__(self, duplicates: float, rng: random.Random) -> None:
        self._duplicates, self._rng = duplicates, rng
        self._parcels: list[Parcel] = []
        self.dead: list[Parcel] = []
        self.sent = self.duplicated = self.received = 0

    def send(self, messages: Sequence[Message]) -> list[UUID]:
        """Take all; the queue's own fault is that some are there twice."""
        for message in messages:
            twice = self._rng.random() < self._duplicates
            for _ in range(1 + twice):
                place = self._rng.randint(0, len(self._parcels))  # no order is promised
                self._parcels.insert(place, Parcel(message.event_id, _LONG_AGO))
            self.sent += 1
            self.duplicated += twice
        return []

    def take(self, now: datetime) -> Parcel | None:
        """The next message that can be seen, out of sight from now on; what was taken too often goes to the dead."""
        for parcel in [parcel for parcel in self._parcels if parcel.visible_at <= now]:
            if parcel.receives < MAX_RECEIVES:
                parcel.receives += 1
                parcel.visible_at = now + VISIBILITY
                self.received += 1
                return parcel
            self._parcels.remove(parcel)
            self.dead.append(parcel)
        return None

    def delete(self, parcel: Parcel) -> None:
        """The message was done."""
        if parcel in self._parcels:
            self._parcels.remove(parcel)

    def is_idle(self) -> bool:
        """Whether nothing waits and nothing is being worked on."""
        return not self._parcels

    def depths(self) -> Depths:
        """How much waits, here and among the dead letters."""
        return Depths(len(self._parcels), len(self.dead))
