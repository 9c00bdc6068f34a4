"""The suite passes what keeps the contract, and fails what does not in exactly the right checks."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from chalicelib.knowledge.conformance import suite
from chalicelib.knowledge.conformance.checks import CHECKS
from chalicelib.knowledge.conformance.subject import Subject
from tests.conformance.reference import FLAWS, PREVIOUS, SECRET, Reference

ROOT = Path(__file__).resolve().parents[2]


def examine(url: str, **more: object) -> dict[str, suite.Finding]:
    subject = Subject(url, SECRET, PREVIOUS, "customer_safe", budget=1.0, **more)  # type: ignore[arg-type]
    return {one.check: one for one in suite.run(subject)}


def of_status(found: dict[str, suite.Finding], status: str) -> set[str]:
    return {name for name, one in found.items() if one.status == status}


def test_a_provider_that_keeps_the_contract_passes_every_check() -> None:
    provider = Reference()
    found = examine(provider.url)
    provider.close()
    assert of_status(found, "passed") == set(CHECKS), [one.why for one in found.values() if one.why]


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_flaw_fails_exactly_the_checks_that_are_about_it(flaw: str) -> None:
    provider = Reference(flaw)
    found = examine(provider.url)
    provider.close()
    assert of_status(found, "failed") == FLAWS[flaw], {one.check: one.why for one in found.values() if one.why}
    assert not any(secret in one.why for one in found.values() for secret in (SECRET, PREVIOUS))


def test_every_check_has_a_flaw_that_it_alone_or_with_few_others_tells() -> None:
    assert set().union(*FLAWS.values()) == set(CHECKS)


def test_a_port_where_nobody_is_fails_and_does_not_crash() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    found = examine(url)
    assert "minimum" in of_status(found, "failed")
    assert not suite.passed(list(found.values()))


def test_labels_are_not_judged_where_nothing_was_found() -> None:
    provider = Reference()
    found = examine(provider.url, query="unheard-of")
    provider.close()
    assert of_status(found, "skipped") == {"text_only", "labels"}
    assert suite.passed(list(found.values()))


@pytest.fixture
def minimum() -> Iterator[str]:
    """The example provider in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "PROVIDER_SECRET": f"{SECRET} {PREVIOUS}"}
    with subprocess.Popen(
        [sys.executable, str(ROOT / "examples" / "minimum_provider.py"), str(port)],
        env=environment,
        stderr=subprocess.DEVNULL,
    ) as process:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def test_the_example_provider_passes_and_has_sixty_lines_at_most(minimum: str) -> None:
    found = examine(minimum)
    assert of_status(found, "passed") == set(CHECKS), [one.why for one in found.values() if one.why]
    text = (ROOT / "examples" / "minimum_provider.py").read_text()
    assert len(text.splitlines()) <= 60
    assert "chalicelib" not in text


def test_the_reports_tell_the_same_and_no_secret() -> None:
    provider = Reference("no_labels")
    subject = Subject(provider.url, SECRET, PREVIOUS, "customer_safe")
    findings = list(suite.run(subject, ["minimum", "labels", "unsigned"]))
    provider.close()
    told = suite.as_json(subject, findings)
    assert (told["passed"], [one["status"] for one in told["checks"]]) == (False, ["passed", "failed", "passed"])
    root = ElementTree.fromstring(suite.as_junit(findings))
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("3", "1", "0")
    assert [case.get("name") for case in root] == ["minimum", "labels", "unsigned"]
    assert [child.tag for case in root for child in case] == ["failure"]
    assert not any(secret in json.dumps(told) + suite.as_junit(findings) for secret in (SECRET, PREVIOUS))
