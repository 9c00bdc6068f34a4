"""``larder providers`` and ``larder knowledge`` against the app on a real socket, and providers on others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.cli.conftest import Cli
from tests.knowledge import ORIGIN, household, make, on_a_socket
from tests.postgres import TestServer
from tests.scripted_provider import ScriptedProvider, answer, result, status
from tests.tenants import Deployment


@pytest.fixture(scope="module")
def served(server: TestServer) -> Iterator[tuple[Deployment, str]]:
    made = make(server)
    with on_a_socket(made) as url:
        yield made, url
    made.close()
    server.drop(made.database_name)


@pytest.fixture
def cli(served: tuple[Deployment, str], request: pytest.FixtureRequest, tmp_path: Path) -> Cli:
    made, url = served
    house = household(made, request.node.name)
    tokens = {"LARDER_TOKEN": house.tenant.api_token, "LARDER_ADMIN_TOKEN": house.tenant.admin_token}
    more = {
        "LARDER_URL": url,
        "LARDER_KNOWLEDGE_TOKEN": house.agent,
        "TZ": "UTC",
        "AWS_CONFIG_FILE": str(tmp_path / "x"),
    }
    return Cli({**tokens, **more}, made)


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    one = ScriptedProvider(
        answer(result("a", title="Opening hours", url="https://x.example.com/"), result("b", audience="x"))
    )
    yield one
    one.close()


def add(cli: Cli, provider: ScriptedProvider, *options: str) -> Any:
    return cli.json("providers", "add", "handbook", provider.url, "--profile", "customer_safe", *options)


def test_add_shows_the_secret_once_and_list_shows_how_it_does(cli: Cli, provider: ScriptedProvider) -> None:
    made = cli("providers", "add", "handbook", provider.url, "--profile", "agent_only", "--capability", "scoring")
    assert made.exit_code == 0, made.output
    secret = made.stdout.split("secret")[1].split()[0]
    assert len(secret) == 43
    listed = cli("providers", "list")
    assert "handbook" in listed.stdout
    assert "agent_only" in listed.stdout
    assert "fine" in listed.stdout
    assert secret not in listed.stdout
    assert cli.json("providers", "list")["items"][0]["capabilities"] == ["scoring"]
    assert "no providers" not in listed.stdout


def test_a_failing_provider_is_listed_with_its_failure(cli: Cli, provider: ScriptedProvider) -> None:
    add(cli, provider)
    provider.behave = status(401)
    cli("knowledge", "search", "hours")
    assert "configuration: http_401" in cli("providers", "list").stdout


def test_rotate_by_name_and_a_second_one_is_refused(cli: Cli, provider: ScriptedProvider) -> None:
    first = add(cli, provider)["secret"]
    second = cli.json("providers", "rotate", "handbook")
    assert second["secret"] != first
    assert cli("providers", "rotate", "handbook").exit_code == 1
    assert "old secret until" not in cli("providers", "rotate", "handbook", "--overlap", "0").stdout
    refused = cli("providers", "rotate", "nobody")
    assert (refused.exit_code, "no provider has the id or name" in refused.stderr) == (1, True)


def test_test_shows_each_result_with_its_verdict(cli: Cli, provider: ScriptedProvider) -> None:
    ident = add(cli, provider)["id"]
    tried = cli("providers", "test", ident, "--query", "hours", "--limit", "5")
    assert tried.exit_code == 0, tried.output
    assert tried.stdout.startswith("ok, ")
    assert "kept" in tried.stdout
    assert "dropped_internal" in tried.stdout
    assert provider.questions[0].json == {"query": "hours", "limit": 5}


def test_disable_enable_refresh_and_remove(cli: Cli, provider: ScriptedProvider) -> None:
    add(cli, provider)
    assert cli("providers", "disable", "handbook").stdout == "handbook is disabled\n"
    assert cli.json("knowledge", "search", "hours")["providers"][0]["status"] == "disabled"
    assert cli("providers", "enable", "handbook").stdout == "handbook is active\n"
    provider.capabilities = ["locale"]
    assert cli.json("providers", "refresh", "handbook")["capabilities"] == ["locale"]
    assert cli("providers", "remove", "handbook").stdout == "removed\n"
    assert cli.json("providers", "list")["items"] == []


def test_search_shows_results_and_how_each_provider_did(cli: Cli, provider: ScriptedProvider) -> None:
    add(cli, provider)
    found = cli("knowledge", "search", "hours", "--limit", "3", "--locale", "de-DE")
    assert found.exit_code == 0, found.output
    assert "1. Opening hours (handbook)\n   https://x.example.com/" in found.stdout
    assert "handbook  ok" in found.stdout


def test_those_who_ask_are_made_with_a_token_each(cli: Cli, provider: ScriptedProvider) -> None:
    add(cli, provider)
    agent = cli.json("knowledge", "add-agent", "Bob")
    assistant = cli.json("knowledge", "add-assistant", "desk", "--read-public")
    bare = cli.json("knowledge", "add-assistant", "intern")
    widget = cli.json("knowledge", "add-widget", "shop", ORIGIN, "https://blog.example.com")
    assert widget["origins"] == [ORIGIN, "https://blog.example.com"]
    assert "providers" in cli.json("knowledge", "search", "hours", "--token", agent["token"])
    assert set(cli.json("knowledge", "search", "hours", "--token", assistant["token"])) == {"results"}
    refused = cli("knowledge", "search", "hours", "--token", bare["token"])
    assert (refused.exit_code, "capability_missing" in refused.stderr) == (1, True)
    shown = cli("knowledge", "search", "hours", "--token", assistant["token"])
    assert "1. Opening hours\n" in shown.stdout


def test_the_suite_runs_against_a_registered_provider(cli: Cli, served: tuple[Deployment, str]) -> None:
    address = f"{served[1]}/v1/provider/{{registration}}"
    made = cli.json("providers", "add", "ours", address, "--profile", "customer_safe", "--module", "larder")
    result = cli("conformance", made["base_url"], LARDER_PROVIDER_SECRET=made["secret"])
    assert result.exit_code == 0, result.output
    assert made["secret"] not in result.output


@pytest.mark.parametrize(
    ("arguments", "variable"),
    [
        (("knowledge", "search", "hours"), "LARDER_KNOWLEDGE_TOKEN"),
        (("conformance", "https://kb.example.com"), "LARDER_PROVIDER_SECRET"),
    ],
)
def test_a_secret_that_is_missing_is_named_with_its_variable(
    cli: Cli, arguments: tuple[str, ...], variable: str
) -> None:
    result = cli(*arguments, **{variable: None})
    assert (result.exit_code, variable in result.stderr) == (2, True)
