"""``larder search``, ``text``, ``diff`` and ``versions``: what sources say, and said."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import emit, instant, json_option, table
from chalicelib.cli.parameters import Instant, source_id
from chalicelib.client import answers
from chalicelib.client.answers import Mode


@click.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="How many hits.")
@click.option("--mode", type=click.Choice(("hybrid", "vector", "keyword")), help="How to look; hybrid by default.")
@click.option("--at", type=Instant(), help="As of then: 2026-11-30T02:00:00Z, or local time without the offset.")
@click.option("--source", "sources", multiple=True, help="In this source alone; may be repeated.")
@json_option
@click.pass_obj
def search(
    connection: Connection, query: str, limit: int, mode: Mode | None, at: datetime | None, sources: tuple[str, ...]
) -> None:
    """Search what sources say now, or said then."""
    client = connection.client()
    ids = [source_id(client, source) for source in sources] or None
    found = client.search_kb(query, limit=limit, mode=mode, at=at, source_ids=ids)
    if found["degraded"]:
        click.echo(f"degraded: {found['degraded']}", err=True)
    emit(found, "\n\n".join(_hit(number, hit) for number, hit in enumerate(found["hits"], 1)) or "nothing found")


@click.command()
@click.argument("source")
@click.option("--at", type=Instant(), help="As of then: 2026-11-30T02:00:00Z, or local time without the offset.")
@json_option
@click.pass_obj
def text(connection: Connection, source: str, at: datetime | None) -> None:
    """Show what a source says now, or said then."""
    client = connection.client()
    found = client.show_text(source_id(client, source), at)
    if found["withheld"]:
        click.echo(f"withheld by the firewall: {found['withheld']} parts", err=True)
    emit(found, found["text"])


@click.command()
@click.argument("source")
@click.option("--from", "from_version", type=click.IntRange(1), help="A version's number; by default the one before.")
@click.option("--to", "to_version", type=click.IntRange(1), help="A version's number; by default the last.")
@json_option
@click.pass_obj
def diff(connection: Connection, source: str, from_version: int | None, to_version: int | None) -> None:
    """Show what changed between two versions, as a unified diff."""
    client = connection.client()
    found = client.show_diff(source_id(client, source), from_version, to_version)
    emit(found, found["unified"])


@click.command()
@click.argument("source")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many, the newest first.")
@json_option
@click.pass_obj
def versions(connection: Connection, source: str, limit: int) -> None:
    """List the versions of a source, newest first."""
    client = connection.client()
    found = list(islice(client.iter_versions(source_id(client, source)), limit))
    rows = [
        (one["version"], instant(one["valid_from"]), instant(one["valid_to"]) or "now", one["character_count"])
        for one in found
    ]
    emit(found, table(("VERSION", "FROM", "UNTIL", "CHARACTERS"), rows, empty="no versions"))


def _hit(number: int, hit: answers.Hit) -> str:
    stale = ", stale" if hit["stale"] else ""
    warning = f", {hit['policy_warning']}" if hit["policy_warning"] else ""
    where = f"{hit['source_name']}, version {hit['version']}, fetched {instant(hit['fetched_at'])}{stale}{warning}"
    return f"{number}. {where}\n   {hit['source_uri']}\n\n{hit['text'].strip()}"
