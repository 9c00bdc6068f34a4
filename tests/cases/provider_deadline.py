"""The deadline of a question to providers: a case with a limit waits for it in earnest, or for a part of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

from chalicelib.knowledge import broker
from chalicelib.knowledge.exchange import SECONDS, Post
from chalicelib.services import consult

TIMES = ("max_elapsed_s", "max_seconds", "deadline_s", "elapsed_max_s", "elapsed_s_max")
"""Limits in seconds."""

SCALE = 1.0
"""By how much the broker's deadline, whatever it is, and a case's limit are shortened; the project's tests do."""
SLACK_SECONDS = 0.8
"""For the rest of the way, on a busy machine; less than a limit of ten seconds at a tenth of its length."""


@dataclass
class Timing:
    """How long a question took, in seconds of this machine, and by how much its deadline was shortened."""

    scale: float
    elapsed: float = 0.0

    def is_within(self, limit: float) -> bool:
        """Whether it took no longer than ``limit`` seconds at their full length."""
        return self.elapsed <= limit * self.scale + SLACK_SECONDS

    def __str__(self) -> str:
        return f"{self.elapsed:.1f} s at a scale of {self.scale:g}"


@contextmanager
def hurried(timed: bool) -> Iterator[Timing]:
    """Time what is done meanwhile; where a case has a limit, at `SCALE` of the deadline that the broker is given."""
    timing = Timing(SCALE if timed else 1.0)

    def ask_all(
        targets: Sequence[broker.Target],
        question: broker.Question,
        *,
        post: Post,
        clock: broker.Clock,
        seconds: float = SECONDS,
    ) -> list[broker.Reply]:
        return broker.ask_all(targets, question, post=post, clock=clock, seconds=seconds * timing.scale)

    with mock.patch.object(consult, "ask_all", ask_all):
        start = time.monotonic()
        yield timing
        timing.elapsed = time.monotonic() - start
