"""Who reads and for what, as options: but for the operator they narrow what the token may read and can't widen it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

PURPOSES = ("operational", "training_data", "audit_review", "compliance_export")

_OPTIONS = (
    click.option("--role", help="One of the token's roles, to read as; needed if it has several."),
    click.option("--purpose", type=click.Choice(PURPOSES), help="What it is read for; operational by default."),
    click.option("--as-operator", is_flag=True, help="As whom LARDER_ADMIN_TOKEN names; reads restricted text."),
)


def reader_options(command: Command) -> Command:
    """Add ``--role``, ``--purpose`` and ``--as-operator``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
