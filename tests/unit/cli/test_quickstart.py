"""Targets, links and Python that the quickstart and the firewall's page show. Their commands are run elsewhere."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from pathlib import Path

import click
import pytest

from chalicelib.cli.main import larder
from chalicelib.client import Client

ROOT = Path(__file__).resolve().parents[3]
TEXTS = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("quickstart", "firewall")}
INLINE = {(page, found) for page, text in TEXTS.items() for found in re.findall(r"`([^`\n]+)`", text)}
COMMANDS = sorted(line for _, line in INLINE if line.startswith("./larder ") and "COMMAND" not in line)
TARGETS = sorted(set(re.findall(r"^make (\w+)|`make (\w+)", TEXTS["quickstart"], re.MULTILINE)))


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_that_the_text_mentions_can_be_called_so(line: str) -> None:
    words = shlex.split(line)[1:]
    command: click.Command | None = larder
    context = click.Context(larder, info_name="larder")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, command, words = command.resolve_command(context, words)
        assert command is not None
        context = click.Context(command, info_name=name, parent=context)
    assert command is not None
    with suppress(click.exceptions.Exit):  # --help ends there
        command.parse_args(context, words)


@pytest.mark.parametrize("target", TARGETS, ids="".join)
def test_every_target_of_the_quickstart_is_in_the_makefile(target: tuple[str, str]) -> None:
    assert re.search(rf"^{''.join(target)}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", TEXTS)
def test_the_python_of_the_page_calls_what_is_there(page: str) -> None:
    [block] = re.findall(r"```python\n(.*?)```", TEXTS[page], re.DOTALL)
    called = re.findall(r"client\.(\w+)\(", block)
    assert called
    assert all(hasattr(Client, name) for name in called)
    compile("\n".join(line.removeprefix("  ") for line in block.splitlines()), page, "exec")


@pytest.mark.parametrize("name", ["README.md", "docs/quickstart.md", "docs/firewall.md"])
def test_every_link_leads_somewhere(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (page.parent / link).exists()] == []
