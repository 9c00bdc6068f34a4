from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.services import evaluations
from chalicelib.telemetry import logger
from examples.serve import ExampleSite
from tests.api.cli.conftest import Cli
from tests.integration import rows
from tests.tenants import Deployment, Tenant

NOTE = "The boiler in the north cellar needs its filter cleaned every second Monday of the month."


@pytest.fixture
def hits(cli: Cli, site: ExampleSite) -> list[dict[str, Any]]:
    """What a search of the price list finds."""
    cli("sources", "add", f"{site.url}/prices.html", "--name", "prices")
    cli("sources", "queue", "prices")
    assert cli.work_off() == ["new_version"]
    found: list[dict[str, Any]] = cli.json("search", "honey")["hits"]
    assert found
    return found


def test_the_mode_is_shown_and_set(cli: Cli) -> None:
    assert cli("firewall", "mode", "show").stdout == "own mode  none\nin force  advisory\n"
    assert cli("firewall", "mode", "set", "enforce").stdout == "own mode  enforce\nin force  enforce\n"
    assert cli.json("firewall", "mode", "set", "deployment") == {"mode": None, "effective": "advisory"}
    assert cli("firewall", "mode", "set", "strict").exit_code == 2


def test_a_chunks_policy_is_set_field_by_field(cli: Cli, hits: list[dict[str, Any]]) -> None:
    chunk = hits[0]["chunk_id"]
    shown = cli("firewall", "set-policy", chunk, "--sensitivity", "restricted", "--permitted-roles", "a, b").stdout
    assert "sensitivity        restricted" in shown
    assert "permitted roles    a, b" in shown
    own = cli.json("firewall", "set-policy", chunk, "--permitted-roles", "", "--expires-at", "2099-01-01")["own"]
    assert (own["permitted_roles"], own["expires_at"], own["sensitivity"]) == ([], "2099-01-01T00:00:00Z", "restricted")
    own = cli.json("firewall", "set-policy", chunk, "--any-role", "--any-purpose", "--never-expires")["own"]
    assert (own["permitted_roles"], own["allowed_purposes"], own["expires_at"]) == (None, None, None)
    digest = cli.json("firewall", "policy", chunk)["policy_digest"]
    assert cli("firewall", "set-policy", chunk, "--sensitivity", "internal", "--if-match", digest).exit_code == 0
    stale = cli("firewall", "set-policy", chunk, "--sensitivity", "public", "--if-match", digest)
    assert (stale.exit_code, "precondition_failed" in stale.stderr) == (1, True)


@pytest.mark.parametrize(
    "options",
    [(), ("--any-role", "--permitted-roles", "a"), ("--expires-at", "soon"), ("--sensitivity", "cosmic"),
     ("--never-expires", "--expires-at", "2099-01-01")],
)  # fmt: skip
def test_a_policy_that_says_nothing_or_two_things_ends_with_2(cli: Cli, options: tuple[str, ...]) -> None:
    chunk = "6c0f0e63-0000-4000-8000-000000000000"
    assert cli("firewall", "set-policy", chunk, *options).exit_code == 2


def test_decisions_are_listed_and_exported(cli: Cli, hits: list[dict[str, Any]]) -> None:
    cli("firewall", "set-policy", hits[0]["chunk_id"], "--sensitivity", "restricted")
    cli("search", "honey")
    listed = cli("firewall", "evaluations", "--decision", "block_sensitivity_tier").stdout.splitlines()
    assert len(listed) == 2
    assert hits[0]["chunk_id"] in listed[1]
    everything = cli.json("firewall", "evaluations")
    exported = cli("firewall", "evaluations", "--csv").stdout_bytes.decode()
    assert exported.count("\r\n") == len(everything) + 1
    table = list(csv.DictReader(io.StringIO(exported, newline="")))
    assert [row["id"] for row in table] == [row["id"] for row in everything]
    long_ago = ("--since", "2000-01-01", "--until", "2001-01-01")
    assert cli("firewall", "evaluations", *long_ago).stdout == "no decisions\n"
    assert len(cli.json("firewall", "evaluations", "--limit", "1")) == 1


def test_the_pages_of_an_export_are_joined(
    cli: Cli, live: Deployment, acme: Tenant, monkeypatch: pytest.MonkeyPatch, hits: list[dict[str, Any]]
) -> None:
    from chalicelib.api import firewall

    for _ in range(4):
        cli("search", "honey")
    monkeypatch.setattr(firewall, "EXPORT_ROWS", 3)
    exported = cli("firewall", "evaluations", "--csv").stdout_bytes.decode()
    [counted] = rows.sql(live, "select count(*) from policy_evaluations where tenant_id = %s", acme.id)
    assert counted["count"] > 3
    assert exported.count("\r\n") == counted["count"] + 1
    assert exported.count("policy_digest") == 1


def test_a_touched_record_ends_with_1(cli: Cli, live: Deployment, acme: Tenant, hits: list[dict[str, Any]]) -> None:
    result = cli("firewall", "verify")
    assert (result.exit_code, result.stdout.startswith("whole: ")) == (0, True)
    rows.sql(live, "update policy_evaluations set reason = 'x' where tenant_id = %s", acme.id)
    result = cli("firewall", "verify")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1].split()[1:] == ["allow", "1", "edited"]
    touched = cli("firewall", "verify", "--json")
    assert (touched.exit_code, json.loads(touched.stdout)["ok"]) == (1, False)


def test_the_record_is_compared_with_the_heads_that_were_logged(
    cli: Cli,
    live: Deployment,
    acme: Tenant,
    hits: list[dict[str, Any]],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    rows.sql(live, "delete from policy_evaluations where tenant_id = %s", acme.id)
    rows.sql(live, "update evaluation_segments set day = day - 400, dropped_at = now() where tenant_id = %s", acme.id)
    caplog.clear()
    assert evaluations.seal(live.worker, now=datetime.now(UTC)) == 1
    heads = tmp_path / "heads.jsonl"
    heads.write_text("\n".join(["no JSON", *map(logger.registered_formatter.format, caplog.records)]))
    result = cli("firewall", "verify", "--heads", str(heads))
    assert (result.exit_code, result.stdout.endswith("and 1 sealed head as logged\n")) == (0, True), result.output
    # Whoever can write to the database and can't sign takes the last head away: the rest of the chain still verifies.
    rows.sql(live, "delete from evaluation_segments where tenant_id = %s", acme.id)
    assert cli("firewall", "verify").exit_code == 0
    result = cli("firewall", "verify", "--heads", str(heads))
    assert (result.exit_code, "sealed head gone" in result.stdout) == (1, True)
    heads.write_text("{}\n")
    assert cli("firewall", "verify", "--heads", str(heads)).exit_code == 2


def test_a_sources_policy_is_set_and_shown_and_counts_for_its_texts(cli: Cli, hits: list[dict[str, Any]]) -> None:
    assert "sensitivity       public" in cli("firewall", "source-policy", "prices").stdout
    shown = cli("firewall", "set-source-policy", "prices", "--permitted-roles", "buyer").stdout
    assert "permitted roles   buyer" in shown
    assert cli.json("firewall", "policy", hits[0]["chunk_id"])["policy"]["permitted_roles"] == ["buyer"]
    digest = cli.json("firewall", "source-policy", "prices")["policy_digest"]
    assert cli("firewall", "set-source-policy", "prices", "--any-role", "--if-match", digest).exit_code == 0
    stale = cli("firewall", "set-source-policy", "prices", "--any-purpose", "--if-match", digest)
    assert (stale.exit_code, "precondition_failed" in stale.stderr) == (1, True)
    assert cli("firewall", "set-source-policy", "prices").exit_code == 2


@pytest.mark.parametrize("command", ["search", "text", "diff", "context"])
def test_whom_an_admin_token_names_reads_restricted_text_when_asked_to(
    cli: Cli, live: Deployment, acme: Tenant, site: ExampleSite, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside, retrieving = bootstrap.outside, replace(live.outside.settings, enable_kb_retrieval=True)
    monkeypatch.setattr(bootstrap, "outside", lambda: replace(outside(), settings=retrieving))
    cli("sources", "add", f"{site.url}/prices.html", "--name", "prices")
    for edition in ("one", "two"):
        site.edition = edition
        cli("sources", "queue", "prices")
        assert cli.work_off() == ["new_version"]
    cli("firewall", "mode", "set", "enforce")
    cli("firewall", "set-source-policy", "prices", "--sensitivity", "restricted")
    reading = (command, "prices" if command in ("text", "diff") else "heather honey")
    made = cli("ops", "token", "create", acme.name, "--class", "admin", "--operator", "Ada")
    ada = made.stdout.strip()
    assert ada, made.output
    for options, token in (((), ada), (("--as-operator",), acme.admin_token)):
        assert "9.80" not in cli(*reading, *options, LARDER_ADMIN_TOKEN=token).stdout
    shown = cli(*reading, "--as-operator", LARDER_ADMIN_TOKEN=ada)
    assert (shown.exit_code, "9.80" in shown.stdout) == (0, True), shown.output
    served = "select distinct operator from policy_evaluations where tenant_id = %s and decision = 'allow'"
    assert [row["operator"] for row in rows.sql(live, served, acme.id)] == ["Ada"]
    missing = cli(*reading, "--as-operator", LARDER_ADMIN_TOKEN=None)
    assert (missing.exit_code, "LARDER_ADMIN_TOKEN" in missing.stderr) == (2, True)


def test_a_text_that_is_refuted_is_read_by_nobody(cli: Cli, hits: list[dict[str, Any]]) -> None:
    chunk = hits[0]["chunk_id"]
    assert "validation status  refuted" in cli("firewall", "validate", chunk, "refuted", "--why", "it is old").stdout
    assert chunk not in [one["chunk_id"] for one in cli.json("search", "honey")["hits"]]
    assert cli("firewall", "validate", chunk, "so-so").exit_code == 2


def test_who_reads_and_for_what_narrows_what_is_read(cli: Cli, acme: Tenant, hits: list[dict[str, Any]]) -> None:
    cli("firewall", "mode", "set", "enforce")
    options = ("--permitted-roles", "buyer", "--allowed-purposes", "operational,audit_review")
    cli("firewall", "set-source-policy", "prices", *options)
    made = cli("ops", "token", "create", acme.name, "--role", "buyer", "--role", "clerk").stdout.strip()
    assert cli("search", "honey", LARDER_TOKEN=made).stdout == "nothing found\n"
    for who, found in (("buyer", True), ("clerk", False)):
        reader = ("--role", who, "--purpose", "audit_review")
        assert ("8.90" in cli("search", "heather honey", *reader, LARDER_TOKEN=made).stdout) is found
        assert ("8.90" in cli("text", "prices", *reader, LARDER_TOKEN=made).stdout) is found
    other_purpose = ("text", "prices", "--role", "buyer", "--purpose", "training_data")
    assert "8.90" not in cli(*other_purpose, LARDER_TOKEN=made).stdout
    refused = cli("text", "prices", "--role", "owner", LARDER_TOKEN=made)
    assert (refused.exit_code, refused.stderr) == (1, "error: the token does not have this role (role_not_held)\n")
    assert cli("diff", "prices", "--purpose", "fun").exit_code == 2


def test_a_proof_is_checked_alone_in_its_hit_or_in_the_whole_answer(cli: Cli, hits: list[dict[str, Any]]) -> None:
    for given in (hits[0]["proof"], hits[0], hits, {"hits": hits, "degraded": None}):
        result = cli("firewall", "verify-proof", answer=json.dumps(given))
        assert (result.exit_code, result.stdout.splitlines()[1].split()[:3]) == (
            0,
            ["valid", hits[0]["chunk_id"], "allow"],
        )
        assert result.stdout.endswith("It says nothing of the chunk's text.\n")


@pytest.mark.parametrize(
    ("member", "value"),
    [("chunk_id", "6c0f0e63-0000-4000-8000-000000000000"), ("policy_warning", "block_expired: since yesterday")],
)
def test_a_hit_that_says_another_thing_than_its_proof_is_not_valid(
    cli: Cli, hits: list[dict[str, Any]], member: str, value: str
) -> None:
    result = cli("firewall", "verify-proof", answer=json.dumps({**hits[0], member: value}))
    assert result.exit_code == 1
    assert f"not valid: its proof gainsays {member}" in result.stdout
    told = cli("firewall", "verify-proof", "--json", answer=json.dumps([{**hits[0], member: value}, hits[0]]))
    verdicts = json.loads(told.stdout)
    assert (told.exit_code, verdicts["valid"]) == (1, False)
    assert [(one["valid"], one["ours"], one["differs"]) for one in verdicts["proofs"]] == [
        (False, True, [member]),
        (True, True, []),
    ]


@pytest.mark.parametrize("mode", ["off", "advisory"])
def test_the_proof_of_what_was_served_in_spite_of_its_policy_agrees_with_its_warning(
    cli: Cli, hits: list[dict[str, Any]], mode: str
) -> None:
    cli("firewall", "set-policy", hits[0]["chunk_id"], "--permitted-roles", "")
    cli("firewall", "mode", "set", mode)
    found = cli.json("search", "honey")
    assert [one["policy_warning"] for one in found["hits"]].count(None) == len(found["hits"]) - (mode == "advisory")
    assert cli("firewall", "verify-proof", answer=json.dumps(found)).exit_code == 0


def test_a_proof_that_was_changed_is_not_valid(cli: Cli, hits: list[dict[str, Any]]) -> None:
    changed = cli("firewall", "verify-proof", "-", answer=json.dumps({**hits[0]["proof"], "decision": "block_expired"}))
    assert (changed.exit_code, changed.stdout.splitlines()[1].startswith("not valid  ")) == (1, True)
    assert cli("firewall", "verify-proof", answer="{}").exit_code == 1


@pytest.mark.parametrize("given", ["nonsense", '{"hits": []}', "[]", "7", '["x"]'])
def test_what_holds_no_proof_is_a_wrong_call(cli: Cli, given: str) -> None:
    assert cli("firewall", "verify-proof", answer=given).exit_code == 2


def test_what_is_held_is_listed_shown_and_released(cli: Cli, acme: Tenant, url: str) -> None:
    from chalicelib.client import Client

    client = Client(url, acme.api_token, acme.admin_token)
    client.change_deny_patterns(add=["boiler"])
    held = client.remember_note(NOTE, title="Boiler")["quarantine_id"]
    assert held is not None
    listed = cli("quarantine", "list").stdout.splitlines()
    assert listed[1].split()[0] == held
    shown = cli("quarantine", "show", held).stdout
    assert shown.rstrip().endswith(NOTE)
    assert "deny_patterns" in shown
    assert "stores it" in cli("quarantine", "release", held).stdout
    assert cli.work_off() == ["new_version"]
    assert cli.json("quarantine", "show", held)["state"] == "released"
    again = cli("quarantine", "drop", held)
    assert (again.exit_code, "quarantine_decided" in again.stderr) == (1, True)
    assert cli("quarantine", "list").stdout == "nothing is held\n"


def test_what_is_dropped_is_gone(cli: Cli, acme: Tenant, url: str) -> None:
    from chalicelib.client import Client

    client = Client(url, acme.api_token, acme.admin_token)
    client.change_deny_patterns(add=["boiler"])
    held = str(client.remember_note(NOTE)["quarantine_id"])
    assert cli("quarantine", "drop", held).stdout == "dropped\n"
    assert [one["id"] for one in cli.json("quarantine", "list", "--state", "dropped")] == [held]
    unknown = cli("quarantine", "show", "6c0f0e63-0000-4000-8000-000000000000")
    assert (unknown.exit_code, unknown.stdout) == (1, "")
