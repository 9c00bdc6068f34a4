from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.cli.conftest import Cli
from tests.tenants import Tenant

NO_VARIABLES = dict.fromkeys(
    ("LARDER_URL", "LARDER_TOKEN", "LARDER_ADMIN_TOKEN", "LARDER_OPS_FUNCTION", "AWS_ENDPOINT_URL")
)


@pytest.fixture
def state(tmp_path: Path, url: str, acme: Tenant) -> str:
    tenant = {"name": acme.name, "api_token": acme.api_token, "admin_token": acme.admin_token}
    file = tmp_path / "state.json"
    file.write_text(
        json.dumps({"url": url, "endpoint_url": url, "outputs": {"OpsName": "larder-ops"}, "tenant": tenant})
    )
    return str(file)


def test_without_a_url_the_local_cloud_is_used_with_its_tokens(cli: Cli, url: str, state: str) -> None:
    result = cli("--cloud", state, "settings", "set", "--cap", "9", "--json", **NO_VARIABLES)
    assert (result.exit_code, json.loads(result.stdout)["nightly_job_cap"], result.stderr) == (0, 9, "")


def test_which_deployment_is_used_is_said_on_demand_and_where_something_goes_wrong(
    cli: Cli, url: str, state: str
) -> None:
    notice = f"LARDER_URL is not set: using the local cloud at {url}\n"
    assert cli("--cloud", state, "--verbose", "status", **NO_VARIABLES).stderr == notice
    failed = cli("--cloud", state, "sources", "show", "nobody", **NO_VARIABLES)
    assert failed.stderr == f"error: no source has the id, uri or name 'nobody'\n{notice}"
    for_programs = cli("--cloud", state, "sources", "show", "nobody", "--json", **NO_VARIABLES)
    assert json.loads(for_programs.stderr)["code"] == "not_found"


def test_where_it_was_asked_is_left_out_of_a_refusal_that_has_nothing_to_do_with_it(cli: Cli, state: str) -> None:
    refused = cli("--cloud", state, "settings", "set", "--cap", "0", **NO_VARIABLES)
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    cli("--cloud", state, "sources", "add", "https://example.com/", **NO_VARIABLES)
    unread = cli("--cloud", state, "text", "https://example.com/", **NO_VARIABLES)
    assert unread.stderr == "error: https://example.com/ has never been fetched\n"


def test_without_a_function_the_local_cloud_is_operated(cli: Cli, acme: Tenant, state: str) -> None:
    result = cli("--cloud", state, "ops", "tenant", "list", **NO_VARIABLES)
    assert result.exit_code == 0
    assert acme.name in result.stdout
    told = cli("--cloud", state, "ops", "tenant", "enable", "nobody", **NO_VARIABLES).stderr
    assert "LARDER_OPS_FUNCTION is not set: using the local cloud at " in told


def test_the_local_clouds_tokens_never_go_to_another_url(cli: Cli, state: str) -> None:
    result = cli("--cloud", state, "status", LARDER_TOKEN=None, LARDER_ADMIN_TOKEN=None)
    assert (result.exit_code, result.stderr) == (1, "error: a valid API token is needed (unauthorized)\n")


@pytest.mark.parametrize("content", [None, "", "{", "[]", "{}", '{"url": "", "outputs": {}}'])
@pytest.mark.parametrize("arguments", [("status",), ("ops", "tenant", "list")])
def test_without_anything_to_connect_to_it_says_what_to_do(
    cli: Cli, tmp_path: Path, content: str | None, arguments: tuple[str, ...]
) -> None:
    file = tmp_path / "state.json"
    if content is not None:
        file.write_text(content)
    result = cli("--cloud", str(file), *arguments, **NO_VARIABLES)
    assert result.exit_code == 2
    assert "is not set, and no local cloud is up" in result.stderr
