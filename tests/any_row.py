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
 where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped and a.attidentity = ''
   and (a.attname = any (%s) or (a.attnotnull and not a.atthasdef))
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
    "bigint[]": "'{}'",
    "double precision[]": "'{}'",
    "pg_snapshot": "pg_current_snapshot()",
    "xid8": "pg_current_xact_id()",
    "vector": "array_fill(0.5, array[384])::vector",
}


_REFERENCES = """
select a.attname, c.confrelid::regclass::text, f.attname
  from pg_constraint c cross join unnest(c.conkey, c.confkey) as pair (own, other)
  join pg_attribute a on a.attrelid = c.conrelid and a.attnum = pair.own
  join pg_attribute f on f.attrelid = c.confrelid and f.attnum = pair.other
 where c.contype = 'f' and c.conrelid = %s::regclass and a.attnotnull
   and a.attname <> 'tenant_id' and c.confrelid <> 'tenants'::regclass
"""


def ensure_row(connection: psycopg.Connection[Any], table: str, tenant_id: UUID) -> None:
    """A row of the tenant in its ``table``, and in every table that it must refer to, unless there is one."""
    if _find(connection, table, "tenant_id", tenant_id):
        return
    known = {"tenant_id": tenant_id}
    for column, target, key in connection.execute(_REFERENCES, (table,)).fetchall():
        ensure_row(connection, target, tenant_id)
        known[column] = _find(connection, target, key, tenant_id)[0][0]
    make_row(connection, table, **known)


def _find(connection: psycopg.Connection[Any], table: str, column: str, tenant_id: UUID) -> list[Any]:
    query = sql.SQL("select {} from {} where tenant_id = %s limit 1")
    return connection.execute(query.format(sql.Identifier(column), sql.Identifier(table)), (tenant_id,)).fetchall()


def make_row(connection: psycopg.Connection[Any], table: str, **known: Any) -> None:
    """Insert a row as superuser: the known values, and any that fits in every other column that must have one.

    What the row refers to needs not be there, and no trigger runs.
    """
    columns = connection.execute(_COLUMNS, (table, list(known))).fetchall()
    values = [_value(name, kind, checks, known) for name, kind, checks in columns]
    insert = sql.SQL("insert into {} ({}) values ({})").format(
        sql.Identifier(table),
        sql.SQL(", ").join(sql.Identifier(name) for name, _, _ in columns),
        sql.SQL(", ").join(values),
    )
    with connection.transaction():
        connection.execute("set local session_replication_role = replica")
        connection.execute(insert)


def _value(name: str, kind: str, checks: str, known: dict[str, Any]) -> sql.Composable:
    word = re.search(r"ANY \(ARRAY\['([^']*)'", checks)
    if name in known:
        return sql.Literal(known[name])
    if name == "expires_at":
        return sql.SQL("now() + interval '1 day'")  # what has run out is anybody's to take away
    return sql.Literal(word[1]) if word else sql.SQL(_VALUES[kind])
