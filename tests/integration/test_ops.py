"""Operations that have no route: what each command does, and that none of them ever raises or tells a secret."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from chalicelib import bootstrap
from chalicelib.errors import Conflict, Forbidden, Unauthorized
from chalicelib.services import tenancy, tokens
from chalicelib.storage import migrate
from chalicelib.workers import ops
from tests.any_row import ensure_row
from tests.api.furniture import furnish
from tests.postgres import TestServer
from tests.tenants import Deployment, Tenant


@pytest.fixture(scope="module")
def house(server: TestServer) -> Iterator[Deployment]:
    deployment = Deployment(server, server.create())
    owner = deployment.build("larder_owner")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: owner)
        yield deployment
    owner.database.close()
    deployment.close()
    server.drop(deployment.database_name)


@pytest.fixture
def name(house: Deployment) -> str:
    """A tenant's name that no other test uses."""
    return f"tenant-{uuid4()}"


def run(command: str, **arguments: Any) -> Any:
    """The result of a command that works."""
    answer = ops.run({"command": command, **arguments})
    assert answer["ok"], answer
    json.dumps(answer)  # Lambda sends it as JSON
    return answer["result"]


def refused(command: str, **arguments: Any) -> dict[str, Any]:
    answer = ops.run({"command": command, **arguments})
    assert answer.keys() == {"ok", "code", "detail"}, answer
    assert answer["ok"] is False
    return answer


def rows(house: Deployment, statement: Any, *values: Any) -> list[Any]:
    with psycopg.connect(house.server.url(house.database_name, "postgres"), autocommit=True) as connection:
        cursor = connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


# --- Tenants ---


def test_a_new_tenant_comes_with_two_tokens_that_work(house: Deployment, name: str) -> None:
    made = run("tenant_create", name=f" {name} ", plan="team", operator="Ada")
    assert (made["name"], made["plan"]) == (name, "team")
    who = tokens.authenticate(house.outside.database, made["api_token"], made["admin_token"], admin_needed=True)
    assert str(who.tenant_id) == made["tenant_id"]
    assert who.operator_name == "Ada"
    (listed,) = [tenant for tenant in run("tenant_list") if tenant["name"] == name]
    assert (listed["id"], listed["plan"], listed["enabled"]) == (made["tenant_id"], "team", True)


def test_the_plan_is_free_unless_it_is_named(name: str, house: Deployment) -> None:
    assert run("tenant_create", name=name)["plan"] == "free"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "  "}, "name"),
        ({"name": None}, "name"),
        ({"name": 7}, "name"),
        ({"name": ["x"]}, "name"),
        ({"name": "n" * 201}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "a\ud800b"}, "name"),
        ({"name": "x", "plan": "gold"}, "plan"),
        ({"name": "x", "plan": 7}, "plan"),
        ({"name": "x", "plan": ["free"]}, "plan"),
        ({"name": "x", "plan": "free\0"}, "plan"),
        ({"name": "x", "operator": 7}, "operator"),
        ({"name": "x", "operator": {"a": 1}}, "operator"),
        ({"name": "x", "color": "blue"}, "color"),
        ({"name": "x", "id": "1"}, "id"),
    ],
)
def test_what_cannot_be_a_tenant_is_refused_by_field(arguments: dict[str, Any], field: str, house: Deployment) -> None:
    before = rows(house, "select count(*) from tenants")
    answer = refused("tenant_create", **arguments)
    assert answer["code"] == "invalid_field"
    assert answer["detail"].startswith(f"{field}: ")
    assert rows(house, "select count(*) from tenants") == before


def test_a_name_is_taken_once(house: Deployment, name: str) -> None:
    run("tenant_create", name=name)
    assert refused("tenant_create", name=name)["code"] == "tenant_exists"
    assert refused("tenant_create", name=f" {name}\t".rstrip("\t"))["code"] == "tenant_exists"


def test_a_name_is_taken_once_by_eight_operators_at_once(house: Deployment, name: str) -> None:
    def create(_: int) -> dict[str, Any]:
        outside = house.build("larder_owner")
        try:
            return tenancy.create(outside.database, name=name, plan="free", operator=None, now=datetime.now(UTC))
        except Conflict as conflict:
            return {"code": conflict.code}
        finally:
            outside.database.close()

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(create, range(8)))
    assert sorted(answer.get("code", "made") for answer in made) == ["made"] + ["tenant_exists"] * 7


def test_a_tenant_is_switched_off_and_on(house: Deployment, name: str) -> None:
    made = run("tenant_create", name=name)

    def enabled() -> bool:
        return bool(rows(house, "select enabled from tenants where id = %s", made["tenant_id"])[0][0])

    run("tenant_enable", name=name, enabled=False)
    assert enabled() is False
    run("tenant_enable", name=name, enabled=True)
    assert enabled() is True


@pytest.mark.parametrize("enabled", ["false", "true", 0, 1, None, [], ""])
def test_a_switch_that_is_neither_on_nor_off_turns_nothing(enabled: Any, house: Deployment, name: str) -> None:
    made = run("tenant_create", name=name)
    for now in (True, False):
        run("tenant_enable", name=name, enabled=now)
        assert refused("tenant_enable", name=name, enabled=enabled)["detail"].startswith("enabled: ")
        assert rows(house, "select enabled from tenants where id = %s", made["tenant_id"]) == [(now,)]


@pytest.mark.parametrize("command", ["tenant_enable", "tenant_delete", "token_create"])
def test_a_tenant_that_is_not_there_is_told(command: str, house: Deployment) -> None:
    arguments: dict[str, Any] = (
        {"tenant": "nobody", "class": "api"} if command == "token_create" else {"name": "nobody"}
    )
    assert refused(command, **arguments)["code"] == "not_found"


def test_deleting_a_tenant_removes_its_rows_from_every_table_and_nobody_elses(
    house: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = house.tenant(f"ours-{uuid4()}"), house.tenant(f"theirs-{uuid4()}")
    with monkeypatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: house.outside)
        for tenant in (ours, theirs):
            furnish(tenant)
    tenant_tables = [
        table
        for (table,) in rows(
            house,
            "select table_name from information_schema.columns where table_schema = 'public' "
            "and column_name = 'tenant_id' order by 1",
        )
    ]
    with psycopg.connect(house.server.url(house.database_name, "postgres"), autocommit=True) as connection:
        for table in tenant_tables:
            ensure_row(connection, table, ours.id)
            ensure_row(connection, table, theirs.id)

    def count(tenant: Tenant) -> dict[str, int]:
        query = sql.SQL("select count(*) from {} where tenant_id = %s")
        return {table: rows(house, query.format(sql.Identifier(table)), tenant.id)[0][0] for table in tenant_tables}

    assert min(count(ours).values()) > 0, count(ours)
    before = count(theirs)
    run("tenant_delete", name=ours.name)
    assert set(count(ours).values()) == {0}, count(ours)
    assert rows(house, "select from tenants where id = %s", ours.id) == []
    assert count(theirs) == before
    with pytest.raises(Unauthorized):
        tokens.authenticate(house.outside.database, ours.api_token, None, admin_needed=False)
    assert refused("tenant_delete", name=ours.name)["code"] == "not_found"


# --- Tokens ---


def test_a_token_is_shown_once_and_only_its_hash_is_kept(house: Deployment, name: str) -> None:
    run("tenant_create", name=name)
    made = run("token_create", tenant=name, **{"class": "api"}, label="laptop")
    assert (made["tenant"], made["class"]) == (name, "api")
    listed = [token for token in run("token_list", tenant=name) if token["label"] == "laptop"]
    assert len(listed) == 1
    assert rows(house, "select count(*) from api_tokens where token_hash = sha256(%s)", made["token"].encode()) == [
        (1,)
    ]


def test_a_list_of_tokens_shows_neither_token_nor_hash(house: Deployment, name: str) -> None:
    made = run("tenant_create", name=name)
    hashes = [row[0] for row in rows(house, "select encode(token_hash, 'hex') from api_tokens")]
    for listed in (run("token_list", tenant=name), run("token_list")):
        text = json.dumps(listed)
        assert listed
        assert all(token.keys() & {"token", "token_hash", "hash"} == set() for token in listed)
        assert made["api_token"] not in text
        assert not any(digest in text for digest in hashes)
    assert {token["tenant"] for token in run("token_list", tenant=name)} == {name}
    assert run("token_list", tenant="nobody") == []


def test_a_revoked_token_ends_at_once_and_the_others_go_on(house: Deployment, name: str) -> None:
    made = run("tenant_create", name=name)
    other = run("token_create", tenant=name, **{"class": "api"})["token"]
    by_class = {token["class"]: token["id"] for token in run("token_list", tenant=name)[:2]}
    run("token_revoke", id=by_class["api"])
    database = house.outside.database
    with pytest.raises(Unauthorized):
        tokens.authenticate(database, made["api_token"], None, admin_needed=False)
    tokens.authenticate(database, other, made["admin_token"], admin_needed=True)
    run("token_revoke", id=by_class["admin"].upper())
    with pytest.raises(Forbidden):
        tokens.authenticate(database, other, made["admin_token"], admin_needed=True)
    assert refused("token_revoke", id=by_class["api"])["code"] == "not_found"
    revoked = {token["id"] for token in run("token_list", tenant=name) if token["revoked_at"] is not None}
    assert revoked == set(by_class.values())


@pytest.mark.parametrize("ident", [None, "", "x", 7, "00000000000000000000000000000000", "{}", "\0", "*"])
def test_only_a_uuid_names_a_token(ident: Any, house: Deployment) -> None:
    assert refused("token_revoke", id=ident)["detail"].startswith("id: ")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"class": "root"}, "class"),
        ({"class": ""}, "class"),
        ({"class": 7}, "class"),
        ({}, "class"),
        ({"class": "api", "operator": "Ada"}, "operator"),
        ({"class": "admin", "operator": ["Ada"]}, "operator"),
        ({"class": "api", "label": 7}, "label"),
        ({"class": "api", "label": "a\0"}, "label"),
        ({"class": "api", "scope": "all"}, "scope"),
    ],
)
def test_what_cannot_be_a_token_is_refused_by_field(
    arguments: dict[str, Any], field: str, house: Deployment, name: str
) -> None:
    run("tenant_create", name=name)
    before = rows(house, "select count(*) from api_tokens")
    answer = refused("token_create", tenant=name, **arguments)
    assert (answer["code"], answer["detail"].partition(":")[0]) == ("invalid_field", field)
    assert rows(house, "select count(*) from api_tokens") == before


def test_a_list_of_tokens_of_what_is_no_name_is_refused(house: Deployment) -> None:
    assert refused("token_list", tenant=7)["detail"].startswith("tenant: ")


# --- Commands ---


@pytest.mark.parametrize(
    "event", [None, {}, [], "migrate", 7, {"command": "drop"}, {"command": None}, {"command": ["migrate"]}]
)
def test_what_is_no_command_is_refused_with_those_there_are(event: Any, house: Deployment) -> None:
    answer = ops.run(event)
    assert (answer["ok"], answer["code"]) == (False, "invalid_field")
    assert "tenant_create" in answer["detail"]


@pytest.mark.parametrize("command", ["migrate", "migrations_pending", "tenant_list"])
def test_a_command_without_arguments_takes_none(command: str, house: Deployment) -> None:
    assert refused(command, force=True)["detail"].startswith("force: ")


def test_migrating_what_is_current_applies_nothing(house: Deployment) -> None:
    assert run("migrations_pending") == {"pending": []}
    assert run("migrate") == {"applied": []}


def test_migrating_a_blank_database_applies_all(
    server: TestServer, house: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    blank = Deployment(server, server.create_blank())
    owner = blank.build("larder_owner")
    monkeypatch.setattr(bootstrap, "outside", lambda: owner)
    every = [migration.name for migration in migrate.files()]
    assert run("migrations_pending") == {"pending": every}
    assert run("migrate") == {"applied": every}
    assert run("migrations_pending") == {"pending": []}
    owner.database.close()
    blank.close()
    server.drop(blank.database_name)


def test_a_database_that_does_not_answer_is_an_answer(house: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Deployment(house.server, "no_such_database").build("larder_owner")
    monkeypatch.setattr(bootstrap, "outside", lambda: nowhere)
    for command in ("tenant_list", "migrate"):
        assert refused(command)["code"] == "unavailable"


def test_the_edges_own_role_can_neither_list_tenants_nor_make_one(
    house: Deployment, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "outside", lambda: house.outside)
    assert run("tenant_list") == []
    assert refused("tenant_create", name=name)["code"] == "internal_error"
    assert refused("token_list")["code"] == "internal_error"


def test_nothing_of_a_call_ends_in_the_log(
    house: Deployment, name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("tenant_create", name=name)
    monkeypatch.setattr(bootstrap, "outside", lambda: house.outside)
    refused("tenant_create", name=f"{name}-2")
    assert name not in capfd.readouterr().out
