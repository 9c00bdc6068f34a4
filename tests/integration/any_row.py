"""A row for any table, made from the catalogue: a table that is added later is tested without a word about it."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql

_COLUMNS = """
select a.attname, format_type(a.atttypid, null), coalesce(string_agg(pg_get_constraintdef(c.oid), ' '), '')
  from pg_attribute a
  left join pg_constraint c on c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum]
 where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped
   and a.attnotnull and not a.atthasdef and a.attidentity = ''
 group by a.attnum, a.attname, a.atttypid order by a.attnum
"""
_VALUES = {
    "uuid": "gen_random_uuid()",
    "text": "gen_random_uuid()::text",
    "boolean": "true",
    "integer": "1",
    "bigint": "1",
    "double precision": "1",
    "date": "'2026-11-30'",
    "time without time zone": "'22:00'",
    "timestamp with time zone": "now()",
    "tstzrange": "tstzrange(now(), null)",
    "jsonb": "'{}'",
    "bytea": "sha256(gen_random_uuid()::text::bytea)",
    "text[]": "'{}'",
    "vector": "array_fill(0.5, array[384])::vector",
}


def make_row(connection: psycopg.Connection[Any], table: str, tenant: sql.Identifier, tenant_id: UUID) -> None:
    """Insert a row of the tenant as superuser; nothing that it refers to needs to be there."""
    values: dict[str, sql.Composable] = {tenant.as_string(): sql.Literal(tenant_id)}
    for name, kind, checks in connection.execute(_COLUMNS, (table,)).fetchall():
        word = re.search(r"ANY \(ARRAY\['([^']*)'", checks)
        values.setdefault(f'"{name}"', sql.Literal(word[1]) if word else sql.SQL(_VALUES[kind]))
    connection.execute("set session_replication_role = replica")  # no foreign keys, no triggers
    connection.execute(
        sql.SQL("insert into {} ({}) values ({})").format(
            sql.Identifier(table),
            sql.SQL(", ").join(sql.SQL(name) for name in values),
            sql.SQL(", ").join(values.values()),
        )
    )
    connection.execute("set session_replication_role = default")
