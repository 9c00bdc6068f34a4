"""What the command says on stderr when something did not work."""

from __future__ import annotations

import math
from collections.abc import Sequence

import click

from chalicelib.cli.output import as_json, counted, in_line, in_options, printable, wants_json
from chalicelib.client import ApiProblem, ClientError


def emit_problem(error: ClientError, notices: Sequence[str] = ()) -> None:
    """Print why it did not work. ``notices`` is what a person should know besides; programs get the document alone."""
    if wants_json():
        click.echo(as_json(error.document()), err=True)
        return
    for line in (f"error: {_told(error)}", *notices):
        click.echo(printable(line), err=True)


def _told(error: ClientError) -> str:
    if not isinstance(error, ApiProblem):
        return str(error)
    told = f"{in_line(in_options(error.detail, error.extra.get('field')))} ({in_line(error.code)})"
    return f"{told}; try again in {_wait(error.retry_after)}" if error.retry_after else told


def _wait(seconds: float) -> str:
    """Rounded up: who comes back after that is not too early."""
    return counted(math.ceil(seconds), "second") if seconds <= 90 else counted(math.ceil(seconds / 60), "minute")
