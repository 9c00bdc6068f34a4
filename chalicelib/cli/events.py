"""``larder events``: work, from approval to outcome."""

from __future__ import annotations

from itertools import islice
from uuid import UUID

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.naming import names_of, source_id
from chalicelib.cli.output import emit, json_option, table, to_the_second, wants_json

STATES = ("pending", "dispatched", "running", "done", "failed", "skipped", "cancelled")


@click.group()
def events() -> None:
    """Work, from approval to outcome."""


@events.command("list")
@click.option("--state", type=click.Choice(STATES), help="In this state alone.")
@click.option("--source", help="Of this source alone: an id, a uri or a name.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many, the newest first.")
@json_option
@click.pass_obj
def list_(connection: Connection, state: str | None, source: str | None, limit: int) -> None:
    """List events, newest first."""
    client = connection.client()
    which = source_id(client, source) if source else None
    found = list(islice(client.iter_events(state=state, source_id=which), limit))
    names = {} if wants_json() else names_of(client, {one["source_id"] for one in found})
    rows = [
        (
            *(one[name] for name in ("event_id", "kind", "state", "when")),
            to_the_second(one["available_at"]),
            *(one[name] for name in ("attempts", "outcome", "error")),
            names.get(one["source_id"], one["source_id"]),
        )
        for one in found
    ]
    headings = ("ID", "KIND", "STATE", "WHEN", "NOT BEFORE", "FAILURES", "OUTCOME", "WHY", "SOURCE")
    emit(found, table(headings, rows, empty="no events"))


@events.command()
@click.argument("event", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def cancel(connection: Connection, event: UUID) -> None:
    """Cancel an event that is not finished."""
    cancelled = connection.client().cancel_event(str(event))
    emit(cancelled, cancelled["state"])
