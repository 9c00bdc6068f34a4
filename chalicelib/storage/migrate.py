"""Migrations forward: numbered SQL files, each in its own transaction, once, by one process at a time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from chalicelib.errors import LarderError
from chalicelib.storage.database_tls import ENCRYPTED, Tls
from chalicelib.storage.database_url import resolve

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 0x6C61726465720001  # "larder" and 1: the advisory lock that migrating processes queue at

_LEDGER = """
create table if not exists schema_migrations (
  number integer primary key, name text not null, checksum text not null,
  applied_at timestamptz not null default clock_timestamp())
"""


class MigrationError(LarderError):
    """The ledger in the database and the files of this code contradict each other."""


class SchemaNewer(MigrationError):
    """The database has migrations that this code lacks: the code is older, and the schema serves it all the same."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its number, its name and the SHA-256 of its text."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the text, hex."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def files() -> list[Migration]:
    """Every migration of this code, in order. Raises MigrationError if the numbers have a gap or a twin."""
    found = [
        Migration(int(path.name[:4]), path.stem, path.read_text(encoding="utf-8"))
        for path in sorted(_FOLDER.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    ]
    if [m.number for m in found] != list(range(1, len(found) + 1)):
        raise MigrationError("migration files are not numbered one after the other")
    return found


def migrate(url: str, tls: Tls = ENCRYPTED) -> list[str]:
    """Bring the database at ``url`` to this code's schema; returns the names applied now, in order.

    Raises MigrationError if a file was edited after it was applied, SchemaNewer if the database knows migrations that
    this code does not.
    """
    with psycopg.connect(resolve(url, tls), autocommit=True, prepare_threshold=None) as connection:
        connection.execute("select pg_advisory_lock(%s)", (_LOCK,))
        try:
            connection.execute("create extension if not exists vector")
            connection.execute(_LEDGER)
            return [_apply(connection, migration) for migration in _missing(connection)]
        finally:
            connection.execute("select pg_advisory_unlock(%s)", (_LOCK,))


def pending(url: str, tls: Tls = ENCRYPTED) -> list[str]:
    """The names of the migrations that the database at ``url`` lacks. Raises as ``migrate`` does."""
    with psycopg.connect(resolve(url, tls), autocommit=True, prepare_threshold=None) as connection:
        known = connection.execute("select to_regclass('schema_migrations')").fetchone()
        if known is None or known[0] is None:
            return [migration.name for migration in files()]
        return [migration.name for migration in _missing(connection)]


def _missing(connection: psycopg.Connection[Any]) -> list[Migration]:
    applied = dict(connection.execute("select number, checksum from schema_migrations").fetchall())
    own = files()
    if unknown := sorted(set(applied) - {m.number for m in own}):
        raise SchemaNewer(f"the database has migrations that this code lacks: {unknown}")
    for migration in own:
        if applied.get(migration.number, migration.checksum) != migration.checksum:
            raise MigrationError(f"{migration.name} was changed after it had been applied")
    return [migration for migration in own if migration.number not in applied]


def _apply(connection: psycopg.Connection[Any], migration: Migration) -> str:
    with connection.transaction():
        connection.execute(migration.sql.encode())
        connection.execute(
            "insert into schema_migrations (number, name, checksum) values (%s, %s, %s)",
            (migration.number, migration.name, migration.checksum),
        )
    return migration.name
