from __future__ import annotations

import json
from uuid import uuid4

import pytest

from tests.api.cli.conftest import Cli
from tests.integration import rows
from tests.tenants import Deployment, Tenant


def test_a_problem_is_one_line_on_stderr_and_ends_with_1(cli: Cli) -> None:
    result = cli("sources", "show", str(uuid4()))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "error: there is no such source (not_found)\n"


def test_with_json_a_problem_is_a_document_on_stderr_and_nothing_on_stdout(cli: Cli) -> None:
    result = cli("settings", "set", "--cap", "0", "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    problem = json.loads(result.stderr)
    assert (problem["status"], problem["code"], problem["field"]) == (422, "invalid_field", "nightly_job_cap")


@pytest.mark.parametrize(
    ("environment", "arguments", "code"),
    [
        ({"LARDER_TOKEN": None}, ("status",), "unauthorized"),
        ({"LARDER_TOKEN": "wrong"}, ("status",), "unauthorized"),
        ({"LARDER_ADMIN_TOKEN": None}, ("settings", "set", "--cap", "9"), "admin_token_required"),
        ({"LARDER_ADMIN_TOKEN": "wrong"}, ("settings", "set", "--cap", "9"), "admin_token_required"),
        ({"LARDER_URL": "http://127.0.0.1:9"}, ("status",), "unreachable"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, ("ops", "tenant", "list"), "unreachable"),
        ({"AWS_DEFAULT_REGION": None}, ("ops", "tenant", "list"), "unreachable"),
    ],
)
def test_whoever_is_not_let_in_or_finds_nobody_is_told_so(
    cli: Cli, environment: dict[str, str | None], arguments: tuple[str, ...], code: str
) -> None:
    result = cli(*arguments, "--json", **environment)
    assert (result.exit_code, result.stdout) == (1, "")
    assert json.loads(result.stderr)["code"] == code


@pytest.mark.parametrize("url", ["example.com", "ftp://example.com"])
def test_a_url_that_is_none_is_a_wrong_call(cli: Cli, url: str) -> None:
    result = cli("status", LARDER_URL=url)
    assert result.exit_code == 2
    assert "LARDER_URL" in result.stderr


@pytest.mark.parametrize("arguments", [("nonsense",), ("sources", "nonsense"), ("status", "--nonsense"), ("text",)])
def test_a_wrong_call_ends_with_2(cli: Cli, arguments: tuple[str, ...]) -> None:
    result = cli(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")


def test_who_must_wait_is_told_for_how_long(cli: Cli, acme: Tenant, live: Deployment) -> None:
    rows.sql(live, "update tenants set mutations_per_hour = 1 where id = %s", acme.id)
    assert cli("settings", "set", "--cap", "9").exit_code == 0
    result = cli("settings", "set", "--cap", "8")
    assert result.exit_code == 1
    assert result.stderr == "error: at most 1 mutations an hour (rate_limited); try again in 60 minutes\n"


def test_no_message_holds_a_token(cli: Cli) -> None:
    for arguments in (("status",), ("sources", "show", "x"), ("settings", "set", "--cap", "0")):
        result = cli(*arguments, LARDER_URL="http://127.0.0.1:9")
        for name in ("LARDER_TOKEN", "LARDER_ADMIN_TOKEN"):
            assert cli.environment[name] not in result.output
