from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from chalicelib.cli.main import larder


def every_command(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, command in group.commands.items():
        found += every_command(command, (*path, name)) if isinstance(command, click.Group) else [(*path, name)]
    return found


@pytest.mark.parametrize("path", every_command(larder), ids=" ".join)
def test_every_command_explains_itself_and_its_options(path: tuple[str, ...]) -> None:
    command: click.Command = larder
    for name in path:
        assert isinstance(command, click.Group)
        command = command.commands[name]
    assert command.help
    assert "--json" in CliRunner().invoke(larder, [*path, "--help"]).stdout
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    assert all(option.help for option in options), path
