from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.api import twins
from tests.api.cli.conftest import Cli
from tests.integration import rows
from tests.tenants import Deployment, Tenant


@pytest.fixture
def operator(cli: Cli, acme: Tenant) -> Cli:
    """The command as a named person has it, of a tenant with a pair of near-duplicates."""
    cli.environment["LARDER_ADMIN_TOKEN"] = acme.as_operator().admin_token
    twins.page(acme, "older", [twins.text("alpha")], days_ago=20)
    twins.page(acme, "newer", [twins.text("bravo")])
    return cli


def test_pairs_are_found_listed_and_shown(operator: Cli) -> None:
    assert operator("consolidation", "list").stdout == "no proposals\n"
    assert operator("consolidation", "scan").stdout == "2 texts, 1 proposal\n"
    assert operator.json("consolidation", "scan")["proposed"] == 0
    [one] = operator.json("consolidation", "list")
    line = operator("consolidation", "list").stdout.splitlines()[1].split()
    assert line[:5] == [one["id"], "extractive", "0.988", "newer", "older"]
    shown = operator("consolidation", "show", one["id"]).stdout
    assert shown.index("says bravo") < shown.index("says alpha")


def test_a_proposal_is_accepted_and_taken_back(operator: Cli) -> None:
    operator("consolidation", "scan")
    [one] = operator.json("consolidation", "list")
    accepted = operator("consolidation", "accept", one["id"])
    assert accepted.stdout == "accepted: searches find the text of newer alone\n"
    assert len(operator.json("search", "office in Delft")["hits"]) == 1
    assert operator("consolidation", "undo", one["id"]).stdout == "undone\n"
    assert len(operator.json("search", "office in Delft")["hits"]) == 2
    again = operator("consolidation", "accept", one["id"])
    assert (again.exit_code, "proposal_decided" in again.stderr) == (1, True)


def test_a_proposal_is_rejected(operator: Cli) -> None:
    operator("consolidation", "scan")
    [one] = operator.json("consolidation", "list")
    assert operator("consolidation", "reject", one["id"]).stdout == "rejected\n"
    assert one["id"] in operator("consolidation", "list", "--state", "rejected").stdout


def test_a_text_is_asked_for(operator: Cli, live: Deployment) -> None:
    operator("consolidation", "scan")
    [one] = operator.json("consolidation", "list")
    told = operator("consolidation", "write", one["id"]).stdout
    [asked] = operator.json("consolidation", "list", "--state", "writing")
    assert told == f"asked for: proposal {asked['id']}\n"
    rows.sql(
        live,
        "update consolidation_proposals set state = 'open', text = 'Of both, says the model.' where id = %s",
        asked["id"],
    )
    rows.sql(live, "delete from consolidation_work where created_at <= %s", datetime.now(UTC))
    assert "--- written\nOf both, says the model.\n" in operator("consolidation", "show", asked["id"]).stdout


def test_who_is_no_operator_is_told_so(cli: Cli, operator: Cli, acme: Tenant) -> None:
    operator("consolidation", "scan")
    [one] = operator.json("consolidation", "list")
    refused = cli("consolidation", "accept", one["id"], LARDER_ADMIN_TOKEN=acme.admin_token)
    assert (refused.exit_code, "operator_required" in refused.stderr) == (1, True)
