"""The suite passes what keeps the contract, and fails what does not in exactly the right checks."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from chalicelib.knowledge.conformance import answering, declaring, suite
from chalicelib.knowledge.conformance.checks import CHECKS
from chalicelib.knowledge.conformance.subject import Subject
from tests.conformance.reference import FLAWS, MOST_KEPT, PREVIOUS, SECRET, WAYS, Reference

ROOT = Path(__file__).resolve().parents[2]


def examine(url: str, **more: Any) -> dict[str, suite.Finding]:
    known: dict[str, Any] = {"budget": 1.0, "nonces": MOST_KEPT + 5, **more}
    subject = Subject(url, SECRET, PREVIOUS, "customer_safe", **known)
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


@pytest.mark.parametrize("way", WAYS)
def test_what_is_unusual_and_keeps_the_contract_fails_nothing(way: str) -> None:
    provider = Reference(way)
    found = examine(provider.url, sleep=provider.waited)
    provider.close()
    assert of_status(found, "failed") == set(), {one.check: one.why for one in found.values() if one.why}
    undeclared = {"locale", "scoring"} if "capabilities" in way else set()
    assert of_status(found, "skipped") == undeclared


@pytest.mark.parametrize("retry_after", ["3600", "0"])
def test_a_provider_that_has_no_requests_to_spare_is_neither_failed_nor_waited_for(retry_after: str) -> None:
    provider = Reference("limits_the_rate")
    provider.longest_wait = retry_after
    waited: list[float] = []
    found = examine(provider.url, sleep=waited.append)
    provider.close()
    skipped = of_status(found, "skipped")
    assert {"minimum", "latency"} <= of_status(found, "passed")
    assert "errors" in skipped
    assert of_status(found, "failed") == set()
    assert suite.verdict(list(found.values())) == "incomplete"
    assert all("limits the rate" in found[name].why for name in skipped)
    assert waited == ([] if retry_after == "3600" else [0.0] * 3)


def test_a_provider_that_is_always_busy_has_shown_nothing() -> None:
    provider = Reference("limits_the_rate")
    provider.spare = 0
    found = examine(provider.url, sleep=lambda _: None)
    provider.close()
    assert of_status(found, "skipped") == set(CHECKS)
    assert suite.verdict(list(found.values())) == "incomplete"


@pytest.mark.parametrize("name", CHECKS)
def test_what_every_provider_owes_must_be_judged(name: str) -> None:
    findings = [suite.Finding(one, "", "skipped" if one == name else "passed", "", 0.1) for one in CHECKS]
    optional = {"latency", *(one for group in (answering, declaring) for one in vars(group))} - {"minimum"}
    assert suite.verdict(findings) == ("passed" if name in optional else "incomplete")
    root = ElementTree.fromstring(suite.as_junit(findings))
    assert (root.get("errors"), root.get("skipped")) == (("0", "1") if name in optional else ("1", "0"))
    assert suite.as_json(Subject("https://kb.example.com", SECRET), findings)["passed"] == (name in optional)


def test_every_check_has_a_flaw_that_it_alone_or_with_few_others_tells() -> None:
    assert set().union(*FLAWS.values()) == set(CHECKS)


def test_nothing_passes_where_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    found = examine(url)
    assert of_status(found, "failed") == set(CHECKS)
    assert suite.verdict(list(found.values())) == "failed"


def test_labels_are_not_judged_where_nothing_was_found() -> None:
    provider = Reference()
    found = examine(provider.url, query="unheard-of")
    provider.close()
    assert of_status(found, "skipped") == {"limit", "text_only", "labels", "scoring"}
    assert suite.verdict(list(found.values())) == "passed"


def test_limits_are_not_judged_where_no_limit_had_anything_to_cut() -> None:
    provider = Reference("more_than_asked_for")
    found = examine(provider.url, query="Reset")
    provider.close()
    assert of_status(found, "skipped") == {"limit"}


class Trickle:
    """A provider whose answers never end; ``head``: not even their headers do."""

    def __init__(self, head: bytes, drop: bytes) -> None:
        self.head, self.drop = head, drop
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._answer, args=(self.listening.accept()[0],), daemon=True).start()

    def _answer(self, asked: socket.socket) -> None:
        with asked, contextlib.suppress(OSError):
            asked.recv(65_536)
            asked.sendall(self.head)
            while True:
                asked.sendall(self.drop)
                time.sleep(0.05)


@pytest.mark.parametrize(
    ("head", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"),
        (b"", b"H"),
    ],
)
def test_an_answer_that_trickles_is_cut_off_and_the_run_ends_in_its_time(
    monkeypatch: pytest.MonkeyPatch, head: bytes, drop: bytes
) -> None:
    monkeypatch.setattr("chalicelib.knowledge.conformance.subject.PATIENCE", 0.4)
    provider = Trickle(head, drop)
    start = time.monotonic()
    found = examine(provider.url, budget=0.4, ends=start + 1.1)
    assert time.monotonic() - start < 2.5
    provider.listening.close()
    assert of_status(found, "failed") >= {"minimum", "latency"}
    assert "the time of the run was up" in found["repeated_nonce"].why
    assert of_status(found, "passed") == set()


def test_nobody_is_asked_after_the_time_is_up() -> None:
    provider = Reference()
    found = examine(provider.url, ends=time.monotonic())
    provider.close()
    assert provider.asked == []
    assert suite.verdict(list(found.values())) == "incomplete"


def test_no_wait_outlasts_the_run() -> None:
    provider = Reference("limits_the_rate")
    provider.spare, provider.longest_wait = 0, "30"
    found = examine(provider.url, ends=time.monotonic() + 20, sleep=pytest.fail)
    provider.close()
    assert suite.verdict(list(found.values())) == "incomplete"


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
    assert of_status(found, "failed") == set(), [one.why for one in found.values() if one.why]
    assert of_status(found, "skipped") == {"locale", "scoring"}
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
