"""``python -m bench.drain``: drains due sources under load and faults, prints figures, and checks what must be true.

Real Postgres, real worker processes, the real guard on real sockets; the queue is in memory and delivers at least
once. Workers are killed by SIGKILL, fetches fail or hang, messages come twice. The clock jumps over minutes in which
nothing is to be done. The exit status is 1 if an event has not exactly one outcome, a version is there twice, or one
is lost.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Mapping
from dataclasses import fields

from bench.drain.run import Drain, Figures, Load, permissions
from bench.drain.site import serve
from bench.drain.verdict import faults
from tests import postgres
from tests.integration import rows
from tests.tenants import Deployment


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.drain", description=__doc__.split("\n\n")[0])
    for one in fields(Load):
        parser.add_argument(
            f"--{one.name.replace('_', '-')}", type=type(one.default), default=one.default, help="default %(default)s"
        )
    load = Load(**vars(parser.parse_args(arguments)))
    postgres.agree_on_data_folder()
    try:
        return _drain(load)
    finally:
        postgres.stop_server()


def _drain(load: Load) -> int:
    server = postgres.TestServer()
    with serve(load.tenants, load.failing, load.hanging, load.seed) as site:
        deployment = Deployment(server, server.create(), permissions(site))
        try:
            drain = Drain(deployment, site, load)
            figures = drain.run()
            wrong = list(faults(deployment, site, load.rounds))
            _print(load, figures, drain)
        finally:
            deployment.close()
    print("\n".join(f"WRONG: {line}" for line in wrong) or "every event has one outcome, every version one event")
    return 1 if wrong else 0


def _print(load: Load, figures: Figures, drain: Drain) -> None:
    done = load.sources * load.rounds
    times = sorted(figures.service_seconds)
    print(f"{done} events of {load.sources} sources and {load.tenants} tenants, {load.workers} workers")
    print(
        f"drained in {figures.seconds:.1f} s, {figures.clock_minutes:.0f} min by its own clock, {figures.ticks} ticks"
    )
    print(f"a message took {statistics.median(times):.3f} s, p95 {times[int(len(times) * 0.95)]:.3f} s")
    print(
        f"{drain.delivery.sent} messages sent, {drain.delivery.duplicated} of them twice, "
        f"{drain.delivery.received} received, {len(drain.delivery.dead)} dead letters"
    )
    print(f"{figures.kills} workers killed, {figures.leases_swept} leases and {figures.lost_swept} lost messages swept")
    print(f"fetches: {_listed(drain.site.fetches)}")
    print(f"workers said: {_listed(figures.answers)}")
    ended = rows.sql(drain.deployment, "select outcome, count(*) from kb_events group by outcome")
    print(f"events ended: {_listed({row['outcome']: row['count'] for row in ended})}")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main())
