"""Who reads and for what, as options: they narrow what the token may read; the operator's alone widens it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

PURPOSES = ("operational", "training_data", "audit_review", "compliance_export")

_OPTIONS = (
    click.option("--role", help="One of the token's roles, to read as; needed if it has several."),
    click.option("--purpose", type=click.Choice(PURPOSES), help="What it is read for; operational by default."),
)

operator_option = click.option(
    "--as-operator", is_flag=True, help="Read as whom LARDER_ADMIN_TOKEN names: restricted text, too."
)


def reader_options(command: Command) -> Command:
    """Add ``--role`` and ``--purpose``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
