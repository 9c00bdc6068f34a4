"""``python -m bench.dispatch``: how long a tick takes when ten thousand tenants are due at once, on a real Postgres.

The queue is in memory, so this is the database's share; SQS adds a request for every ten events.
"""

from __future__ import annotations

import argparse
import statistics
import time
from datetime import timedelta

from bench.search import NOW, connect
from chalicelib.services import scheduling
from tests import postgres
from tests.integration import rows
from tests.tenants import Deployment

_TENANTS = """
insert into tenants (name, plan, created_at, night_start, night_end)
select 'tenant-' || n, 'scale', %s, '12:00', '20:00' from generate_series(1, %s) n
"""
_SOURCES = """
insert into kb_sources (tenant_id, uri, name, created_at, updated_at)
select t.id, 'http://' || t.name || '.example.com/' || n, 'page', %s, %s from tenants t, generate_series(1, %s) n
"""
_EVENTS = """
insert into kb_events (tenant_id, source_id, night, available_at, approved_at, source_generation, created_at)
select tenant_id, id, true, %s, %s, 1, %s from kb_sources
"""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.dispatch", description="How long a tick takes.")
    parser.add_argument("--tenants", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=10, help="due ones of each tenant, default %(default)s")
    parser.add_argument("--ticks", type=int, default=5)
    arguments = parser.parse_args()
    postgres.agree_on_data_folder()
    try:
        server = postgres.TestServer()
        database = server.create()
        empty = Deployment(server, database)
        seconds, _ = ticks(empty, arguments.ticks)
        print(f"nothing due: a tick in {statistics.median(seconds) * 1000:.0f} ms")
        fill(empty, arguments.tenants, arguments.events)
        empty.close()
        for in_flight in (1000, 5000):
            deployment = Deployment(server, database, {"LARDER_DISPATCH_IN_FLIGHT": str(in_flight)})
            seconds, sent = ticks(deployment, arguments.ticks)
            print(
                f"{arguments.tenants} tenants due, {in_flight} in flight: {sent / arguments.ticks:.0f} events a tick "
                f"in {statistics.median(seconds):.2f} s, at most {max(seconds):.2f} s"
            )
            deployment.close()
    finally:
        postgres.stop_server()


def fill(deployment: Deployment, tenants: int, events: int) -> None:
    """So many tenants with so many events each, all due now and inside their windows."""
    rows.sql(deployment, _TENANTS, NOW, tenants)
    rows.sql(deployment, _SOURCES, NOW, NOW, events)
    rows.sql(deployment, _EVENTS, NOW, NOW, NOW)
    with connect(deployment) as connection:
        connection.execute("vacuum analyze")


def ticks(deployment: Deployment, times: int) -> tuple[list[float], int]:
    """Seconds of each tick, and the events that all of them sent; what was sent is done before the next."""
    seconds, sent = [], 0
    for minute in range(times):
        begin = time.perf_counter()
        sent += scheduling.tick(deployment.worker, now=NOW + timedelta(minutes=minute)).dispatched
        seconds.append(time.perf_counter() - begin)
        rows.sql(deployment, "update kb_events set state = 'done' where state = 'dispatched'")
        deployment.queue.messages.clear()
    return seconds, sent


if __name__ == "__main__":
    main()
