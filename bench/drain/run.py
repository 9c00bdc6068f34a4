"""The drain: sources become due, a tick a minute dispatches, workers work and die, until nothing is open."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import wait
from typing import Any

import psycopg

from bench.drain import worker
from bench.drain.delivery import Delivery
from bench.drain.site import Site
from bench.drain.worker import Worker
from chalicelib.services import scheduling
from tests.integration import rows
from tests.tenants import Deployment

MINUTE = timedelta(minutes=1)
TICK_SECONDS = 0.5  # while there is work; when there is none the clock jumps to the next minute
MAX_HOURS = 24
KILL_WITHIN = 0.1  # seconds from the message to the SIGKILL; a worker that was quicker dies before it can say so


@dataclass(frozen=True)
class Load:
    """How much, and how bad. Shares are from 0 to 1: of fetches, of sent messages, of received messages."""

    tenants: int = 50
    sources: int = 200
    workers: int = 4
    rounds: int = 2
    failing: float = 0.05
    hanging: float = 0.05
    duplicates: float = 0.1
    killed: float = 0.1
    fetch_seconds: float = 2.0
    seed: int = 1


@dataclass
class Figures:
    """What was counted, in events, processes and seconds of the machine's clock."""

    answers: Counter[str] = field(default_factory=Counter)  # of workers, by what they said
    service_seconds: list[float] = field(default_factory=list)
    kills: int = 0
    ticks: int = 0
    failed_ticks: int = 0
    leases_swept: int = 0
    lost_swept: int = 0
    seconds: float = 0.0
    clock_minutes: float = 0.0


class Drain:
    """One run of ``load`` on a deployment whose sources are at ``site``; ``fault`` happens once, half-way through."""

    def __init__(self, deployment: Deployment, site: Site, load: Load, fault: Callable[[], None] | None = None) -> None:
        self.deployment, self.site, self.load, self._fault = deployment, site, load, fault
        self.figures = Figures()
        self._deaths = random.Random(load.seed)
        self.delivery = Delivery(load.duplicates, random.Random(load.seed + 1))
        self._ahead = timedelta(0)
        self._outside = replace(deployment.worker, queue=self.delivery)
        self._environment = environment(deployment, site)
        self._workers: list[Worker] = []

    def run(self) -> Figures:
        """Every round to its end. Raises TimeoutError if something is still open a day later by the drain's clock."""
        started = time.monotonic()
        first = self.now()
        sources = self._sources()
        self._workers = [self._new_worker() for _ in range(self.load.workers)]
        try:
            for edition in range(1, self.load.rounds + 1):
                self.site.edition = edition
                for tenant, source in sources:
                    rows.queue(self.deployment, tenant, source, "now", self.now())
                self._drain()
        finally:
            for one in self._workers:
                one.kill()
        self.figures.seconds = time.monotonic() - started
        self.figures.clock_minutes = (self.now() - first) / MINUTE
        return self.figures

    def now(self) -> datetime:
        """The drain's clock: the machine's, and the minutes in which nothing was to be done."""
        return datetime.now(UTC) + self._ahead

    def _sources(self) -> list[tuple[Any, Any]]:
        tenants = [self.deployment.tenant(f"tenant-{number}") for number in range(self.load.tenants)]
        found = []
        for number in range(self.load.sources):
            place = number % self.load.tenants
            url = self.site.url(self.site.hosts[place], number)
            found.append((tenants[place], rows.add(self.deployment, tenants[place], url, self.now())))
        return found

    def _drain(self) -> None:
        until = self.now() + timedelta(hours=MAX_HOURS)
        while True:
            self._tick()
            self._work()
            if self.delivery.is_idle() and not self._open_events():
                return
            if self.now() > until:
                raise TimeoutError("events are still open after a day")
            self._ahead += MINUTE

    def _tick(self) -> None:
        """As the schedule does it: one that fails is logged, and the next minute has its own."""
        self.figures.ticks += 1
        try:
            ticked = scheduling.tick(self._outside, now=self.now())
        except psycopg.OperationalError:
            self.figures.failed_ticks += 1
            time.sleep(0.1)  # or an outage of a second would be many minutes long by the drain's clock
            return
        self.figures.leases_swept += ticked.leases_swept
        self.figures.lost_swept += ticked.lost_swept

    def _work(self) -> None:
        """Hand messages out until none is to be seen and every worker is back."""
        next_tick = time.monotonic() + TICK_SECONDS
        while self._hand_out() or any(one.parcel for one in self._workers):
            busy = {one.pipe: one for one in self._workers if one.parcel}
            for pipe in wait(list(busy), timeout=0.01):
                self._take_back(busy.pop(pipe))  # type: ignore[call-overload]
            for one in busy.values():
                if one.kill_at is not None and time.monotonic() >= one.kill_at:
                    self._kill(one)
            if time.monotonic() >= next_tick:
                self._tick()
                next_tick = time.monotonic() + TICK_SECONDS

    def _hand_out(self) -> bool:
        given = False
        for one in [one for one in self._workers if one.parcel is None]:
            parcel = self.delivery.take(self.now())
            if parcel is None:
                break
            one.given_at = time.monotonic()
            doomed, after = self._deaths.random() < self.load.killed, self._deaths.uniform(0, KILL_WITHIN)
            one.kill_at = one.given_at + after if doomed else None
            one.give(parcel, self._ahead)
            given = True
        return given

    def _take_back(self, one: Worker) -> None:
        """An answer; a message whose worker failed stays out of sight until it comes again."""
        assert one.parcel is not None
        try:
            result = one.pipe.recv()
        except EOFError:
            raise RuntimeError("a worker died that nobody killed") from None
        if one.kill_at is not None:
            return self._kill(one)
        self.figures.answers[result] += 1
        self.figures.service_seconds.append(time.monotonic() - one.given_at)
        if not result.startswith("error"):
            self.delivery.delete(one.parcel)
        one.parcel = None
        if self._fault is not None and len(self.figures.service_seconds) >= self.load.sources // 2:
            fault, self._fault = self._fault, None
            fault()

    def _kill(self, one: Worker) -> None:
        one.kill()
        self.figures.kills += 1
        self._workers[self._workers.index(one)] = self._new_worker()

    def _new_worker(self) -> Worker:
        return worker.start(self._environment, self.load.fetch_seconds)

    def _open_events(self) -> int:
        try:
            found = rows.sql(
                self.deployment, "select count(*) from kb_events where state in ('pending', 'dispatched', 'running')"
            )
        except psycopg.OperationalError:
            return 1
        return int(found[0]["count"])


def environment(deployment: Deployment, site: Site) -> dict[str, str]:
    """The settings of the worker function."""
    return {
        "DATABASE_URL": deployment.server.url(deployment.database_name, "larder_worker"),
        "LARDER_KEYS": str(deployment.server.keys),
        **permissions(site),
    }


def permissions(site: Site) -> dict[str, str]:
    """What lets the guard fetch from the site on loopback."""
    return {"KB_ALLOW_PRIVATE_NETWORKS": "true", "KB_ALLOWED_PORTS": str(site.port)}
