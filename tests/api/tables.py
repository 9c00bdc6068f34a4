"""Every row of every table, to show that a request changed nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from tests.tenants import Deployment

Dump = dict[str, list[str]]

_TABLES = """
select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where n.nspname = 'public' and c.relkind in ('r', 'p') order by 1
"""


@contextmanager
def superuser(deployment: Deployment) -> Iterator[psycopg.Connection[Any]]:
    """The deployment's connection that no row-level security holds; each statement commits."""
    yield deployment.superuser


def names(connection: psycopg.Connection[Any]) -> list[str]:
    """Every table, from the catalogue: a new one can't be forgotten."""
    return [name for (name,) in connection.execute(_TABLES).fetchall()]


def dump(deployment: Deployment) -> Dump:
    """All rows of all tables as text, sorted."""
    watcher = deployment.superuser
    each = [
        sql.SQL("select {}, array(select t::text from {} t order by 1)").format(name, sql.Identifier(name))
        for name in names(watcher)
    ]
    return dict(watcher.execute(sql.SQL(" union all ").join(each)).fetchall())


def changed(before: Dump, after: Dump) -> list[str]:
    """The tables that differ."""
    return [name for name in after if before.get(name) != after[name]]
