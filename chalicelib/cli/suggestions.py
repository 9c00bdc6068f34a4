"""``larder suggestions``: what the system proposes and a person decides."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import counted, duration, emit, json_option, pairs, table, to_the_second, wants_json


@click.group()
def suggestions() -> None:
    """What the system proposes and you decide."""


@suggestions.command("list")
@json_option
@click.pass_obj
def list_(connection: Connection) -> None:
    """List the open ones; asking brings them up to date."""
    found = list(connection.client().iter_suggestions())
    rows = [
        (one["id"], one["kind"], one["reason"], duration(one["stale_for_seconds"]), one["source_name"]) for one in found
    ]
    emit(found, table(("ID", "KIND", "REASON", "STALE FOR", "SOURCE"), rows, empty="no open suggestions"))


@suggestions.command()
@click.argument("suggestion", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def review(connection: Connection, suggestion: UUID) -> None:
    """Show the doubtful text of a review_change, and what approving it would change."""
    found = connection.client().show_review(str(suggestion))
    about = pairs(
        [
            ("why", found["reason"]),
            ("fetched", to_the_second(found["fetched_at"])),
            ("from", found["final_url"]),
            ("title", found["title"]),
            ("changes", f"{counted(found['inserted'], 'line')} in, {found['deleted']} out"),
            ("withheld", str(found["withheld"]) if found["withheld"] else None),
        ]
    )
    emit(found, f"{about}\n\n{found['unified'] or found['text']}")


@suggestions.command()
@click.argument("ids", metavar="ID...", type=click.UUID, nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All that are open.")
@json_option
@click.pass_context
def approve(ctx: click.Context, ids: tuple[UUID, ...], everything: bool) -> None:
    """Do what suggestions propose; a refresh waits for the night."""
    if bool(ids) == everything:
        raise click.UsageError("Name suggestions, or give --all.")
    client = ctx.obj.client()
    names = {} if wants_json() else {one["id"]: one["source_name"] for one in client.iter_suggestions()}
    results = client.approve_suggestions(None if everything else [str(one) for one in ids])["results"]
    rows = [(one["suggestion_id"], names.get(one["suggestion_id"]), *_decision(one)) for one in results]
    emit(results, table(("ID", "SOURCE", "RESULT", "NOT BEFORE"), rows, empty="no open suggestions"))
    if any(result["problem"] for result in results):
        ctx.exit(1)


@suggestions.command()
@click.argument("suggestion", metavar="ID", type=click.UUID)
@click.option("--days", type=click.IntRange(1, 365), required=True, help="For how long.")
@json_option
@click.pass_obj
def snooze(connection: Connection, suggestion: UUID, days: int) -> None:
    """Put a suggestion off for some days."""
    decided = connection.client().snooze_suggestion(str(suggestion), days)
    emit(decided, f"{decided['state']} until {to_the_second(decided['snoozed_until'])}")


@suggestions.command()
@click.argument("suggestion", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def dismiss(connection: Connection, suggestion: UUID) -> None:
    """Close a suggestion until its source was checked again or one more TTL has passed."""
    decided = connection.client().dismiss_suggestion(str(suggestion))
    emit(decided, decided["state"])


def _decision(result: dict[str, Any]) -> tuple[str, str]:
    if result["problem"]:
        return f"refused: {result['problem']['detail']}", ""
    event = result["event"]
    return ("scheduled", to_the_second(event["available_at"])) if event else ("done", "")
