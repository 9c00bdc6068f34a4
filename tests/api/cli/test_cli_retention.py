from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from tests.api.cli.conftest import Cli
from tests.integration import rows
from tests.security import marked
from tests.tenants import Deployment, Tenant


def ended_text(cli: Cli, acme: Tenant, live: Deployment, name: str) -> None:
    """A text that came long ago and ended a while ago."""
    cli("sources", "add", "https://page.example/", "--name", "page")
    source, now = UUID(cli.json("sources", "show", "page")["id"]), datetime.now(UTC)
    body = marked.sentence(name)
    [count] = rows.sql(live, "select count(*) from kb_chunks where source_id = %s", source)
    marked.write_chunk(acme, source, count["count"], body, now - timedelta(days=500), None)
    marked.set_policy(acme, source, body, sensitivity="", expires_at=now - timedelta(days=400))


def test_what_has_ended_is_shown_and_erased_on_demand(cli: Cli, acme: Tenant, live: Deployment) -> None:
    assert cli("retention").stdout == "nothing to erase\n"
    ended_text(cli, acme, live, "zqone")
    shown = cli("retention").stdout.splitlines()
    assert (len(shown), shown[1].split()[0], shown[1].split()[-1]) == (2, "page", "never")
    assert len(cli.json("retention")["to_erase"]) == 1
    assert cli("retention", "--apply").stdout == "1 erased, 0 asked, 0 lapsed\n"
    assert cli("retention").stdout == "nothing to erase\n"


def test_questions_are_listed_and_answered(cli: Cli, acme: Tenant, live: Deployment) -> None:
    assert "yes" in cli("settings", "set", "--require-approval").stdout
    for name in ("zqone", "zqtwo"):
        ended_text(cli, acme, live, name)
    assert cli.json("retention", "--apply") == {"erased": 0, "asked": 2, "lapsed": 0}
    assert cli("retention").stdout.splitlines() == ["nothing to ask about", "2 questions without an answer"]
    first, second = (one["id"] for one in cli.json("retention", "requests"))
    assert cli("retention", "approve", first).stdout == "erased\n"
    assert cli("retention", "refuse", second).stdout == "kept\n"
    assert cli("retention", "requests").stdout == "no questions\n"
    assert second in cli("retention", "requests", "--state", "refused").stdout
    again = cli("retention", "approve", second)
    assert (again.exit_code, "request_decided" in again.stderr) == (1, True)
