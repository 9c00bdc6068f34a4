from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.client import Client
from examples.serve import ExampleSite
from tests.api.cli.conftest import Cli
from tests.tenants import Tenant


@pytest.fixture
def prices(cli: Cli, site: ExampleSite) -> list[dict[str, Any]]:
    """The versions of the price list, which was fetched in two editions; the newest first."""
    cli("sources", "add", f"{site.url}/prices.html", "--name", "prices")
    for edition in ("one", "two"):
        site.edition = edition
        cli("sources", "queue", "prices")
        assert cli.work_off() == ["new_version"]
    versions: list[dict[str, Any]] = cli.json("versions", "prices")
    return versions


def just_before(version: dict[str, Any]) -> str:
    instant = datetime.fromisoformat(version["valid_from"]) - timedelta(microseconds=1)
    return instant.isoformat()


def test_versions_are_listed_newest_first(cli: Cli, prices: list[dict[str, Any]]) -> None:
    assert [version["version"] for version in prices] == [2, 1]
    shown = cli("versions", "prices").stdout.splitlines()
    assert [line.split()[0] for line in shown] == ["VERSION", "2", "1"]
    assert "now" in shown[1]
    _, begin, end, _ = shown[2].split()
    assert "8.90" in cli("text", "prices", "--at", begin).stdout
    assert "9.80" in cli("text", "prices", "--at", end).stdout
    assert len(cli.json("versions", "prices", "--limit", "1")) == 1


def test_text_is_what_the_source_says_now_or_said_then(cli: Cli, prices: list[dict[str, Any]]) -> None:
    now, then = cli("text", "prices"), cli("text", "prices", "--at", just_before(prices[0]))
    assert "9.80" in now.stdout
    assert "8.90" in then.stdout
    assert "8.90" not in now.stdout
    assert cli.json("text", "prices", "--at", prices[0]["valid_from"])["version"]["version"] == 2


def test_a_time_before_the_first_version_has_no_text(cli: Cli, prices: list[dict[str, Any]]) -> None:
    result = cli("text", "prices", "--at", "2001-01-01")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "(no_version)" in result.stderr


def test_a_time_that_is_yet_to_come_is_answered_as_of_now_and_said(cli: Cli, prices: list[dict[str, Any]]) -> None:
    for command in (("text", "prices"), ("search", "heather honey", "--mode", "keyword")):
        now, then = cli(*command), cli(*command, "--at", "2999-01-01T00:00:00Z")
        assert (then.exit_code, then.stdout) == (0, now.stdout)
        assert (now.stderr, then.stderr.endswith("is yet to come: this is as of now\n")) == ("", True)


def test_diff_is_the_last_change_or_the_one_that_is_asked_for(cli: Cli, prices: list[dict[str, Any]]) -> None:
    last = cli("diff", "prices").stdout
    assert last.startswith("--- version 1\n+++ version 2\n")
    assert "+Heather honey" in last
    assert "No newline" not in last
    assert "No newline" in cli.json("diff", "prices")["unified"]
    assert cli("diff", "prices", "--from", "2", "--to", "2").stdout == "nothing changed\n"
    assert cli("diff", "prices", "--from", "1", "--to", "2").stdout == last
    back = cli.json("diff", "prices", "--from", "2", "--to", "1")
    assert (back["inserted"], back["deleted"]) == (3, 3)
    assert cli("diff", "prices", "--from", "1", "--to", "9").exit_code == 1


def test_search_finds_the_line_and_names_its_source(cli: Cli, site: ExampleSite, prices: list[dict[str, Any]]) -> None:
    found = cli("search", "heather honey").stdout
    assert re.match(r"1\. prices, score 0\.\d\d\d, version 2, fetched ", found)
    [hit] = cli.json("search", "heather honey")["hits"]
    assert found.splitlines()[1:3] == [f"   {site.url}/prices.html", f"   chunk {hit['chunk_id']}"]
    assert "9.80" in found
    first = found.split("\n\n")[1]
    assert 1 <= len(first.splitlines()) <= 3
    assert "Price list" not in found
    assert "Price list" in cli("search", "heather honey", "--full").stdout
    then = cli("search", "heather honey", "--at", just_before(prices[0]), "--mode", "keyword").stdout
    assert "8.90" in then
    assert len(cli.json("search", "honey", "--limit", "1", "--source", "prices")["hits"]) == 1


def test_what_the_firewall_withholds_from_a_text_is_said_on_stderr(
    cli: Cli, acme: Tenant, url: str, prices: list[dict[str, Any]]
) -> None:
    assert cli("text", "prices").stderr == ""
    client = Client(url, acme.api_token, acme.admin_token)
    [hit] = client.search_kb("heather honey")["hits"]
    client.validate_chunk(hit["chunk_id"], "refuted")
    result = cli("text", "prices")
    assert result.exit_code == 0
    assert result.stderr == "withheld by the firewall: 1 part\n"
    assert "9.80" not in result.stdout
    between = cli("diff", "prices")
    assert (between.exit_code, between.stderr) == (0, "withheld by the firewall: 1 part\n")
    assert "9.80" not in between.stdout


def test_a_warning_of_advisory_mode_stands_beside_a_text_and_a_difference(
    cli: Cli, acme: Tenant, prices: list[dict[str, Any]]
) -> None:
    [hit] = cli.json("search", "heather honey")["hits"]
    assert cli("firewall", "set-policy", hit["chunk_id"], "--permitted-roles", "clerk").exit_code == 0
    for command in ("text", "diff"):
        told = cli(command, "prices")
        assert told.stderr.startswith("warning: block_role_not_permitted: "), command
        assert told.stderr.count("\n") == 1
        assert "9.80" in told.stdout


def test_two_texts_of_which_nothing_may_be_read_are_not_called_the_same(
    cli: Cli, acme: Tenant, prices: list[dict[str, Any]]
) -> None:
    source = cli.json("sources", "list")[0]["id"]
    assert cli("firewall", "mode", "set", "enforce").exit_code == 0
    assert acme.post(f"/v1/kb/sources/{source}/policy", {"permitted_roles": ["clerk"]}).status == 200
    told = cli("diff", "prices")
    assert told.stdout == "nothing changed in what may be read\n"
    assert told.stderr == "withheld by the firewall: 2 parts\n"


def test_a_source_of_which_there_is_nothing_yet_says_why(cli: Cli, site: ExampleSite) -> None:
    cli("sources", "add", f"{site.url}/inside", "--name", "inside")
    for command in ("text", "diff"):
        result = cli(command, "inside")
        assert (result.exit_code, result.stderr) == (1, "error: inside has never been fetched\n")
    assert json.loads(cli("text", "inside", "--json").stderr)["code"] == "no_version"
    assert cli("versions", "inside").stdout == "no versions yet\n"
    cli("sources", "queue", "inside")
    cli.work_off()
    assert cli("text", "inside").stderr == (
        "error: inside has no version yet; the last attempt ended as refused: the address may not be fetched\n"
    )


def test_a_source_with_one_version_has_no_difference_yet(cli: Cli, site: ExampleSite) -> None:
    cli("sources", "add", f"{site.url}/prices.html", "--name", "prices")
    cli("sources", "queue", "prices")
    cli.work_off()
    assert cli("diff", "prices").stderr == "error: the source has only one version yet (no_version)\n"
    before = cli("diff", "prices", "--to", "1").stderr
    assert before == "error: there is none before the first version (no_version)\n"


def test_search_that_finds_nothing_says_so(cli: Cli) -> None:
    assert cli("search", "heather honey").stdout == "nothing found\n"
    assert cli.json("search", "heather honey")["hits"] == []


def test_a_page_that_leads_inside_is_refused_and_shown_as_such(cli: Cli, site: ExampleSite) -> None:
    cli("sources", "add", f"{site.url}/inside", "--name", "inside")
    cli("sources", "queue", "inside")
    assert cli.work_off() == ["refused"]
    assert "refused" in cli("sources", "show", "inside").stdout
    row = cli("events", "list", "--state", "failed", "--source", "inside").stdout.splitlines()[1]
    assert "  refused  the address may not be fetched  " in row


@pytest.mark.parametrize(
    "arguments",
    [
        ("text", "prices", "--at", "yesterday"),
        ("search", "honey", "--at", "2026-13-01"),
        ("search", "honey", "--limit", "51"),
        ("search", "honey", "--mode", "psychic"),
        ("diff", "prices", "--from", "0"),
        ("versions", "prices", "--limit", "0"),
    ],
)
def test_reading_called_in_a_wrong_way_ends_with_2(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli(*arguments).exit_code == 2
