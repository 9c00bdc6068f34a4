from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.cli.conftest import Cli

NOTE = "The boiler in the north cellar needs its filter cleaned every second Monday of the month."


def test_a_note_is_remembered_and_found_by_its_title(cli: Cli) -> None:
    told = cli("memory", "remember", NOTE, "--title", "Boiler", "--sensitivity", "internal")
    assert told.stdout.startswith("stored as ")
    cli.work_off()
    assert "1. Boiler, " in cli("search", "when is the filter cleaned").stdout
    assert "sensitivity       internal" in cli("firewall", "source-policy", "Boiler").stdout
    assert cli("events", "list").stdout.splitlines()[1].split()[-1] == "Boiler"


def test_a_note_that_is_too_short_is_refused_and_one_with_a_secret_is_redacted(cli: Cli) -> None:
    assert cli("memory", "remember", "Too short").exit_code == 1
    told = cli("memory", "remember", f"{NOTE} password=correcthorsebattery7").stdout
    assert "; 1 secret redacted; event " in told


@pytest.mark.parametrize(
    ("name", "content"),
    [("boiler.md", f"# Boiler\n\n{NOTE}"), ("boiler.html", f"<title>Boiler</title><p>{NOTE}"), ("boiler.txt", NOTE)],
)
def test_a_document_is_read_as_what_its_name_says(cli: Cli, tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    assert cli.json("memory", "add", str(file))["outcome"] == "stored"
    cli.work_off()
    shown = cli("text", name).stdout
    assert NOTE in shown
    assert "<p>" not in shown


def test_a_document_of_an_unknown_kind_is_a_wrong_call_unless_its_type_is_told(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "boiler"
    file.write_text(NOTE)
    assert cli("memory", "add", str(file)).exit_code == 2
    assert cli("memory", "add", str(file), "--type", "text/plain").exit_code == 0
    assert cli("memory", "add", str(tmp_path / "none.txt")).exit_code == 2


def test_a_deny_pattern_sends_a_note_to_quarantine_until_it_is_removed(cli: Cli) -> None:
    assert cli("memory", "deny-patterns").stdout == "no patterns\n"
    assert cli("memory", "deny-patterns", "--add", "boiler").stdout == "boiler\n"
    told = cli("memory", "remember", NOTE).stdout
    assert told.startswith("held in quarantine as ")
    assert told.endswith("by the gate deny_patterns\n")
    assert cli("memory", "deny-patterns", "--remove", "boiler").stdout == "no patterns\n"
    assert cli("memory", "remember", NOTE).stdout.startswith("stored")


def test_a_text_is_forgotten_after_a_yes_and_not_after_a_no(cli: Cli) -> None:
    cli("memory", "remember", NOTE, "--title", "Boiler")
    cli.work_off()
    [hit] = cli.json("search", "filter", "--mode", "keyword")["hits"]
    assert cli("memory", "forget", hit["chunk_id"], answer="n\n").exit_code == 1
    assert cli("search", "filter", "--mode", "keyword").stdout != "nothing found\n"
    assert cli("memory", "forget", hit["chunk_id"], "--why", "asked to", "--yes").stdout == "erased from 1 place\n"
    assert cli("search", "filter", "--mode", "keyword").stdout == "nothing found\n"
    assert NOTE not in cli("text", "Boiler").stdout
