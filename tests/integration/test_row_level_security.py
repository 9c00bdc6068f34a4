"""Tenants never see each other: the database itself holds them apart, whatever a statement asks for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from chalicelib import bootstrap
from tests.any_row import ensure_row
from tests.api.furniture import furnish
from tests.postgres import TestServer
from tests.tenants import Deployment, Tenant

ROLES = ["larder_app", "larder_worker"]
NARROWER = ["larder_public", "larder_internal"]
"""What larder_app becomes for one transaction, to read less than it may itself."""

LOOK_UPS = {
    "find_token": {"larder_app"},
    "find_token_by_id": {"larder_app"},
    "find_own_registration": {"larder_app"},
    "find_origin": {"larder_app"},
    "search_words": {"larder_app", *NARROWER},
    "erase_chunk": {"larder_app", "larder_worker"},
    "lapse_consolidation": set[str](),
    "drop_finished_work": {"larder_worker"},
    "note_search_write": set[str](),  # triggers alone
    "close_suggestion": set[str](),
    "forget_search_writes": set[str](),
}
"""The functions that run as larder_reader, each for one thing that row-level security keeps from its callers."""

SHARED = {"plans", "embedding_cache", "host_leases", "scheduler_state", "schema_migrations"}
"""Tables that no tenant owns. A table that is neither here nor has a tenant is a mistake."""

READS = {("larder_worker", "tenants"), ("larder_worker", "kb_sources"), ("larder_worker", "chunk_policies")}
"""What the tick must read across tenants to know who is due: settings, sources, ends of texts, never a text."""

WORK = ("kb_events", "kb_run_queue", "kb_night_use", "consolidation_work")
CHAINS = ("evaluation_segments", "policy_evaluations")
WRITES = {("larder_worker", name) for name in (*WORK, *CHAINS)}
"""The work itself, which the dispatcher hands out for everybody, and the chains of decisions, which it seals."""


@dataclass
class House:
    """Two tenants, each with a row in every tenant table."""

    deployment: Deployment
    ours: Tenant
    theirs: Tenant
    their_ids: dict[str, UUID]
    tables: dict[str, sql.Identifier]

    @contextmanager
    def acting(self, role: str, tenant: UUID | str | None) -> Iterator[psycopg.Connection[Any]]:
        """A transaction as ``role`` in which ``tenant`` is set; undone at the end."""
        login = "larder_app" if role in NARROWER else role
        url = self.deployment.server.url(self.deployment.database_name, login)
        with psycopg.connect(url, prepare_threshold=None) as connection:
            connection.execute(sql.SQL("set local role {}").format(sql.Identifier(role)))
            if tenant is not None:
                connection.execute("select set_config('larder.tenant_id', %s, true)", (str(tenant),))
            yield connection
            connection.rollback()

    def super(self, statement: Any, *values: Any) -> list[Any]:
        with self.acting("postgres", None) as connection:
            return connection.execute(statement, values).fetchall()


@pytest.fixture(scope="module")
def house(server: TestServer) -> Iterator[House]:
    deployment = Deployment(server, server.create())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: deployment.outside)
        ours, theirs = deployment.tenant("ours"), deployment.tenant("theirs")
        furnish(ours)
        house = House(deployment, ours, theirs, furnish(theirs), {})
        house.tables = {table: sql.Identifier(column) for table, column in house.super(_TENANT_TABLES)}
        with psycopg.connect(server.url(deployment.database_name, "postgres"), autocommit=True) as connection:
            for table in set(house.tables) - {"tenants"}:
                ensure_row(connection, table, ours.id)
                ensure_row(connection, table, theirs.id)
        yield house
    deployment.close()
    server.drop(deployment.database_name)


_TENANT_TABLES = """
select table_name, case table_name when 'tenants' then 'id' else 'tenant_id' end
  from information_schema.tables t
 where table_schema = 'public' and table_type = 'BASE TABLE'
   and (table_name = 'tenants'
     or exists (select from information_schema.columns c
                 where c.table_schema = 'public' and c.table_name = t.table_name and c.column_name = 'tenant_id'))
"""


def statement(text: str, house: House, table: str) -> sql.Composed:
    return sql.SQL(text).format(table=sql.Identifier(table), tenant=house.tables[table])


def attempt(connection: psycopg.Connection[Any], query: Any, *values: Any) -> int:
    """How many rows it touched; none if the role may not even try."""
    try:
        with connection.transaction():
            return connection.execute(query, values).rowcount
    except psycopg.errors.InsufficientPrivilege:
        return 0


def test_both_tenants_have_a_row_in_every_tenant_table(house: House) -> None:
    assert len(house.tables) >= 11
    for table in house.tables:
        for tenant in (house.ours, house.theirs):
            assert house.super(statement("select from {table} where {tenant} = %s", house, table), tenant.id), table


def test_every_table_belongs_to_tenants_or_is_known_to_be_shared(house: House) -> None:
    every = {name for (name,) in house.super("select tablename from pg_tables where schemaname = 'public'")}
    assert every - set(house.tables) == SHARED


def test_every_tenant_table_forces_row_level_security_upon_its_owner_too(house: House) -> None:
    rows = house.super(
        "select relname, relrowsecurity, relforcerowsecurity from pg_class where relname = any (%s)", list(house.tables)
    )
    assert sorted(rows) == sorted((table, True, True) for table in house.tables)


@pytest.mark.parametrize("role", [*ROLES, *NARROWER])
def test_nobody_reads_another_tenants_row(role: str, house: House) -> None:
    with house.acting(role, house.ours.id) as connection:
        for table in house.tables:
            query = statement("select from {table} where {tenant} is distinct from %s", house, table)
            seen = attempt(connection, query, house.ours.id)
            assert (seen > 0) == ((role, table) in READS | WRITES), table


@pytest.mark.parametrize("role", ROLES)
def test_everybody_reads_what_is_the_tenants_own(role: str, house: House) -> None:
    with house.acting(role, house.ours.id) as connection:
        for table in ("tenants", "kb_sources", "kb_versions", "kb_chunks", "kb_suggestions", "kb_events"):
            assert attempt(
                connection, statement("select from {table} where {tenant} = %s", house, table), house.ours.id
            )


@pytest.mark.parametrize("role", [*ROLES, *NARROWER])
def test_nobody_changes_or_deletes_another_tenants_row(role: str, house: House) -> None:
    with house.acting(role, house.ours.id) as connection:
        for table in house.tables:
            change = statement("update {table} set {tenant} = {tenant} where {tenant} = %s", house, table)
            delete = statement("delete from {table} where {tenant} = %s", house, table)
            touched = [attempt(connection, query, house.theirs.id) for query in (change, delete)]
            assert any(touched) == ((role, table) in WRITES), table


@pytest.mark.parametrize("role", [*ROLES, *NARROWER])
def test_nobody_gives_a_row_to_another_tenant(role: str, house: House) -> None:
    with house.acting(role, house.ours.id) as connection:
        for table in house.tables:
            if (role, table) not in WRITES:
                query = statement("update {table} set {tenant} = %s where {tenant} = %s", house, table)
                assert attempt(connection, query, house.theirs.id, house.ours.id) == 0, table


@pytest.mark.parametrize("role", [*ROLES, *NARROWER])
def test_nobody_makes_a_row_for_another_tenant(role: str, house: House) -> None:
    for table in house.tables:
        if (role, table) in WRITES:
            continue
        ((row,),) = house.super(
            statement("select to_jsonb(t) from {table} t where {tenant} = %s limit 1", house, table), house.theirs.id
        )
        query = _insert(house, table)
        with house.acting(role, house.ours.id) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(query, (Jsonb(row),))


def _insert(house: House, table: str) -> sql.Composed:
    """A copy of a row from JSON; columns that the database fills by itself are left to it."""
    columns = house.super(
        "select attname from pg_attribute where attrelid = %s::regclass and attnum > 0 and not attisdropped "
        "and attgenerated = '' and attidentity = '' order by attnum",
        table,
    )
    names = sql.SQL(", ").join(sql.Identifier(name) for (name,) in columns)
    return sql.SQL("insert into {t} ({names}) select {names} from jsonb_populate_record(null::{t}, %s)").format(
        t=sql.Identifier(table), names=names
    )


@pytest.mark.parametrize("role", [*ROLES, *NARROWER])
@pytest.mark.parametrize("tenant", [None, "", str(uuid4())], ids=["unset", "empty", "unknown"])
def test_without_a_tenant_there_is_nothing_to_see(role: str, tenant: str | None, house: House) -> None:
    with house.acting(role, tenant) as connection:
        for table in house.tables:
            seen = attempt(connection, statement("select from {table}", house, table))
            assert (seen > 0) == ((role, table) in READS | WRITES), table


def test_a_setting_that_is_no_uuid_is_an_error_and_no_way_in(house: House) -> None:
    for wrong in ("x", "*", "' or true --"):
        with house.acting("larder_app", wrong) as connection, pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("select from kb_sources")


def test_the_tenant_ends_with_its_transaction(house: House) -> None:
    database = house.deployment.outside.database
    with database.transaction(house.ours.id) as tx:
        assert tx.value("sources.count_active", tenant_id=house.ours.id) > 0
    with database.transaction() as tx:
        assert tx.value("sources.count_active", tenant_id=house.ours.id) == 0
    with pytest.raises(ZeroDivisionError), database.transaction(house.ours.id):
        raise ZeroDivisionError
    with database.transaction() as tx:
        assert tx.value("sources.count_active", tenant_id=house.ours.id) == 0


def test_the_owner_is_bound_too_and_reads_no_more_than_its_commands_need(house: House) -> None:
    """It makes tenants and tokens, and it may become the role of the look-ups."""
    granted = house.super(
        "select distinct tablename from pg_policies where roles && '{larder_owner,larder_reader}' and qual is not null"
    )
    with house.acting("larder_owner", house.ours.id) as connection:
        for table in house.tables:
            seen = attempt(connection, statement("select from {table}", house, table))
            assert seen == 0 or (table,) in granted, table
        assert ("policy_evaluations",) not in granted


# --- Roles ---


def test_no_role_of_the_functions_can_step_out_of_its_bounds(house: House) -> None:
    powers = "rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication"
    roles = house.super(
        f"select rolname, rolcanlogin, {powers} from pg_roles where rolname like 'larder\\_%%' order by 1"
    )
    assert roles == [
        ("larder_app", True, False),
        ("larder_internal", False, False),
        ("larder_owner", True, True),
        ("larder_public", False, False),
        ("larder_reader", False, False),
        ("larder_worker", True, False),
    ]


def test_only_the_edge_may_become_another_and_only_one_that_may_less(house: House) -> None:
    memberships = house.super(
        "select member::regrole::text, roleid::regrole::text, inherit_option, admin_option from pg_auth_members "
        "where member::regrole::text like 'larder\\_%%' and member <> 'larder_owner'::regrole order by 2"
    )
    assert memberships == [("larder_app", role, False, False) for role in sorted(NARROWER)]


@pytest.mark.parametrize("role", ROLES)
def test_the_functions_roles_own_nothing_and_make_nothing(role: str, house: House) -> None:
    owned = house.super(
        "select relname from pg_class where relowner = %(r)s::regrole union all "
        "select proname from pg_proc where proowner = %(r)s::regrole union all "
        "select typname from pg_type where typowner = %(r)s::regrole union all "
        "select nspname from pg_namespace where nspowner = %(r)s::regrole".replace("%(r)s", f"'{role}'")
    )
    assert owned == []
    for attempt_at in (
        "create table mine (x integer)",
        "create function mine() returns integer language sql as 'select 1'",
        "drop policy own_tenant on kb_sources",
        "alter table kb_sources disable row level security",
        "alter table kb_sources no force row level security",
        "set role larder_owner",
        "set session authorization larder_owner",
        "truncate kb_sources",
        "copy kb_sources to program 'cat'",
    ):
        with house.acting(role, house.ours.id) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(attempt_at)


def test_nothing_is_granted_to_everybody(house: House) -> None:
    open_tables = house.super(
        "select table_name from information_schema.role_table_grants "
        "where grantee = 'PUBLIC' and table_schema = 'public'"
    )
    assert open_tables == []
    assert house.super("select has_schema_privilege('public', 'public', 'create')") == [(False,)]


def test_row_security_cannot_be_switched_off_for_a_read(house: House) -> None:
    with house.acting("larder_app", house.ours.id) as connection:
        connection.execute("set local row_security = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select from kb_sources")


# --- The functions that run with other rights ---


def test_they_are_few_each_with_a_pinned_search_path_and_its_own_callers(house: House) -> None:
    rows = house.super(
        "select regexp_replace(proname, '_v[0-9]+$', ''), proowner::regrole::text, proconfig from pg_proc "
        "where prosecdef and pronamespace = 'public'::regnamespace"
    )
    assert {name for name, _, _ in rows} == set(LOOK_UPS)
    assert all(owner == "larder_reader" for _, owner, _ in rows)
    assert all(settings == ["search_path=pg_catalog, public"] for _, _, settings in rows)
    callers = house.super(
        "select regexp_replace(proname, '_v[0-9]+$', ''), r.rolname from pg_proc p, pg_roles r where p.prosecdef "
        "and p.pronamespace = 'public'::regnamespace and not r.rolsuper and r.rolname not like 'pg\\_%%' "
        "and has_function_privilege(r.oid, p.oid, 'execute') and not pg_has_role(r.oid, p.proowner, 'usage')"
    )
    assert {name: {role for called, role in callers if called == name} for name in LOOK_UPS} == LOOK_UPS


def test_a_token_is_found_by_its_exact_hash_alone(house: House) -> None:
    digest = hashlib.sha256(house.theirs.api_token.encode()).digest()
    wrong: list[bytes | None] = [digest[:-1], digest + b"\0", b"", None, bytes(32), digest.hex().encode(), digest[::-1]]
    with house.acting("larder_app", None) as connection:

        def find(value: bytes | None) -> list[Any]:
            return connection.execute("select tenant_id, class from find_token_v1(%s)", (value,)).fetchall()

        assert find(digest) == [(house.theirs.id, "api")]
        assert [find(value) for value in wrong] == [[]] * len(wrong)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select token_hash from api_tokens")


def test_a_revoked_token_is_not_found(house: House) -> None:
    token = house.deployment.tenant("revoked").api_token
    digest = hashlib.sha256(token.encode()).digest()
    with house.acting("postgres", None) as connection:
        connection.execute("update api_tokens set revoked_at = now() where token_hash = %s", (digest,))
        assert connection.execute("select from find_token_v1(%s)", (digest,)).fetchall() == []


@pytest.mark.parametrize("words", ["kettle", "kettle or whistles", "-nothing", "blue red kettle whistles"])
def test_the_keyword_search_finds_the_set_tenants_chunks_alone(words: str, house: House) -> None:
    own = house.super("select row_id from kb_chunks where tenant_id = %s", house.ours.id)
    everything = "select row_id from search_words_v3(%s, null, null, null, 100)"
    with house.acting("larder_app", house.ours.id) as connection:
        found = connection.execute(everything, (words,)).fetchall()
        assert set(found) <= set(own)
        theirs = "select row_id from search_words_v3(%s, %s, null, null, 100)"
        assert connection.execute(theirs, (words, [house.their_ids["source_id"]])).fetchall() == []
    for unset in (None, ""):
        with house.acting("larder_app", unset) as connection:
            assert connection.execute(everything, (words,)).fetchall() == []
