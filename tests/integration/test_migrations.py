"""Migrations go forward, once, and refuse what they don't know."""

from __future__ import annotations

import threading

import psycopg
import pytest

from chalicelib.storage import migrate as runner
from tests.postgres import TestServer


def test_migrating_twice_applies_nothing_the_second_time(server: TestServer) -> None:
    url = server.url(server.create_blank(), "larder_owner")
    assert runner.migrate(url) == [m.name for m in runner.files()]
    assert runner.migrate(url) == []
    assert runner.pending(url) == []


def test_four_processes_migrate_one_blank_database_once(server: TestServer) -> None:
    url = server.url(server.create_blank(), "larder_owner")
    applied: list[list[str]] = []
    threads = [threading.Thread(target=lambda: applied.append(runner.migrate(url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(len, applied)) == [0, 0, 0, len(runner.files())]


def test_an_edited_migration_is_refused(server: TestServer, database: str) -> None:
    url = server.url(database, "larder_owner")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("update schema_migrations set checksum = 'x' where number = 1")
    with pytest.raises(runner.MigrationError, match="0001_roles was changed"):
        runner.migrate(url)


def test_code_older_than_the_schema_is_refused(server: TestServer, database: str) -> None:
    url = server.url(database, "larder_owner")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("insert into schema_migrations values (9999, 'later', 'x')")
    with pytest.raises(runner.MigrationError, match="9999"):
        runner.migrate(url)
