"""``larder search``, ``text``, ``diff`` and ``versions``: what sources say, and said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.naming import source_id
from chalicelib.cli.output import counted, emit, in_line, instant, json_option, table
from chalicelib.cli.parameters import Instant
from chalicelib.cli.passage import passage
from chalicelib.cli.reader_options import operator_option, reader_options
from chalicelib.client import ApiProblem, ClientError, answers
from chalicelib.client.answers import Mode
from chalicelib.client.api import Client

AT = "As of then: 2026-11-30T02:00:00Z, or local time without the offset."


class NothingYet(ClientError):
    """A source of which no version is there."""

    depends_on_where = False

    def document(self) -> dict[str, Any]:
        """As the API would put it."""
        return {"code": "no_version", "detail": str(self)}


@click.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="How many hits.")
@click.option("--mode", type=click.Choice(("hybrid", "vector", "keyword")), help="How to look; hybrid by default.")
@click.option("--at", type=Instant(), help=AT)
@click.option("--source", "sources", multiple=True, help="In this source alone; may be repeated.")
@click.option("--full", is_flag=True, help="Show each hit's whole text, not its best lines.")
@reader_options
@operator_option
@json_option
@click.pass_obj
def search(
    connection: Connection,
    query: str,
    limit: int,
    mode: Mode | None,
    at: datetime | None,
    sources: tuple[str, ...],
    full: bool,
    role: str | None,
    purpose: str | None,
    as_operator: bool,
) -> None:
    """Search what sources say now, or said then."""
    _tell_of_the_future(at)
    client = connection.client(as_operator=as_operator)
    ids = [source_id(client, source) for source in sources] or None
    reader: dict[str, Any] = {"role": role, "purpose": purpose, "as_operator": as_operator}
    found = client.search_kb(query, limit=limit, mode=mode, at=at, source_ids=ids, **reader)
    if found["degraded"]:
        click.echo(f"degraded: {found['degraded']}", err=True)
    shown = str.strip if full else lambda text: passage(text, query)
    hits = [_hit(number, hit, shown) for number, hit in enumerate(found["hits"], 1)]
    emit(found, "\n\n".join(hits) or "nothing found")


@click.command()
@click.argument("source")
@click.option("--at", type=Instant(), help=AT)
@reader_options
@operator_option
@json_option
@click.pass_obj
def text(
    connection: Connection,
    source: str,
    at: datetime | None,
    role: str | None,
    purpose: str | None,
    as_operator: bool,
) -> None:
    """Show what a source says now, or said then."""
    _tell_of_the_future(at)
    client = connection.client(as_operator=as_operator)
    ident = source_id(client, source)
    with _telling_why_there_is_none(client, ident):
        found = client.show_text(ident, at, role=role, purpose=purpose, as_operator=as_operator)
    _tell_of_the_firewall(found)
    emit(found, found["text"])


@click.command()
@click.argument("source")
@click.option("--from", "from_version", type=click.IntRange(1), help="A version's number; by default the one before.")
@click.option("--to", "to_version", type=click.IntRange(1), help="A version's number; by default the last.")
@reader_options
@operator_option
@json_option
@click.pass_obj
def diff(
    connection: Connection,
    source: str,
    from_version: int | None,
    to_version: int | None,
    role: str | None,
    purpose: str | None,
    as_operator: bool,
) -> None:
    """Show what changed between two versions, as a unified diff."""
    client = connection.client(as_operator=as_operator)
    ident = source_id(client, source)
    with _telling_why_there_is_none(client, ident):
        reader: dict[str, Any] = {"role": role, "purpose": purpose, "as_operator": as_operator}
        found = client.show_diff(ident, from_version, to_version, **reader)
    _tell_of_the_firewall(found)
    unchanged = "nothing changed in what may be read" if found["withheld"] else "nothing changed"
    emit(found, _for_people(found["unified"]) or unchanged)


def _tell_of_the_firewall(found: answers.Text | answers.Diff) -> None:
    """What it withheld, or would in enforce mode, beside the text and not in it."""
    if found["withheld"]:
        click.echo(f"withheld by the firewall: {counted(found['withheld'], 'part')}", err=True)
    for warning in found["policy_warnings"]:
        click.echo(f"warning: {warning}", err=True)


@click.command()
@click.argument("source")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many, the newest first.")
@json_option
@click.pass_obj
def versions(connection: Connection, source: str, limit: int) -> None:
    """List the versions of a source, newest first. FROM is the first instant of a version, UNTIL of the next."""
    client = connection.client()
    found = list(islice(client.iter_versions(source_id(client, source)), limit))
    rows = [
        (one["version"], instant(one["valid_from"]), instant(one["valid_to"]) or "now", one["character_count"])
        for one in found
    ]
    emit(found, table(("VERSION", "FROM", "UNTIL", "CHARACTERS"), rows, empty="no versions yet"))


@contextmanager
def _telling_why_there_is_none(client: Client, ident: str) -> Iterator[None]:
    """Of a source without any version, what has become of it so far."""
    try:
        yield
    except ApiProblem as problem:
        if problem.code != "no_version":
            raise
        source = client.show_source(ident)
        if source["current_version"] is not None:
            raise
        if source["last_attempt_at"] is None:
            raise NothingYet(f"{source['name']} has never been fetched") from problem
        status = f"{source['last_status']}: {source['last_error']}" if source["last_error"] else source["last_status"]
        raise NothingYet(f"{source['name']} has no version yet; the last attempt ended as {status}") from problem


def _tell_of_the_future(at: datetime | None) -> None:
    """Nobody knows what a source will say; the answer is what it says now."""
    if at is not None and at > datetime.now(UTC):
        click.echo(f"{instant(at.isoformat())} is yet to come: this is as of now", err=True)


def _for_people(unified: str) -> str:
    """Without the note about a line end that no page has at its end; ``patch``, which needs it, reads the JSON's."""
    return "\n".join(line for line in unified.split("\n") if not line.startswith("\\"))


def _hit(number: int, hit: answers.Hit, shown: Callable[[str], str]) -> str:
    stale = ", stale" if hit["stale"] else ""
    warning = f", {hit['policy_warning']}" if hit["policy_warning"] else ""
    version = f"version {hit['version']}, fetched {instant(hit['fetched_at'])}"
    where = f"{in_line(hit['source_name'])}, score {hit['score']:.3f}, {version}{stale}{warning}"
    return f"{number}. {where}\n   {in_line(hit['source_uri'])}\n   chunk {hit['chunk_id']}\n\n{shown(hit['text'])}"
