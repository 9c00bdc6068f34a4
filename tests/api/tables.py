"""Every row of every table, to show that a request changed nothing."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from tests.tenants import Deployment

Dump = dict[str, list[str]]

_TABLES = """
select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where n.nspname = 'public' and c.relkind in ('r', 'p') order by 1
"""


def superuser(deployment: Deployment) -> psycopg.Connection[Any]:
    """A connection that no row-level security holds."""
    return psycopg.connect(deployment.server.url(deployment.database_name, "postgres"), autocommit=True)


def names(connection: psycopg.Connection[Any]) -> list[str]:
    """Every table, from the catalogue: a new one can't be forgotten."""
    return [name for (name,) in connection.execute(_TABLES).fetchall()]


def dump(deployment: Deployment) -> Dump:
    """All rows of all tables as text, sorted."""
    with superuser(deployment) as connection:
        return {name: _rows(connection, name) for name in names(connection)}


def changed(before: Dump, after: Dump) -> list[str]:
    """The tables that differ."""
    return [name for name in after if before.get(name) != after[name]]


def _rows(connection: psycopg.Connection[Any], table: str) -> list[str]:
    statement = sql.SQL("select t::text from {} t order by 1").format(sql.Identifier(table))
    return [row for (row,) in connection.execute(statement).fetchall()]
