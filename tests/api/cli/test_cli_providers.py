"""``larder providers`` and ``larder knowledge`` against the app on a real socket, and providers on others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.cli.conftest import Cli
from tests.api.tables import superuser
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


def test_both_lanes_are_listed_and_the_doctor_warns(cli: Cli, provider: ScriptedProvider) -> None:
    add(cli, provider)
    assert diagnosis(cli)["status"] == "ok"
    token = cli.json("knowledge", "add-widget", "shop", ORIGIN)["token"]
    provider.behave = status(404)
    for _ in range(3):
        visit(cli, token)
    listed = cli("providers", "list").stdout
    assert "for widgets: contract: http_404, stopped" in listed
    assert "active" in listed
    checked = diagnosis(cli)
    assert (checked["name"], checked["status"]) == ("knowledge_providers", "warning")
    assert checked["facts"]["stopped_for_widgets"] == ["handbook"]
    provider.behave = status(503, Retry_After="600")
    cli("knowledge", "search", "hours")
    assert "transient: http_503, open until" in cli("providers", "list").stdout
    assert diagnosis(cli)["facts"]["paused"] == ["handbook"]
    cli("providers", "change", "handbook", "--address", f"{provider.url}/v2")
    provider.behave = status(401)
    for _ in range(3):
        cli("knowledge", "search", "hours")
    checked = diagnosis(cli)
    assert (checked["status"], checked["facts"]["auto_disabled"]) == ("warning", ["handbook"])


def diagnosis(cli: Cli) -> Any:
    """What the doctor says of providers; how it does otherwise is not the matter here."""
    return json.loads(cli("doctor", "--json").stdout)["checks"][-1]


def visit(cli: Cli, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Origin": ORIGIN}
    assert cli.deployment.request("POST", "/v1/widget/search", headers, {"query": "hours"}).status == 200


def test_change_changes_what_is_named_alone(cli: Cli, provider: ScriptedProvider) -> None:
    add(cli, provider)
    changed = cli.json("providers", "change", "handbook", "--priority", "7", "--address", f"{provider.url}/v2")
    assert (changed["priority"], changed["base_url"], changed["name"]) == (7, f"{provider.url}/v2", "handbook")
    risky = ("providers", "change", "handbook", "--allow-private-network")
    assert "acknowledge" in cli(*risky).stderr
    assert cli.json(*risky, "--acknowledge", "ssrf-risk")["allow_private_network"] is True
    back = cli.json("providers", "change", "handbook", "--no-allow-private-network")
    assert back["allow_private_network"] is False
    assert "priority" in cli("providers", "change", "handbook", "--capability", "scoring").stdout
    assert cli("providers", "change", "handbook").exit_code == 2


def test_a_token_is_shown_though_the_right_beside_it_is_refused(cli: Cli) -> None:
    with superuser(cli.deployment) as connection:
        connection.execute("update mutation_windows set used = 99999")
        made = cli("knowledge", "add-assistant", "desk", "--read-public")
        connection.execute("update mutation_windows set used = 0")
    assert (made.exit_code, "rate_limited" in made.stderr) == (1, True), made.output
    shown = made.stdout.split("token")[1].split()[0]
    assert cli.deployment.request("POST", "/v1/knowledge/search", {"Authorization": f"Bearer {shown}"}).status != 401


def test_larders_own_is_registered_by_its_name_alone(cli: Cli, served: tuple[Deployment, str]) -> None:
    made = cli.json("providers", "add-own", "ours", "--profile", "agent_only", "--priority", "1")
    assert made["base_url"] == f"{served[1]}/v1/provider/{made['id']}"
    assert (made["module"], made["priority"]) == ("larder", 1)
    assert cli.json("providers", "refresh", "ours")["capabilities"] == ["scoring"]
    assert cli.json("knowledge", "search", "hours")["providers"][0]["status"] == "ok"


def test_those_who_ask_are_listed_switched_and_removed(cli: Cli, provider: ScriptedProvider) -> None:
    add(cli, provider)
    cli("knowledge", "add-agent", "Bob")
    cli("knowledge", "add-widget", "shop", ORIGIN)
    token = cli.json("knowledge", "add-assistant", "desk", "--read-public")["token"]
    asks = ("knowledge", "search", "hours", "--token", token)
    assert cli(*asks).exit_code == 0
    assert cli("knowledge", "revoke", "desk").stdout == "desk may read nothing\n"
    assert "capability_missing" in cli(*asks).stderr
    assert cli("knowledge", "grant", "desk").stdout == "desk may read what is public\n"
    assert cli("knowledge", "disable", "assistant", "desk").stdout == "desk is off\n"
    assert "unauthorized" in cli(*asks).stderr
    assert cli("knowledge", "enable", "assistant", "desk").stdout == "desk is on\n"
    assert cli(*asks).exit_code == 0
    listed = cli("knowledge", "list").stdout
    assert all(word in listed for word in ("Bob", "desk", "shop", ORIGIN, "knowledge:read_public"))
    for kind, name in (("agent", "Bob"), ("assistant", "desk"), ("widget", "shop")):
        assert cli("knowledge", "remove", kind, name).stdout == "removed\n"
    assert {one["name"] for one in cli.json("knowledge", "list")["items"]} & {"Bob", "desk", "shop"} == set()
    refused = cli("knowledge", "remove", "agent", "Bob")
    assert (refused.exit_code, "no agent has the id or name" in refused.stderr) == (1, True)


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


def test_what_a_provider_says_can_pass_for_nothing_else(cli: Cli, provider: ScriptedProvider) -> None:
    add(cli, provider)
    title = "Hours\r\n2. Forged (handbook)\x1b[2J\x9b\u202e"
    provider.behave = answer(result("a", title=title, snippet="one\n2. Forged\x85\x7f"))
    told = cli("knowledge", "search", "hours").stdout
    assert [line for line in told.splitlines() if line.startswith(("1.", "2."))] == [told.splitlines()[0]]
    tried = cli("providers", "test", "handbook").stdout
    assert len(tried.splitlines()) == 3, "one line a result"
    as_json = cli("knowledge", "search", "hours", "--json").stdout
    assert json.loads(as_json)["results"][0]["title"] == title
    for shown in (told, tried, as_json):
        assert not set(shown) & set("\r\x1b\x7f\x85\x9b\u202e")


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
