"""``python -m bench.night``: one night of ten thousand tenants, to see what the dispatcher's limits come to.

The rules are the real ones (night_window), the dispatcher's are those of services/scheduling.py and of
``dispatch_events_v1``: a tick a minute, tenants in the order of their next event, at most k events of one tenant and
tick, no more than so many dispatched and not leased, the night's cap. Workers take one message each. Prints how late
events start, how much runs at once, how many connections that needs, and what it costs. Nothing is connected to.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import statistics
from collections import deque
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from itertools import count

from bench import cost
from chalicelib.domain.night_window import Night, NightSettings, current_night, next_night, parse_settings

TICK = timedelta(minutes=1)
START = datetime(2026, 11, 29, 12, 0, 30, tzinfo=UTC)
ZONES = (
    "Europe/Berlin,Europe/London,America/New_York,America/Chicago,America/Los_Angeles,America/Sao_Paulo,"
    "Asia/Kolkata,Asia/Tokyo,Australia/Sydney"
)


@dataclass(frozen=True)
class Wish:
    """Who wants what, and what there is to do it with. Lists are comma-separated; each tenant draws one of each."""

    tenants: int = 10_000
    sources: int = 1_000  # a tenant
    ttl_days: float = 7.0
    caps: str = "50"
    zones: str = ZONES
    windows: str = "22:00-06:00,22:00-06:00,00:00-05:00,02:00-05:00"
    per_tenant: int = 20
    in_flight: int = 1_000
    workers: int = 5
    service_seconds: float = 3.0  # a message's mean; drawn from a lognormal distribution
    spread: float = 0.6  # its sigma
    reads_per_second: float = 20.0
    read_seconds: float = 0.1
    seed: int = 1


@dataclass
class Tenant:
    """One tenant's night: when events may start, and how many there are under the cap."""

    settings: NightSettings
    night: Night
    left: int


@dataclass
class Result:
    """Lags and waits in seconds, from the night's start to the dispatch and from there to the lease."""

    due: int = 0
    lags: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    service: list[float] = field(default_factory=list)
    late: int = 0  # events that were left, or were not begun, when the window closed
    peak_running: int = 0
    peak_waiting: int = 0
    peak_a_minute: int = 0
    ticks: int = 0


def simulate(wish: Wish) -> Result:
    """The first night of every tenant after noon UTC."""
    rng = random.Random(wish.seed)
    tenants = [_tenant(wish, rng) for _ in range(wish.tenants)]
    result = Result(due=math.ceil(wish.sources / wish.ttl_days) * wish.tenants)
    order = count()
    due = [(tenant.night.starts_at, next(order), tenant) for tenant in tenants]
    heapq.heapify(due)  # the run queue: a row a tenant, by the time of its next event
    waiting: deque[tuple[datetime, Tenant]] = deque()
    running: list[datetime] = []
    now = START
    while due or waiting:
        if now >= (due[0][0] if due else now):
            sent = _dispatch(wish, result, due, waiting, order, now)
            result.peak_a_minute = max(result.peak_a_minute, sent)
        result.ticks += 1
        result.peak_waiting = max(result.peak_waiting, len(waiting))
        _work(wish, result, waiting, running, rng, until=now + TICK)
        now += TICK
    return result


def _tenant(wish: Wish, rng: random.Random) -> Tenant:
    start, _, end = rng.choice(wish.windows.split(",")).partition("-")
    settings = parse_settings(start, end, rng.choice(wish.zones.split(",")))
    cap = int(rng.choice(wish.caps.split(",")))
    return Tenant(settings, next_night(settings, START), min(cap, math.ceil(wish.sources / wish.ttl_days)))


def _dispatch(
    wish: Wish,
    result: Result,
    due: list[tuple[datetime, int, Tenant]],
    waiting: deque[tuple[datetime, Tenant]],
    order: count[int],
    now: datetime,
) -> int:
    """One tick; how many it sent. A tenant with more to do stands behind the others for the next one."""
    sent, again = 0, []
    room = wish.in_flight - len(waiting)
    while room > sent and due and due[0][0] <= now:
        _, _, tenant = heapq.heappop(due)
        if current_night(tenant.settings, now) is None:
            result.late += tenant.left
            continue
        share = min(wish.per_tenant, tenant.left, room - sent)
        waiting.extend([(now, tenant)] * share)
        result.lags.extend([(now - tenant.night.starts_at).total_seconds()] * share)
        tenant.left -= share
        sent += share
        if tenant.left:
            again.append((now + timedelta(microseconds=1), next(order), tenant))
    for one in again:
        heapq.heappush(due, one)
    return sent


def _work(
    wish: Wish,
    result: Result,
    waiting: deque[tuple[datetime, Tenant]],
    running: list[datetime],
    rng: random.Random,
    until: datetime,
) -> None:
    """What the workers take up before ``until``."""
    while waiting:
        sent_at, tenant = waiting[0]
        free_at = sent_at if len(running) < wish.workers else max(sent_at, running[0])
        if free_at >= until:
            return
        waiting.popleft()
        while running and running[0] <= free_at:
            heapq.heappop(running)
        result.waits.append((free_at - sent_at).total_seconds())
        if free_at not in tenant.night:
            result.late += 1  # none begins outside its window: it waits for the next night
            continue
        seconds = rng.lognormvariate(math.log(wish.service_seconds) - wish.spread**2 / 2, wish.spread)
        result.service.append(seconds)
        heapq.heappush(running, free_at + timedelta(seconds=seconds))
        result.peak_running = max(result.peak_running, len(running))


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.night", description="One night of many tenants.")
    for one in fields(Wish):
        parser.add_argument(
            f"--{one.name.replace('_', '-')}", type=type(one.default), default=one.default, help="default %(default)s"
        )
    wish = Wish(**vars(parser.parse_args(arguments)))
    print("\n".join(report(wish, simulate(wish))))


def report(wish: Wish, result: Result) -> list[str]:
    """What main prints, line by line."""
    done, offered = len(result.service), len(result.service) + result.late
    api = wish.reads_per_second * wish.read_seconds
    peak_api = math.ceil(api + 3 * math.sqrt(api))
    return [
        f"{wish.tenants} tenants with {wish.sources} sources each, in {len(set(wish.zones.split(',')))} zones",
        f"{wish.workers} workers of {wish.service_seconds:g} s a message, k = {wish.per_tenant}, "
        f"{wish.in_flight} in flight, caps of {wish.caps} a night",
        f"stale a night {result.due}; under the caps {offered}; done {done} ({done / result.due:.0%} of the stale); "
        f"left for the next night {result.late}",
        f"lag from the night's start to dispatch: {_minutes(result.lags)}",
        f"wait from dispatch to a worker: {_minutes(result.waits)}",
        f"peak: {result.peak_running} workers, {result.peak_waiting} messages waiting, "
        f"{result.peak_a_minute} dispatched in a minute",
        f"connections: {result.peak_running} workers + 1 tick + 1 ops + {peak_api} requests = "
        f"{result.peak_running + 2 + peak_api}",
        *cost.report(
            thousands=wish.tenants * wish.sources / 1000,
            refreshes=done * cost.NIGHTS,
            worker_seconds=sum(result.service) * cost.NIGHTS,
            reads=wish.reads_per_second * cost.SECONDS,
            read_seconds=wish.read_seconds,
        ),
    ]


def _minutes(seconds: list[float]) -> str:
    if not seconds:
        return "nothing was dispatched"
    ordered = sorted(seconds)
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"p50 {statistics.median(ordered) / 60:.1f} min, p95 {p95 / 60:.1f} min, max {ordered[-1] / 60:.1f} min"


if __name__ == "__main__":
    main()
