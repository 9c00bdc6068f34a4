from __future__ import annotations

from uuid import uuid4

import pytest

from tests.api.cli.conftest import Cli
from tests.tenants import Tenant


def test_ops_migrate_has_nothing_to_do_on_a_database_that_is_up_to_date(cli: Cli) -> None:
    assert cli("ops", "migrate").stdout == "nothing to do\n"
    assert cli("ops", "migrate", "--pending").stdout == "nothing to do\n"
    assert cli.json("ops", "migrate") == {"applied": []}


def test_a_new_tenant_can_be_used_with_the_tokens_that_are_shown(cli: Cli) -> None:
    name = f"new-{uuid4()}"
    made = cli.json("ops", "tenant", "create", name, "--plan", "team")
    assert (made["name"], made["plan"]) == (name, "team")
    tokens = {"LARDER_TOKEN": made["api_token"], "LARDER_ADMIN_TOKEN": made["admin_token"]}
    assert cli("sources", "add", "https://example.com/", **tokens).exit_code == 0
    assert name in cli("ops", "tenant", "list").stdout
    assert [one["plan"] for one in cli.json("ops", "tenant", "list") if one["name"] == name] == ["team"]
    for word in (made["api_token"], made["admin_token"]):
        assert word not in cli("ops", "token", "list", name).output


def test_the_tokens_of_a_new_tenant_are_printed_for_people_too(cli: Cli) -> None:
    shown = cli("ops", "tenant", "create", f"new-{uuid4()}").stdout
    assert {line.split()[0] for line in shown.splitlines()} >= {"api_token", "admin_token", "plan"}


def test_a_disabled_tenant_is_told_so_until_it_is_enabled(cli: Cli, acme: Tenant) -> None:
    assert cli("ops", "tenant", "disable", acme.name).exit_code == 0
    assert cli.json("status")["enabled"] is False
    assert "kb_disabled" in cli("sources", "list").stderr
    assert cli("ops", "tenant", "enable", acme.name).exit_code == 0
    assert cli("sources", "list").exit_code == 0


def test_a_tenant_is_deleted_after_a_yes_and_not_after_a_no(cli: Cli, acme: Tenant) -> None:
    asked = cli("ops", "tenant", "delete", acme.name, answer="n\n")
    assert asked.exit_code == 1
    assert acme.name in asked.stderr
    assert cli("status").exit_code == 0
    assert cli("ops", "tenant", "delete", acme.name, answer="y\n").exit_code == 0
    assert "unauthorized" in cli("status").stderr
    assert "not_found" in cli("ops", "tenant", "delete", acme.name, "--yes").stderr


def test_a_token_lets_in_until_it_is_revoked(cli: Cli, acme: Tenant) -> None:
    token = cli("ops", "token", "create", acme.name, "--label", "the report").stdout.strip()
    assert cli("status", LARDER_TOKEN=token).exit_code == 0
    [row] = [one for one in cli.json("ops", "token", "list", acme.name) if one["label"] == "the report"]
    assert row["id"] in cli("ops", "token", "list").stdout
    assert cli("ops", "token", "revoke", row["id"]).stdout == "revoked\n"
    assert "unauthorized" in cli("status", LARDER_TOKEN=token).stderr
    assert "not_found" in cli("ops", "token", "revoke", row["id"]).stderr


def test_an_admin_token_may_be_for_a_named_person_and_an_api_token_may_not(cli: Cli, acme: Tenant) -> None:
    made = cli.json("ops", "token", "create", acme.name, "--class", "admin", "--operator", "Robin")
    assert cli("settings", "set", "--cap", "8", LARDER_ADMIN_TOKEN=made["token"]).exit_code == 0
    assert "Robin" in cli("ops", "token", "list", acme.name).stdout
    refused = cli("ops", "token", "create", acme.name, "--operator", "Robin")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "operator" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("tenant", "create", "x", "--plan", "golden"), "invalid_field"),
        (("tenant", "create", " "), "invalid_field"),
        (("tenant", "enable", "nobody"), "not_found"),
        (("token", "create", "nobody"), "not_found"),
    ],
)
def test_what_operations_refuse_is_a_problem(cli: Cli, arguments: tuple[str, ...], code: str) -> None:
    result = cli("ops", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"({code})" in result.stderr


def test_a_name_that_is_taken_is_refused(cli: Cli, acme: Tenant) -> None:
    assert "tenant_exists" in cli("ops", "tenant", "create", acme.name).stderr


def test_a_function_that_is_not_there_is_unreachable(cli: Cli) -> None:
    result = cli("ops", "migrate", LARDER_OPS_FUNCTION="another")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "another" in result.stderr
    assert "Traceback" not in result.output
