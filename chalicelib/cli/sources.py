"""``larder sources``: what is kept fresh."""

from __future__ import annotations

from typing import Any

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.naming import source_id
from chalicelib.cli.output import duration, emit, in_options, instant, json_option, pairs, table, to_the_second
from chalicelib.cli.parameters import Duration
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
@click.option(
    "--ttl",
    "refresh_ttl_seconds",
    type=Duration(),
    help="How long a check keeps it fresh, from 5min to 365d: 300, 30min, 6h, 7d (the default).",
)
@click.option("--keep-hidden-text/--drop-hidden-text", default=None, help="Whether hidden elements are read too.")
@json_option
@click.pass_context
def add(ctx: click.Context, /, uris: tuple[str, ...], name: str | None, **more: Any) -> None:
    """Add sources, or update those that have these uris."""
    if name is not None and len(uris) > 1:
        raise click.UsageError("--name is for one URI.")
    given = {key: value for key, value in {"name": name, **more}.items() if value is not None}
    wanted = [{"uri": uri, **given} for uri in uris]
    client = ctx.obj.client()
    results = [
        {**result, "index": start + result["index"]}
        for start in range(0, len(wanted), BATCH)
        for result in client.put_sources(wanted[start : start + BATCH])["results"]
    ]
    rows = [_added(uris[result["index"]], result) for result in results]
    emit(results, table(("RESULT", "ID", "URI", "WHY NOT"), rows, empty=""))
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
    emit(event, f"event {event['event_id']} is {event['state']}, not before {to_the_second(event['available_at'])}")


@sources.command()
@click.argument("source")
@json_option
@click.pass_obj
def publish(connection: Connection, source: str) -> None:
    """Let customers reach what is public of a source."""
    _set_published(connection, source, True)


@sources.command()
@click.argument("source")
@json_option
@click.pass_obj
def unpublish(connection: Connection, source: str) -> None:
    """Keep a source from customers, whatever its texts are."""
    _set_published(connection, source, False)


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


def _added(uri: str, result: dict[str, Any]) -> tuple[str | None, ...]:
    """The row of one URI: what became of it, or the rule that it breaks."""
    source, problem = result["source"], result["problem"]
    if problem:
        return "refused", None, uri, in_options(problem["detail"], problem.get("field"))
    return {201: "added", 200: "updated"}[result["status"]], source["id"], source["uri"], None


def _set_published(connection: Connection, source: str, published: bool) -> None:
    client = connection.client()
    found = client.set_source_policy(source_id(client, source), {"published": published})
    tier = found["policy"]["sensitivity"]
    hidden = "" if tier == "public" else f"; the source is {tier}, so there is nothing public of it"
    emit(found, f"published{hidden}" if found["published"] else "not published")


def _freshness(source: answers.Source) -> str:
    if not source["active"]:
        return "off"
    return f"stale for {duration(source['stale_for_seconds'])}" if source["stale"] else "fresh"
