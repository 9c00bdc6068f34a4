"""``larder doctor``: whether everything is in order. Exit status: 0 it is, 1 something fails, 3 warnings."""

from __future__ import annotations

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import emit, json_option, table
from chalicelib.client.doctor import Report

EXIT = {"ok": 0, "failing": 1, "warning": 3}


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Look at everything that must be in order; exits with 1 if something fails, with 3 if there are warnings."""
    if ctx.invoked_subcommand is None:
        _tell(ctx, ctx.find_object(Connection).client().show_doctor())  # type: ignore[union-attr]


@doctor.group()
def feature() -> None:
    """Features that are more than one setting."""


@feature.command()
@click.argument("name", type=click.Choice(["memory-rag"]))
@json_option
@click.pass_context
def enable(ctx: click.Context, name: str) -> None:
    """Turn a feature on and prove each part of it by a probe."""
    _tell(ctx, ctx.find_object(Connection).client().enable_feature(name))  # type: ignore[union-attr]


def _tell(ctx: click.Context, report: Report) -> None:
    rows = [(check["status"], check["name"], check["detail"]) for check in report["checks"]]
    emit(report, table(("STATUS", "CHECK", "WHAT IT SAYS"), rows, empty="nothing was looked at"))
    ctx.exit(EXIT[report["status"]])
