"""What the quickstart and the firewall's page tell their readers to type works, in their order."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result

from examples.serve import ExampleSite
from tests.api import twins
from tests.api.cli.conftest import Cli
from tests.api.cli.pages import ROOT, Reader
from tests.api.cli.test_cli_retention import ended_text
from tests.tenants import Deployment, Tenant

PRICE = "heather honey"


def played(reader: Reader, page: str, may_warn: str = "./larder doctor") -> list[tuple[str, Result]]:
    """The commands of the page with what came of them; all but the doctor's must end well."""
    found = list(reader.follow(page))
    assert found
    for line, result in found:
        allowed = (0, 1, 3) if line.startswith(may_warn) else (0,)
        assert result.exit_code in allowed, f"{line}\n{result.output}"
    return found


def outputs(found: list[tuple[str, Result]], start: str) -> list[str]:
    return [result.stdout for line, result in found if line.startswith(start)]


def test_the_quickstart_works_as_it_stands(cli: Cli, site: ExampleSite) -> None:
    found = played(Reader(cli, site, {}), "quickstart")
    first, second, before = outputs(found, "./larder search")
    assert "8.90" in first
    assert "9.80" in second
    assert "8.90" in before
    assert "9.80" not in before
    assert "8.90" in outputs(found, "./larder text prices --at")[0]
    assert "+Heather honey | 500 g jar | € 9.80" in outputs(found, "./larder diff")[0]
    assert "changelog  scheduled" in outputs(found, "./larder suggestions approve")[0]


def test_the_firewalls_page_works_as_it_stands(
    cli: Cli, acme: Tenant, live: Deployment, site: ExampleSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "handbook.md").write_bytes((ROOT / "docs" / "quickstart.md").read_bytes())
    cli("sources", "add", f"{site.url}/prices.html", "--name", "prices")
    for edition in ("one", "two"):
        site.edition = edition
        cli("sources", "queue", "prices")
        cli.work_off()
    begin = cli.json("versions", "prices")[-1]["valid_from"]
    [now], [then] = (cli.json("search", PRICE, *at)["hits"] for at in ((), ("--at", begin)))
    cli("settings", "set", "--require-approval")
    for name in ("zqone", "zqtwo"):
        ended_text(cli, acme, live, name)
    cli("retention", "--apply")

    def request() -> str:
        return str(cli.json("retention", "requests")[0]["id"])

    named = ("--class", "admin", "--operator", "Ada")
    words = {
        "demo": lambda: acme.name,
        "TOKEN": lambda: cli("ops", "token", "create", acme.name, "--role", "buyer").stdout.strip(),
        "ADMIN_TOKEN": lambda: cli("ops", "token", "create", acme.name, *named).stdout.strip(),
        "CHUNK": lambda: now["chunk_id"],
        "OLDER_CHUNK": lambda: then["chunk_id"],
        "INSTANT": lambda: begin,
        "HELD": lambda: cli.json("quarantine", "list")[0]["id"],
        "REQUEST": request,
        "OTHER_REQUEST": request,
    }
    found = played(Reader(cli, site, words), "firewall")
    [as_buyer] = outputs(found, "LARDER_TOKEN=TOKEN ./larder search")
    assert "9.80" in as_buyer
    [as_anybody, _, as_of_then] = outputs(found, f'./larder search "{PRICE}"')
    assert "9.80" not in as_anybody
    assert "8.90" in as_of_then
    assert outputs(found, "./larder firewall verify-proof")[0].splitlines()[1].startswith("valid")
    assert outputs(found, "./larder firewall verify")[1].startswith("whole: ")
    assert (tmp_path / "decisions.csv").read_bytes().count(b"\r\n") > 5


def test_the_page_about_consolidation_works_as_it_stands(
    cli: Cli, acme: Tenant, live: Deployment, site: ExampleSite
) -> None:
    cli.environment["LARDER_ADMIN_TOKEN"] = acme.as_operator().admin_token
    for name in ("alpha", "bravo", "charlie", "delta"):
        twins.page(acme, name, [twins.text(name)])
    first: list[str] = []

    def proposal() -> str:
        first[:] = first or [cli.json("consolidation", "list")[0]["id"]]
        return first[0]

    def an_open_one() -> str:
        return str(cli.json("consolidation", "list")[0]["id"])

    words = {"PROPOSAL": proposal, "OTHER_PROPOSAL": an_open_one, "THIRD_PROPOSAL": an_open_one}
    found = played(Reader(cli, site, words), "consolidation")
    assert outputs(found, "./larder consolidation scan") == ["4 texts, 3 proposals\n"]
    assert outputs(found, "./larder consolidation write")[0].startswith("asked for: proposal ")
    cli.work_off()
    [failed] = cli.json("consolidation", "list", "--state", "failed")
    assert failed["reason"] == "unreachable", "no model is there"
