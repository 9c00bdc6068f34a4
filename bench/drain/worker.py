"""One worker process: the real worker's code, one message at a time, and nothing that survives a SIGKILL."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any
from uuid import UUID

from bench.drain.delivery import Parcel
from chalicelib import bootstrap, settings
from chalicelib.fetching import ssrf
from chalicelib.workers import refresh
from tests.tenants import HashEmbedder

# A server without threads forks the workers, and each gets a pipe of its own: who dies takes nobody's lock along.
_processes = get_context("forkserver")
_processes.set_forkserver_preload([__name__])


@dataclass
class Worker:
    """A process that waits for a message or does one; ``kill_at`` is on the monotonic clock."""

    process: Any
    pipe: Connection
    parcel: Parcel | None = None
    given_at: float = 0.0
    kill_at: float | None = None

    def give(self, parcel: Parcel, ahead: timedelta) -> None:
        """Hand it a message; its clock runs ``ahead`` of the machine's."""
        self.parcel = parcel
        self.pipe.send((parcel.event_id, ahead))

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def start(environment: Mapping[str, str], fetch_seconds: float) -> Worker:
    """A new process; ``environment`` holds the functions' settings."""
    ours, theirs = _processes.Pipe()
    process = _processes.Process(target=_work, args=(theirs, dict(environment), fetch_seconds), daemon=True)
    process.start()
    theirs.close()
    return Worker(process, ours)


def _work(pipe: Connection, environment: dict[str, str], fetch_seconds: float) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the function's log and metrics go there
    outside = bootstrap.build(settings.read(environment))
    policy = replace(outside.fetch_policy, timeout_seconds=fetch_seconds)
    # The bench's clock jumps ahead of the database's over minutes in which there is nothing to do.
    outside = replace(outside, embedder=HashEmbedder(), fetch=partial(_fetch, policy), clock_lead=timedelta.max)
    while True:
        try:
            event_id, ahead = pipe.recv()
        except EOFError:  # whoever gave the work is gone
            return
        pipe.send(_do(outside, event_id, ahead))


def _do(outside: Any, event_id: UUID, ahead: timedelta) -> str:
    try:
        return refresh.run(outside, event_id, clock=lambda: datetime.now(UTC) + ahead)
    except Exception as error:  # as the function does: only this message failed
        return f"error: {type(error).__name__}"


def _fetch(policy: ssrf.FetchPolicy, url: str, *, validators: Any, no_cache: bool) -> ssrf.FetchResult:
    return ssrf.fetch(url, policy, validators=validators, no_cache=no_cache)
