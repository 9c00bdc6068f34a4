"""Every command that docs/providers.md shows can be called so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from chalicelib.cli.main import larder
from chalicelib.settings import VARIABLES

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
LINES = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("line", LINES)
def test_a_command_of_the_page_can_be_called_so(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LARDER_PROVIDER_SECRET", "LARDER_KNOWLEDGE_TOKEN"):
        monkeypatch.setenv(variable, "in the environment")
    words = shlex.split(line.partition("./larder ")[2])
    command: click.Command | None = larder
    context = click.Context(larder, info_name="larder")
    while isinstance(command, click.Group):
        name, command, words = command.resolve_command(context, words)
        assert command is not None
        context = click.Context(command, info_name=name, parent=context)
    assert command is not None
    command.parse_args(context, words)


def test_every_variable_and_file_of_the_page_is_there() -> None:
    named = set(re.findall(r"`((?:LARDER|KB)_[A-Z_]+)`", TEXT))
    assert named <= {variable.name for variable in VARIABLES.values()}
    for link in re.findall(r"\]\(\.\./([^)]+)\)", TEXT):
        assert (ROOT / link).exists(), link
