"""What services see of the world: handed in by bootstrap, or by a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from chalicelib.embedding.model import Embedder
from chalicelib.fetching.ssrf import FetchPolicy, FetchResult, Validators
from chalicelib.keys import Keyring
from chalicelib.meter import Meter
from chalicelib.queueing.messages import Depths, Message
from chalicelib.settings import Settings
from chalicelib.storage.connection import Database
from chalicelib.tracing import Tracer


class Fetch(Protocol):
    """The guarded fetch with its policy bound. Raises FetchError."""

    def __call__(self, url: str, *, validators: Validators | None, no_cache: bool) -> FetchResult: ...


class Queue(Protocol):
    """The way from tick to worker."""

    def send(self, messages: Sequence[Message]) -> list[UUID]:
        """Send all, ten at a time; the ids of those that were not taken."""

    def is_idle(self) -> bool:
        """Whether no message waits and none is being worked on. False if that can't be learned."""

    def depths(self) -> Depths:
        """How much waits, here and among the dead letters."""


@dataclass(frozen=True, slots=True)
class Outside:
    """Everything that a service may reach beyond its arguments."""

    settings: Settings
    database: Database
    fetch: Fetch
    fetch_policy: FetchPolicy
    embedder: Embedder
    queue: Queue
    keys: Keyring
    meter: Meter
    tracer: Tracer
    clock_lead: timedelta = timedelta(minutes=1)
    """So far may a clock of ours be ahead of the database's; one that is further ahead does no work."""
