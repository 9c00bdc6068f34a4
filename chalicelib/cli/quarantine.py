"""``larder quarantine``: texts that a gate stopped, for a person to release or drop."""

from __future__ import annotations

from itertools import islice
from uuid import UUID

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import emit, json_option, pairs, table, to_the_second
from chalicelib.client import ClientError
from chalicelib.client.memory_answers import Held

STATES = ("held", "released", "dropped")


class NotHeld(ClientError):
    """No text in quarantine has that id."""

    def document(self) -> dict[str, str]:
        """As the API would put it."""
        return {"code": "not_found", "detail": str(self)}


@click.group()
def quarantine() -> None:
    """Texts that a gate stopped, redacted."""


@quarantine.command("list")
@click.option("--state", type=click.Choice(STATES), default="held", show_default=True, help="In this state.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many, the oldest first.")
@json_option
@click.pass_obj
def list_(connection: Connection, state: str, limit: int) -> None:
    """List them, oldest first."""
    found = list(islice(connection.client().iter_quarantine(state=state), limit))
    rows = [
        (one["id"], to_the_second(one["created_at"]), one["deposit"], one["gate"], one["title"], one["text"][:60])
        for one in found
    ]
    emit(found, table(("ID", "SINCE", "WAY IN", "GATE", "TITLE", "TEXT"), rows, empty="nothing is held"))


@quarantine.command()
@click.argument("held", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def show(connection: Connection, held: UUID) -> None:
    """Show one whole, or as much of it as an answer takes."""
    client = connection.client()
    of_id = (one for state in STATES for one in client.iter_quarantine(state=state) if one["id"] == str(held))
    found: Held | None = next(of_id, None)
    if found is None:
        raise NotHeld(f"no text in quarantine has the id {held}")
    about = pairs(
        [
            ("state", found["state"]),
            ("since", to_the_second(found["created_at"])),
            ("way in", found["deposit"]),
            ("gate", f"{found['gate']} ({found['reason']})"),
            ("source", found["source_id"]),
            ("title", found["title"]),
        ]
    )
    rest = "\n\n[its end is left out: no answer takes it]" if found["cut"] else ""
    emit(found, f"{about}\n\n{found['text']}{rest}")


@quarantine.command()
@click.argument("held", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def release(connection: Connection, held: UUID) -> None:
    """Let a text in that you have read; the other gates still count."""
    event = connection.client().release_quarantined(str(held))
    emit(event, f"released; event {event['event_id']} stores it")


@quarantine.command()
@click.argument("held", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def drop(connection: Connection, held: UUID) -> None:
    """Let nothing of a text in."""
    emit(connection.client().drop_quarantined(str(held)), "dropped")
