"""The guard with nothing injected, in a network namespace where forbidden addresses answer and DNS rebinds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.security.island import SCENARIOS

UNSHARE = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--net", "--mount"]


def namespaces_are_missing() -> str | None:
    if not (shutil.which("unshare") and shutil.which("ip")):
        return "unshare and ip are not there; test_ssrf_loopback has the pinning"
    probe = subprocess.run([*UNSHARE, "ip", "link", "set", "lo", "up"], capture_output=True, check=False)
    return None if probe.returncode == 0 else "no namespaces here; test_ssrf_loopback has the pinning"


@pytest.fixture(scope="module")
def seen() -> dict[str, dict[str, Any]]:
    if reason := namespaces_are_missing():
        pytest.skip(reason)
    run = subprocess.run(
        [*UNSHARE, sys.executable, "-m", "tests.security.island"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return {line["scenario"]: line for line in map(json.loads, run.stdout.splitlines())}


PAGE = "page of 1.1.1.1"
REFUSED = ("refused:address", "refused:url_host", "refused:url_user_info", "refused:local_name")

EXPECTED: dict[str, tuple[list[str], list[str]]] = {
    "a public page": ([PAGE], ["1.1.1.1"]),
    "a public page over IPv6": (["page of 2606:4700:4700::1111"], ["2606:4700:4700::1111"]),
    "a public literal": ([PAGE, "page of 2606:4700:4700::1111"], ["1.1.1.1", "2606:4700:4700::1111"]),
    "a name that rebinds after the check": ([PAGE], ["1.1.1.1"]),
    "a name that has rebound": ([PAGE, "refused:address"], ["1.1.1.1"]),
    "a redirect within one name that rebinds": (["refused:address"], ["1.1.1.1"]),
    "a redirect to a name that has rebound": ([PAGE, "refused:address"], ["1.1.1.1", "1.1.1.1"]),
    "one bad address among good ones": (["refused:address"] * 2, []),
    "a dead address and a good one": (["page of 1.0.0.1"], ["1.1.1.1", "1.0.0.1"]),
    "redirects to forbidden places": (["refused:address"] * 3 + ["refused:url_host"], ["1.1.1.1"] * 4),
    "a name that a search domain would complete": (["unreachable:dns"], []),
    "private addresses while they are open": (
        ["page of 10.0.0.5", "page of 127.0.0.2", "page of fd12::1"],
        ["10.0.0.5", "127.0.0.2", "fd12::1"],
    ),
    "a provider on a private address": (["page of 10.0.0.5", "page of fd12::1"], ["10.0.0.5", "fd12::1"]),
}
"""Scenario → what came of each URL, and every address that was connected to, in order. Not named: all is refused."""


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_but_a_judged_address_is_ever_contacted(scenario: str, seen: dict[str, dict[str, Any]]) -> None:
    line = seen[scenario]
    outcomes, contacts = EXPECTED.get(scenario, (None, []))
    assert line["connects"] == contacts
    assert line["served"] == (contacts if scenario != "a dead address and a good one" else contacts[1:])
    if outcomes is None:
        assert set(line["outcomes"]) <= set(REFUSED)
    else:
        assert line["outcomes"] == outcomes


def test_a_name_is_resolved_once_a_hop(seen: dict[str, dict[str, Any]]) -> None:
    assert seen["a name that rebinds after the check"]["lookups"] == ["rebind.example.com."]
    assert seen["a redirect within one name that rebinds"]["lookups"] == ["rebind.example.com."] * 2


def test_no_search_domain_completes_a_name(seen: dict[str, dict[str, Any]]) -> None:
    queries = {query for line in seen.values() for query in line["queries"]}
    assert "gone.example.com" in queries
    assert not [query for query in queries if query.endswith("corp.example.net")]


def test_literals_and_local_names_are_never_looked_up(seen: dict[str, dict[str, Any]]) -> None:
    for scenario in ("forbidden literals", "other spellings of forbidden literals", "local names", "a public literal"):
        assert seen[scenario]["lookups"] == []
        assert seen[scenario]["queries"] == []
