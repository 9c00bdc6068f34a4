"""One turn of the refresh cycle for tests: queue, tick, deliver, with a clock of one's own."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NoReturn
from uuid import UUID

from psycopg.conninfo import make_conninfo

from chalicelib.services import enforcement, history, scheduling
from chalicelib.services.outside import Outside
from chalicelib.storage.connection import Database, Transaction
from chalicelib.storage.sources import Source
from chalicelib.workers import refresh as worker
from tests.integration import rows
from tests.integration.web import Web
from tests.tenants import Deployment, Tenant


class Cycle:
    """A deployment with a web, and the time that the test says it is."""

    def __init__(self, deployment: Deployment, now: datetime) -> None:
        self.deployment = deployment
        self.now = now
        self.web = Web()
        self.outside = replace(deployment.worker, fetch=self.web)

    def refresh(self, tenant: Tenant, source: Source, *, when: str = "now") -> str:
        """Queue, tick and deliver; how the event ended."""
        rows.queue(self.deployment, tenant, source, when, self.now)
        return self.deliver()

    def deliver(self, outside: Outside | None = None) -> str:
        """Tick, then do the messages; how the last one ended."""
        scheduling.tick(self.deployment.worker, now=self.now)
        result = "no_message"
        while self.deployment.queue.messages:
            message = self.deployment.queue.messages.pop(0)
            result = worker.run(outside or self.outside, message.event_id, clock=lambda: self.now)
        return result

    def later(self, **delta: float) -> None:
        self.now += timedelta(**delta)

    def text(self, tenant: Tenant, source: Source, at: datetime | None = None) -> str:
        """The text as an operator reads it, whom no tier keeps out."""
        who = rows.principal(tenant)
        reading = enforcement.reading(self.deployment.outside, who, role=None, purpose=None, trace_id="test")
        return history.text_at(self.deployment.outside, who, reading, source.id, at or self.now, self.now).text

    def source(self, source: Source) -> dict[str, Any]:
        return rows.sql(self.deployment, "select * from kb_sources where id = %s", source.id)[0]

    def versions(self, source: Source) -> list[dict[str, Any]]:
        return rows.sql(self.deployment, "select * from kb_versions where source_id = %s order by version", source.id)

    def open_event(self, source: Source) -> dict[str, Any] | None:
        found = rows.sql(
            self.deployment,
            "select * from kb_events where source_id = %s and state in ('pending', 'dispatched', 'running')",
            source.id,
        )
        return found[0] if found else None


DYING = "a worker that is to die"


class DyingDatabase(Database):
    """Kills its process by SIGKILL just before or just after statement number ``at`` (counted from 1)."""

    def __init__(self, url: str, at: int, *, after: bool) -> None:
        super().__init__(make_conninfo(url, application_name=DYING))
        self.at, self.after, self.count = at, after, 0

    @contextmanager
    def transaction(self, tenant_id: UUID | None = None) -> Iterator[Transaction]:
        with super().transaction(tenant_id) as tx:
            yield _Dying(tx._connection, self)
            self.statement(committing=True)

    def statement(self, *, committing: bool = False) -> None:
        self.count += 1
        if self.count == self.at:
            die()


class _Dying(Transaction):
    def __init__(self, connection: Any, database: DyingDatabase) -> None:
        super().__init__(connection)
        self._database = database

    def __getattribute__(self, name: str) -> Any:
        attribute = super().__getattribute__(name)
        if name not in ("one", "all", "row", "rows", "value", "run"):
            return attribute

        def counted(*args: Any, **kwargs: Any) -> Any:
            if not self._database.after:
                self._database.statement()
            outcome = attribute(*args, **kwargs)
            if self._database.after:
                self._database.statement()
            return outcome

        return counted


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("not reached")


def killed(work: Any) -> bool:
    """Run ``work`` in a forked process; whether it was killed. An exception in it fails the test."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(3)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the forked worker failed"
    return False


def missed(deployment: Deployment) -> None:
    """Wait until the server has noticed that who used a ``DyingDatabase`` is gone: until then, its locks stand."""
    for _ in range(1000):
        if not rows.sql(deployment, "select pid from pg_stat_activity where application_name = %s", DYING):
            return
        time.sleep(0.01)
    raise AssertionError("a dead worker's transaction is still open")
