"""Every metric, once: name, unit, dimension, help. A ``meter.Meter`` sends what is measured.

Each stands under the deployment's name, the dimension ``service``. Another dimension takes words of a closed list, so
no tenant, address, host or query can get into one; a word that is not in the list counts as ``other``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from chalicelib.domain.outcome import Outcome
from chalicelib.fetching.errors import Reason

NAMESPACE = "Larder"
OTHER = "other"

Unit = Literal["Count", "Milliseconds"]


@dataclass(frozen=True, slots=True)
class Dimension:
    """What a metric is told apart by, and every word that may stand there beside ``other``."""

    name: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric, as CloudWatch has it."""

    name: str
    unit: Unit
    help: str
    dimension: Dimension | None = None

    def of(self, value: float = 1, word: str = OTHER) -> Sample:
        """So much of it; ``word`` is the dimension's."""
        known = self.dimension is not None and word in self.dimension.words
        return Sample(self, value, word if known else OTHER)


@dataclass(frozen=True, slots=True)
class Sample:
    """A value that was measured."""

    metric: Metric
    value: float
    word: str


_REFUSED = "refused:"
_REFUSALS = {reason.removeprefix(_REFUSED) for reason in Reason if reason.startswith(_REFUSED)}

_STATUS = Dimension("status", frozenset(Outcome))
_REASON = Dimension("reason", frozenset({*_REFUSALS, "robots"}))
_LIMIT = Dimension("limit", frozenset({"mutations", "widget"}))

TICKS_DONE = Metric("TicksDone", "Count", "Runs of the dispatcher that came to their end; one a minute.")
SOURCES_DUE = Metric("SourcesDue", "Count", "Sources whose refresh was due when a tick began; 10000 is 10000 or more.")
EVENTS_DISPATCHED = Metric("EventsDispatched", "Count", "Refreshes that a tick sent to the workers.")
EVENTS_UNSENT = Metric("EventsUnsent", "Count", "Refreshes that the queue did not take; a later tick sends them.")
EVENTS_SWEPT = Metric("EventsSwept", "Count", "Refreshes whose worker or message was lost and that wait once more.")
CAPS_REACHED = Metric(
    "CapsReached", "Count", "Tenants with something due in a tick whose cap leaves no room in this night."
)
EVENTS_DROPPED = Metric(
    "EventsDropped", "Count", "Finished events that a tick deleted, since they were kept long enough."
)
SUGGESTIONS_DROPPED = Metric(
    "SuggestionsDropped", "Count", "Answered suggestions that a tick deleted, since they were kept long enough."
)
REFRESHES = Metric("Refreshes", "Count", "Refreshes that ended, by their status word.", _STATUS)
GUARD_REFUSALS = Metric("GuardRefusals", "Count", "Exchanges that the guard refused, by its reason.", _REASON)
VERSIONS_WRITTEN = Metric("VersionsWritten", "Count", "New versions of sources.")
CHUNKS_EMBEDDED = Metric("ChunksEmbedded", "Count", "Chunks of a new text that the model embedded.")
CHUNKS_REUSED = Metric(
    "ChunksReused", "Count", "Chunks of a new text whose vector was known, from the version before or from the cache."
)
FETCH_TIME = Metric("FetchTime", "Milliseconds", "How long a refresh waited for the site, its robots.txt included.")
EMBED_TIME = Metric("EmbedTime", "Milliseconds", "How long a refresh waited for the model.")
QUEUE_AGE = Metric("QueueAge", "Milliseconds", "How old a message was when a worker took it up.")
MESSAGES_FAILED = Metric(
    "MessagesFailed", "Count", "Messages that a worker could not do; the queue delivers them again, five times in all."
)
RATE_LIMITED = Metric("RateLimited", "Count", "Requests that were refused because a limit was used up.", _LIMIT)

CATALOGUE = (
    TICKS_DONE,
    SOURCES_DUE,
    EVENTS_DISPATCHED,
    EVENTS_UNSENT,
    EVENTS_SWEPT,
    CAPS_REACHED,
    EVENTS_DROPPED,
    SUGGESTIONS_DROPPED,
    REFRESHES,
    GUARD_REFUSALS,
    VERSIONS_WRITTEN,
    CHUNKS_EMBEDDED,
    CHUNKS_REUSED,
    FETCH_TIME,
    EMBED_TIME,
    QUEUE_AGE,
    MESSAGES_FAILED,
    RATE_LIMITED,
)


def refusals(reasons: Iterable[str | None]) -> list[Sample]:
    """Those of ``reasons`` by which the guard, or a site's robots.txt, kept us from an exchange."""
    return [
        GUARD_REFUSALS.of(1, reason.removeprefix(_REFUSED))
        for reason in reasons
        if reason is not None and reason.startswith(_REFUSED)
    ]
