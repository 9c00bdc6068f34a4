"""``larder memory``: notes and documents in, a text out for good, and what may not come in."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import counted, emit, json_option
from chalicelib.cli.policy_options import changes_of, policy_options
from chalicelib.client.memory_answers import Deposit

TITLE = click.option("--title", help="What people call it.")
TYPES = {".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain", ".text": "text/plain"}
"""Suffixes that not every machine's table has."""


@click.group()
def memory() -> None:
    """Notes and documents, which come in through the same gates as pages."""


@memory.command()
@click.argument("text")
@TITLE
@policy_options
@json_option
@click.pass_obj
def remember(connection: Connection, /, text: str, title: str | None, **options: Any) -> None:
    """Remember a note. It is confidential unless --sensitivity says otherwise."""
    _emit(connection.client().remember_note(text, title=title, policy=changes_of(options)))


@memory.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@TITLE
@click.option("--type", "content_type", help="Its media type; by default the file name's suffix tells.")
@policy_options
@json_option
@click.pass_obj
def add(connection: Connection, /, file: Path, title: str | None, content_type: str | None, **options: Any) -> None:
    """Remember a document of at most 2 MB: text, Markdown, HTML, JSON or PDF."""
    kind = content_type or TYPES.get(file.suffix.lower()) or mimetypes.guess_type(file.name)[0]
    if kind is None:
        raise click.UsageError(f"{file.name} has no suffix that tells its type; give --type.")
    client = connection.client()
    _emit(client.remember_document(file.read_bytes(), kind, title=title or file.name, policy=changes_of(options)))


@memory.command()
@click.argument("chunk", type=click.UUID)
@click.option("--why", default="", help="For the record of what admins did.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@json_option
@click.pass_obj
def forget(connection: Connection, chunk: UUID, why: str, yes: bool) -> None:
    """Erase a chunk's text from every version of its source, for good; no refresh brings it back."""
    if not yes:
        click.confirm(f"Erase the text of {chunk} from every version?", abort=True, err=True)
    done = connection.client().forget_chunk(str(chunk), why)
    emit(done, f"erased from {counted(done['erased'], 'place')}")


@memory.command("deny-patterns")
@click.option("--add", multiple=True, metavar="TEXT", help="Hold what has this text from now on; may be repeated.")
@click.option("--remove", multiple=True, metavar="TEXT", help="Hold it no longer; may be repeated.")
@json_option
@click.pass_obj
def deny_patterns(connection: Connection, add: tuple[str, ...], remove: tuple[str, ...]) -> None:
    """List the texts that send a page, a note or a document to quarantine, or change them. Case counts."""
    client = connection.client()
    found = client.change_deny_patterns(add=add, remove=remove) if add or remove else client.list_deny_patterns()
    emit(found, "\n".join(found["patterns"]) or "no patterns")


def _emit(done: Deposit) -> None:
    redacted = f"; {counted(done['redactions'], 'secret')} redacted" if done["redactions"] else ""
    if done["event"]:
        emit(done, f"stored as {done['source_id']}{redacted}; event {done['event']['event_id']} makes it readable")
    else:
        emit(done, f"held in quarantine as {done['quarantine_id']} by the gate {done['gate']}{redacted}")
