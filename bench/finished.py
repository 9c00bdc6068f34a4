"""``python -m bench.finished``: how much finished work a tick deletes, and how long that takes, on a real Postgres."""

from __future__ import annotations

import argparse
import time

from bench.search import NOW, connect
from chalicelib.services import finished_work
from tests import postgres
from tests.tenants import Deployment

_SOURCES = """
insert into kb_sources (tenant_id, uri, name, created_at, updated_at)
select %s, 'http://a.example.com/' || n, 'page', %s, %s from generate_series(1, %s) n
"""
_EVENTS = """
insert into kb_events (tenant_id, source_id, state, night, available_at, approved_at, source_generation, correlation_id,
    outcome, created_at, finished_at)
select tenant_id, id, 'done', true, %(now)s, %(now)s, 1, gen_random_uuid()::text, 'unchanged',
       %(now)s - n * interval '1 week', %(now)s - n * interval '1 week'
  from kb_sources, generate_series(0, %(weeks)s - 1) n
"""
_SUGGESTIONS = """
insert into kb_suggestions (tenant_id, source_id, kind, state, reason, event_id, stale_since, created_at, decided_at)
select tenant_id, source_id, 'refresh', 'closed', 'ttl_expired', id, created_at, created_at, created_at from kb_events
"""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.finished", description="How long a tick's deleting takes.")
    parser.add_argument("--sources", type=int, default=20_000, help="each checked once a week, default %(default)s")
    parser.add_argument("--weeks", type=int, default=14, help="of finished work, default %(default)s")
    arguments = parser.parse_args()
    postgres.agree_on_data_folder()
    try:
        server = postgres.TestServer()
        deployment = Deployment(server, server.create())
        fill(deployment, arguments.sources, arguments.weeks)
        begin, ticks, events, suggestions, longest = time.perf_counter(), 0, 0, 0, 0.0
        while True:
            tick = time.perf_counter()
            dropped = finished_work.drop(deployment.worker, now=NOW)
            if dropped == finished_work.Dropped():
                break
            longest = max(longest, time.perf_counter() - tick)
            ticks, events, suggestions = ticks + 1, events + dropped.events, suggestions + dropped.suggestions
        seconds = time.perf_counter() - begin
        print(
            f"{arguments.weeks} weeks of {arguments.sources} sources: {events / ticks:.0f} events and "
            f"{suggestions / ticks:.0f} suggestions a tick in {seconds / ticks:.2f} s, at most {longest:.2f} s"
        )
        deployment.close()
    finally:
        postgres.stop_server()


def fill(deployment: Deployment, sources: int, weeks: int) -> None:
    """An event and a suggestion a source and week, the last of them now."""
    tenant = deployment.tenant(plan="scale").id
    with deployment.worker.database.transaction() as tx:
        tx.run("scheduler.ticked", now=NOW)
    with connect(deployment) as connection:
        connection.execute(_SOURCES, (tenant, NOW, NOW, sources))
        connection.execute(_EVENTS, {"now": NOW, "weeks": weeks})
        connection.execute(_SUGGESTIONS)
        connection.execute("vacuum analyze")


if __name__ == "__main__":
    main()
