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
TEXT = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
LINES = [line.strip() for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]
INLINE = [line for line in re.findall(r"`([^`\n]+)`", TEXT) if line.startswith(("./larder ", "make "))]
COMMANDS = [line for line in [*LINES, *INLINE] if line.startswith("./larder") and "COMMAND" not in line]
TARGETS = sorted({line.split()[1] for line in [*LINES, *INLINE] if line.startswith("make ")})


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_quickstart_can_be_called_so(line: str) -> None:
    words = shlex.split(line)[1:]
    command: click.Command | None = larder
    context = click.Context(larder, info_name="larder")
    while isinstance(command, click.Group) and not words[0].startswith("-"):
        name, command, words = command.resolve_command(context, words)
        assert command is not None
        context = click.Context(command, info_name=name, parent=context)
    assert command is not None
    with suppress(click.exceptions.Exit):  # --help ends there
        command.parse_args(context, words)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_of_the_quickstart_is_in_the_makefile(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_python_of_the_quickstart_calls_what_is_there() -> None:
    [block] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    called = re.findall(r"client\.(\w+)\(", block)
    assert called
    assert all(hasattr(Client, name) for name in called)
    compile("\n".join(line[2:] for line in block.splitlines()), "quickstart", "exec")
