"""``larder sources``: what is kept fresh."""

from __future__ import annotations

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import duration, emit, instant, json_option, pairs, table
from chalicelib.cli.parameters import Duration, source_id
from chalicelib.client import answers

BATCH = 100  # sources that one request may hold


@click.group()
def sources() -> None:
    """What is kept fresh. SOURCE is an id, a uri or a name."""


@sources.command("list")
@json_option
@click.pass_obj
def list_(connection: Connection) -> None:
    """List every source and how fresh it is."""
    found = list(connection.client().iter_sources())
    rows = [
        (
            one["id"],
            one["name"],
            one["current_version"],
            one["last_status"] or "never fetched",
            _freshness(one),
            instant(one["last_checked_at"]),
        )
        for one in found
    ]
    emit(found, table(("ID", "NAME", "VERSION", "STATUS", "FRESHNESS", "LAST CHECK"), rows, empty="no sources"))


@sources.command()
@click.argument("source")
@json_option
@click.pass_obj
def show(connection: Connection, source: str) -> None:
    """Show one source."""
    client = connection.client()
    _emit_one(client.show_source(source_id(client, source)))


@sources.command()
@click.argument("uris", metavar="URI...", nargs=-1, required=True)
@click.option("--name", help="What people call it; for one URI.")
@click.option("--ttl", type=Duration(), help="How long a check keeps it fresh: 300, 30min, 6h, 7d (the default).")
@click.option("--keep-hidden-text/--drop-hidden-text", default=None, help="Whether hidden elements are read too.")
@json_option
@click.pass_context
def add(
    ctx: click.Context, uris: tuple[str, ...], name: str | None, ttl: int | None, keep_hidden_text: bool | None
) -> None:
    """Add sources, or update those that have these uris."""
    if name is not None and len(uris) > 1:
        raise click.UsageError("--name is for one URI.")
    more = {"name": name, "refresh_ttl_seconds": ttl, "keep_hidden_text": keep_hidden_text}
    wanted = [{"uri": uri, **{key: value for key, value in more.items() if value is not None}} for uri in uris]
    client = ctx.obj.client()
    results = [
        {**result, "index": start + result["index"]}
        for start in range(0, len(wanted), BATCH)
        for result in client.put_sources(wanted[start : start + BATCH])["results"]
    ]
    rows = [
        (
            {201: "added", 200: "updated"}.get(result["status"], "refused"),
            (result["source"] or {}).get("id") or result["problem"]["code"],
            (result["source"] or {}).get("uri") or result["problem"]["detail"],
        )
        for result in results
    ]
    emit(results, table(("RESULT", "ID", "URI"), rows, empty=""))
    if any(result["problem"] for result in results):
        ctx.exit(1)


@sources.command()
@click.argument("source")
@click.option("--on/--off", "active", default=None, help="Which way; left out, it switches over.")
@json_option
@click.pass_obj
def toggle(connection: Connection, source: str, active: bool | None) -> None:
    """Switch a source off or on without deleting anything."""
    client = connection.client()
    _emit_one(client.toggle_source(source_id(client, source), active))


@sources.command()
@click.argument("source")
@click.option("--night", is_flag=True, help="In the next night instead of now.")
@json_option
@click.pass_obj
def queue(connection: Connection, source: str, night: bool) -> None:
    """Have a source refreshed."""
    client = connection.client()
    event = client.queue_source(source_id(client, source), "night" if night else "now")
    emit(event, f"event {event['event_id']} is {event['state']}, not before {instant(event['available_at'])}")


def _emit_one(source: answers.Source) -> None:
    emit(
        source,
        pairs(
            [
                ("id", source["id"]),
                ("name", source["name"]),
                ("uri", source["uri"]),
                ("active", source["active"]),
                ("fresh for", duration(source["refresh_ttl_seconds"])),
                ("freshness", _freshness(source)),
                ("version", source["current_version"]),
                ("last status", source["last_status"]),
                ("last error", source["last_error"]),
                ("last attempt", instant(source["last_attempt_at"])),
                ("last check", instant(source["last_checked_at"])),
                ("last change", instant(source["last_changed_at"])),
                ("ETag", source["etag"]),
                ("Last-Modified", source["last_modified"]),
            ]
        ),
    )


def _freshness(source: answers.Source) -> str:
    if not source["active"]:
        return "off"
    return f"stale for {duration(source['stale_for_seconds'])}" if source["stale"] else "fresh"
