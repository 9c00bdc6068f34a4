"""``larder conformance``: what it prints, what it writes, how it exits."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from chalicelib.cli.main import larder
from chalicelib.knowledge.conformance.checks import CHECKS
from tests.conformance.reference import SECRET, Reference


def run(flaw: str, *arguments: str) -> Result:
    provider = Reference(flaw)
    result = CliRunner().invoke(larder, ["conformance", provider.url, "--secret", SECRET, *arguments])
    provider.close()
    return result


def test_it_exits_with_zero_where_the_contract_is_kept() -> None:
    result = run("", "--profile", "customer_safe")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("passed") == len(CHECKS)
    told = [line.partition(" ")[0] for line in result.stderr.splitlines()]
    assert told == [f"{number}/{len(CHECKS)}" for number in range(1, len(CHECKS) + 1)], "how far it is, as it goes"


def test_it_exits_with_one_and_says_what_is_broken(tmp_path: Path) -> None:
    result = run("no_labels", "--json", "--junit", str(tmp_path / "report.xml"))
    assert result.exit_code == 1
    assert result.stderr == ""
    told = json.loads(result.stdout)
    assert [one["check"] for one in told["checks"] if one["status"] == "failed"] == ["labels"]
    root = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == (str(len(CHECKS)), "1")
    assert SECRET not in result.output + (tmp_path / "report.xml").read_text()


@pytest.mark.parametrize(
    "url",
    [
        *("x", "kb.example.com", "ftp://kb.example.com", "http://", "https:///retrieve", "http://[::1", "http://::1"),
        *("https://kb.example.com:99999", "https://kb.example.com:x", "https://kb.example.com:0", "https://a..b"),
        *("https://ada:pass@kb.example.com", "https://kb.example.com/a?b=c", "https://kb.example.com/#a"),
        *("https://kb.example.com/a b", "https://kb exam.ple", "https://kb.example.com/{registration}", "https://kb/ü"),
    ],
)
def test_an_address_that_nobody_can_be_asked_at_is_a_wrong_call(url: str) -> None:
    result = CliRunner().invoke(larder, ["conformance", url, "--secret", "s"])
    assert result.exit_code == 2, result.output
    assert "BASE_URL" in result.output


@pytest.mark.parametrize(
    "arguments",
    [["--secret", ""], [], ["--query", ""], ["--query", "x" * 1_025], ["--budget", "0"], ["--deadline", "0"]],
)
def test_a_wrong_call_is_told_from_a_broken_contract(arguments: list[str]) -> None:
    call = ["conformance", "http://127.0.0.1:9", *(["--secret", "s"] if len(arguments) == 2 else []), *arguments]
    assert CliRunner(env={"LARDER_PROVIDER_SECRET": ""}).invoke(larder, call).exit_code == 2


def test_a_report_that_can_not_be_written_is_told_before_anybody_is_asked(tmp_path: Path) -> None:
    provider = Reference()
    for place in (tmp_path / "missing" / "report.xml", tmp_path):
        result = CliRunner().invoke(larder, ["conformance", provider.url, "--secret", SECRET, "--junit", str(place)])
        assert result.exit_code == 2
        assert "--junit" in result.output
    provider.close()
    assert provider.asked == []


def test_nothing_is_called_passed_where_nobody_answers() -> None:
    result = CliRunner().invoke(larder, ["conformance", "http://127.0.0.1:9", "--secret", SECRET])
    assert result.exit_code == 1
    assert "passed" not in result.output


def test_it_exits_with_three_where_what_every_provider_owes_was_not_judged() -> None:
    provider = Reference("limits_the_rate")
    provider.longest_wait = "3600"
    called = ["conformance", provider.url, "--secret", SECRET]
    told = CliRunner().invoke(larder, called)
    assert told.exit_code == 3
    assert told.stdout.splitlines()[-1].startswith("Incomplete")
    assert "repeated_nonce" in told.stdout.splitlines()[-1]
    told = CliRunner().invoke(larder, [*called, "--json"])
    assert told.exit_code == 3
    assert (json.loads(told.stdout)["passed"], json.loads(told.stdout)["verdict"]) == (False, "incomplete")
    provider.close()


def test_it_ends_at_its_deadline() -> None:
    result = run("slow", "--deadline", "0.001")
    assert (result.exit_code, result.stdout.count("the time of the run was up")) == (3, len(CHECKS))
