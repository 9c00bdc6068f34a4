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
    watcher = _watcher(deployment)
    each = [
        sql.SQL("select {}, array(select t::text from {} t order by 1)").format(name, sql.Identifier(name))
        for name in names(watcher)
    ]
    return dict(watcher.execute(sql.SQL(" union all ").join(each)).fetchall())


def changed(before: Dump, after: Dump) -> list[str]:
    """The tables that differ."""
    return [name for name in after if before.get(name) != after[name]]


def _watcher(deployment: Deployment) -> psycopg.Connection[Any]:
    """One superuser connection a database, for it is asked twice a test; it ends with the database."""
    name = deployment.database_name
    if name not in _watchers:
        _watchers[name] = superuser(deployment)
    return _watchers[name]


_watchers: dict[str, psycopg.Connection[Any]] = {}
