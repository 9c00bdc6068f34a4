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
    assert result.output.count("passed") == len(CHECKS)


def test_it_exits_with_one_and_says_what_is_broken(tmp_path: Path) -> None:
    result = run("no_labels", "--json", "--junit", str(tmp_path / "report.xml"))
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert [one["check"] for one in told["checks"] if one["status"] == "failed"] == ["labels"]
    root = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == (str(len(CHECKS)), "1")
    assert SECRET not in result.output + (tmp_path / "report.xml").read_text()


@pytest.mark.parametrize(
    "arguments", [["conformance", "https://kb.example.com"], ["conformance", "x", "--secret", "s"]]
)
def test_a_wrong_call_is_told_from_a_broken_contract(arguments: list[str]) -> None:
    assert CliRunner(env={"LARDER_PROVIDER_SECRET": ""}).invoke(larder, arguments).exit_code == 2
