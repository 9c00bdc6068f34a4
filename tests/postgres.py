"""A real Postgres for tests: one server a run, one migrated template, one database a test."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from chalicelib import keys
from chalicelib.storage.migrate import migrate
from infra.postgres import embedded

_counter = itertools.count()
_DATA = "LARDER_TEST_PGDATA"
_SETTINGS = {  # a test database need not survive a power cut
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_wal_size": "256MB",
}


class TestServer:
    """Start or join the server whose data folder the run agreed on; make databases from its template."""

    __test__ = False

    def __init__(self) -> None:
        self.data = Path(os.environ[_DATA])
        self.data.mkdir(parents=True, exist_ok=True)
        self.server = embedded(self.data, cleanup_mode=None)
        self.admin = make_conninfo(self.server.get_uri())
        self.keys = self.data.parent / "keys.json"
        with contextlib.suppress(FileExistsError):
            keys.make_file(self.keys)
        self._template()

    def url(self, database: str, role: str) -> str:
        return make_conninfo(self.admin, dbname=database, user=role)

    def create(self) -> str:
        """The name of a new, migrated, empty database."""
        name = f"t_{os.getpid()}_{next(_counter)}"
        # Copied through the write-ahead log, as by default, it takes four times as long.
        self._admin.execute(f"create database {name} template larder_template owner larder_owner strategy file_copy")
        return name

    def create_blank(self) -> str:
        """The name of a new database with nothing in it but the extension."""
        name = f"b_{os.getpid()}_{next(_counter)}"
        self._admin.execute(f"create database {name} owner larder_owner")
        with psycopg.connect(self.url(name, "postgres"), autocommit=True) as connection:
            connection.execute("create extension vector")
        return name

    def drop(self, name: str) -> None:
        self._admin.execute(f"drop database if exists {name} with (force)")

    @cached_property
    def _admin(self) -> psycopg.Connection[Any]:
        """One connection for all the databases that are made and dropped."""
        return psycopg.connect(self.admin, autocommit=True)

    def _template(self) -> None:
        with psycopg.connect(self.admin, autocommit=True) as connection:
            connection.execute("select pg_advisory_lock(42)")
            connection.execute(
                "do $$ begin create role larder_owner login createrole; "
                "exception when duplicate_object then null; end $$"
            )
            if connection.execute("select 1 from pg_database where datname = 'larder_template'").fetchone():
                return
            for name, value in _SETTINGS.items():
                connection.execute(f"alter system set {name} = '{value}'")
            connection.execute("select pg_reload_conf()")
            connection.execute("create database larder_building owner larder_owner")
            with psycopg.connect(self.url("larder_building", "postgres"), autocommit=True) as inside:
                inside.execute("create extension vector")
            migrate(self.url("larder_building", "larder_owner"))
            connection.execute("alter database larder_building rename to larder_template")


def agree_on_data_folder() -> None:
    """Called once, by the process that starts the run; workers inherit the environment."""
    if _DATA not in os.environ:
        os.environ[_DATA] = str(Path(tempfile.mkdtemp(prefix="larder-test-pg-")) / "data")


def stop_server() -> None:
    """Called once, by the process that agreed on the folder."""
    data = Path(os.environ.pop(_DATA))
    if (data / "PG_VERSION").exists():
        server = embedded(data, cleanup_mode="stop")
        server.stop()
    shutil.rmtree(data.parent, ignore_errors=True)
