"""``larder retention``: which texts go, and answers to the questions about them."""

from __future__ import annotations

from itertools import islice
from uuid import UUID

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import counted, emit, json_option, table, to_the_second
from chalicelib.client.retention import Retention

STATES = ("open", "approved", "refused", "lapsed")


@click.group(invoke_without_command=True)
@click.option("--apply", is_flag=True, help="Do it now; it is done every hour anyway.")
@json_option
@click.pass_context
def retention(ctx: click.Context, apply: bool) -> None:
    """Show which texts a sweep would erase, or ask about, or do it."""
    if ctx.invoked_subcommand is not None:
        return
    connection: Connection = ctx.obj
    client = connection.client()
    if apply:
        swept = client.apply_retention()
        emit(swept, ", ".join(f"{count} {what}" for what, count in swept.items()))
    else:
        found = client.show_retention()
        emit(found, _told(found))


@retention.command("requests")
@click.option("--state", type=click.Choice(STATES), default="open", show_default=True, help="In this state.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many, the oldest first.")
@json_option
@click.pass_obj
def list_requests(connection: Connection, state: str, limit: int) -> None:
    """List questions whether a text may go."""
    found = list(islice(connection.client().iter_deletion_requests(state=state), limit))
    rows = [
        (
            one["id"],
            one["source_name"],
            one["chunk_id"],
            to_the_second(one["last_recalled_at"]),
            to_the_second(one["lapses_at"]),
        )
        for one in found
    ]
    emit(found, table(("ID", "SOURCE", "CHUNK", "LAST USE", "LAPSES"), rows, empty="no questions"))


@retention.command()
@click.argument("request", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def approve(connection: Connection, request: UUID) -> None:
    """Erase the text, if it is still as it was when the question was asked."""
    emit(connection.client().approve_deletion(str(request)), "erased")


@retention.command()
@click.argument("request", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def refuse(connection: Connection, request: UUID) -> None:
    """Keep the text; it is not asked about again for 30 days."""
    emit(connection.client().refuse_deletion(str(request)), "kept")


def _told(found: Retention) -> str:
    asks = found["require_approval"]
    rows = [
        (
            one["source_name"],
            one["chunk_id"],
            to_the_second(one["expires_at"]),
            to_the_second(one["last_recalled_at"]) or "never",
        )
        for one in found["to_ask" if asks else "to_erase"]
    ]
    nothing = f"nothing to {'ask about' if asks else 'erase'}"
    shown = table(("SOURCE", "CHUNK", "EXPIRES", "LAST USE"), rows, empty=nothing)
    waiting = counted(found["open_requests"], "question")
    return f"{shown}\n{waiting} without an answer" if found["open_requests"] else shown
