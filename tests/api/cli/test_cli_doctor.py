from __future__ import annotations

import json
from dataclasses import replace

import pytest

from chalicelib.keys import Keyring
from tests.api.cli.conftest import Cli
from tests.tenants import Deployment


def test_the_doctor_tells_a_line_a_check_and_warns_by_its_exit_status(cli: Cli) -> None:
    cli.work_off()  # one tick
    result = cli("doctor")
    assert result.exit_code == 3, "private networks are open for this test"
    assert result.stdout.splitlines()[0].split() == ["STATUS", "CHECK", "WHAT", "IT", "SAYS"]
    assert [line.split()[1] for line in result.stdout.splitlines() if line.startswith("warning")] == ["guard"]
    report = json.loads(cli("doctor", "--json").stdout)
    assert {check["name"] for check in report["checks"]} >= {"database", "migrations", "audit_chain", "quarantine"}


def test_what_fails_ends_with_1(cli: Cli, live: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "outside", replace(live.outside, keys=Keyring("/nowhere")))
    result = cli("doctor")
    assert result.exit_code == 1
    assert "failing  keys" in result.stdout


def test_without_an_admin_token_the_doctor_says_nothing(cli: Cli) -> None:
    result = cli("doctor", LARDER_ADMIN_TOKEN=None)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "admin_token_required" in result.stderr


def test_a_feature_is_turned_on_part_by_part(cli: Cli) -> None:
    result = cli("doctor", "feature", "enable", "memory-rag")
    assert result.exit_code == 3, "ENABLE_KB_RETRIEVAL is off, which a tenant can't change"
    assert "was redacted" in result.stdout
    assert json.loads(cli("doctor", "feature", "enable", "memory-rag", "--json").stdout)["status"] == "warning"
    assert cli("doctor", "feature", "enable", "more-rag").exit_code == 2
