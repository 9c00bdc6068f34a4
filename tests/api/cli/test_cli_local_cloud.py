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


def test_without_a_url_the_local_cloud_is_used_with_its_tokens_and_that_is_said(cli: Cli, url: str, state: str) -> None:
    result = cli("--cloud", state, "settings", "set", "--cap", "9", "--json", **NO_VARIABLES)
    assert (result.exit_code, json.loads(result.stdout)["nightly_job_cap"]) == (0, 9)
    assert result.stderr == f"LARDER_URL is not set: using the local cloud at {url}\n"


def test_without_a_function_the_local_cloud_is_operated(cli: Cli, acme: Tenant, state: str) -> None:
    result = cli("--cloud", state, "ops", "tenant", "list", **NO_VARIABLES)
    assert result.exit_code == 0
    assert acme.name in result.stdout
    assert result.stderr.startswith("LARDER_OPS_FUNCTION is not set: using the local cloud at ")


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
