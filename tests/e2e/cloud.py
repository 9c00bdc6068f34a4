"""A local cloud of a test's own: the whole system, and the few things that a test does to it from outside."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import boto3
import psycopg
import requests
from psycopg import sql

from infra import local, postgres
from infra.cloud import Cloud
from infra.package import ROOT, Package, package

_KEPT = ("schema_migrations", "plans")
_SCHEDULED = {
    "version": "0",
    "id": "00000000-0000-0000-0000-000000000000",
    "detail-type": "Scheduled Event",
    "source": "aws.events",
    "account": "000000000000",
    "time": "1970-01-01T00:00:00Z",
    "region": "us-east-1",
    "resources": [],
    "detail": {},
}


@dataclass
class Tenant:
    """One tenant's way in over HTTP, as a client of the API has it."""

    url: str
    api_token: str
    admin_token: str

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> requests.Response:
        return self.request("POST", path, json={} if body is None else body, **options)

    def request(self, method: str, path: str, **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.api_token}", "X-Admin-Token": self.admin_token}
        return requests.request(
            method, self.url + path, headers=headers | options.pop("headers", {}), timeout=60, **options
        )


class PrivateCloud:
    """The system under test; ``state`` is its file, if it is a whole cloud and not a further stage in one."""

    def __init__(self, cloud: Cloud, state: Path | None = None) -> None:
        self.cloud = cloud
        self.state = state
        self.url = cloud.url
        self.outputs = cloud.outputs

    def tenant(self, name: str = "", plan: str = "team") -> Tenant:
        """A new tenant with its two tokens."""
        made = self.cloud.deployment.ops("tenant_create", name=name or f"t-{uuid.uuid4()}", plan=plan)
        return Tenant(self.url, made["api_token"], made["admin_token"])

    def tick(self) -> Any:
        """One run of the scheduled function, now, and what it says that it did."""
        return self.cloud.deployment.invoke("Tick", _SCHEDULED)

    def learn(self, tenant: Tenant, url: str) -> str:
        """Add ``url`` as a source, have it refreshed now, and wait for its text; the source's id."""
        source = tenant.post("/v1/kb/sources", {"uri": url}).json()
        queued = tenant.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
        assert queued.status_code == 202, queued.text
        ticked = self.tick()
        assert ticked["dispatched"] == 1, ticked
        path = f"/v1/kb/sources/{source['id']}"
        try:
            until(lambda: tenant.get(path).json()["current_version"], what="a version")
        except AssertionError as error:
            error.add_note(f"{tenant.get(path).text}\n{self.log('Worker')[-4000:]}")
            raise
        return str(source["id"])

    def connect(self, role: str = postgres.OWNER) -> psycopg.Connection[Any]:
        """A connection of one's own to the database; ``postgres`` sees past row-level security."""
        return psycopg.connect(self.cloud.database_url(role), autocommit=True)

    def client(self, service: str) -> Any:
        """A boto3 client for any other service of the emulator."""
        session: Any = boto3
        return session.client(
            service,
            region_name=self.cloud.account.region,
            endpoint_url=self.cloud.endpoint_url,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def log(self, function: str) -> str:
        """What ``APIHandler``, ``Tick``, ``Worker`` or ``Ops`` has logged so far."""
        logs, group = self.client("logs"), f"/aws/lambda/{self.outputs[f'{function}Name']}"
        streams = logs.describe_log_streams(logGroupName=group)["logStreams"]
        events = [
            event
            for stream in streams
            for event in logs.get_log_events(
                logGroupName=group, logStreamName=stream["logStreamName"], startFromHead=True
            )["events"]
        ]
        return "\n".join(event["message"] for event in sorted(events, key=lambda event: event["timestamp"]))

    def hear(self, function: str, listen: Callable[[str], T]) -> T:
        """What ``listen`` finds in the log of ``APIHandler``, ``Tick`` or ``Worker``, once it finds anything.

        The emulator takes the lines of a call with its answer. One that comes a moment later, as on a busy machine, it
        leaves to the next call of the same process: so every process is called.
        """

        def look() -> T:
            if not (found := listen(self.log(function))):
                with ThreadPoolExecutor() as callers:
                    list(callers.map(lambda _: _IDLE[function](self), range(_PROCESSES)))
            return found

        return until(look, what=f"a line of {function}")

    def queued(self, queue: str = "RefreshQueue") -> int:
        """Messages in ``RefreshQueue`` or ``RefreshDeadLetters``, those in flight included."""
        found = self.cloud.account.sqs().get_queue_attributes(
            QueueUrl=self.outputs[f"{queue}Url"],
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )
        return sum(int(value) for value in found["Attributes"].values())

    def reset(self) -> None:
        """Forget every tenant and every message."""
        for queue in ("RefreshQueueUrl", "RefreshDeadLettersUrl"):
            self.cloud.account.sqs().purge_queue(QueueUrl=self.outputs[queue])
        with self.connect("postgres") as connection:
            found = connection.execute(
                "select tablename from pg_tables where schemaname = 'public' and tablename <> all(%s)", (list(_KEPT),)
            ).fetchall()
            tables = sql.SQL(", ").join(sql.Identifier(name) for (name,) in found)
            connection.execute(sql.SQL("truncate {} cascade").format(tables))


T = TypeVar("T")
_PROCESSES = 4
_IDLE: dict[str, Callable[[PrivateCloud], object]] = {
    "APIHandler": lambda cloud: requests.get(f"{cloud.url}/healthz", timeout=60),
    "Tick": lambda cloud: cloud.tick(),
    "Worker": lambda cloud: cloud.cloud.deployment.invoke("Worker", {"Records": []}),
}
"""A call of each that finds nothing to do."""


def until(check: Callable[[], Any], *, seconds: float = 120, what: str = "it") -> Any:
    """Ask ``check`` until it says something true, and return that."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := check():
            return found
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds:.0f} s for {what}")


@functools.cache
def packaged() -> Package:
    """The app, packaged once a process: that `make up` does it itself is seen where the command is run."""
    folder = tempfile.mkdtemp(prefix="larder-test-package-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return package(Path(folder))


@contextmanager
def private_cloud(folder: Path, **wish: Any) -> Iterator[PrivateCloud]:
    """A cloud that is up for as long as the block runs; ``wish`` as in infra.local.Wish."""
    state = folder / "state.json"
    made = wish.pop("made", None) or packaged()
    wanted = local.Wish(tenant=None, made=made, **wish)
    with _watched(state):
        try:
            yield PrivateCloud(local.up(wanted, state, say=lambda _: None), state)
        finally:
            local.down(state, say=lambda _: None)


_WATCH = """
import sys
if sys.stdin.read() != "done":
    from pathlib import Path
    from infra import local
    local.down(Path(sys.argv[1]))
"""


@contextmanager
def _watched(state: Path) -> Iterator[None]:
    """However this process ends, and a parallel run's are killed by Ctrl-C: a small one that outlives it cleans up."""
    watcher = subprocess.Popen(
        [sys.executable, "-c", _WATCH, str(state)], cwd=ROOT, stdin=subprocess.PIPE, text=True, start_new_session=True
    )
    assert watcher.stdin is not None
    try:
        yield
    finally:
        watcher.communicate("done", timeout=60)
