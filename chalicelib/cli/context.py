"""``larder context``: evidence for a prompt."""

from __future__ import annotations

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import emit, json_option
from chalicelib.cli.reader_options import operator_option, reader_options


@click.command()
@click.argument("query")
@click.option(
    "--max-chars", type=click.IntRange(500, 100_000), default=4000, show_default=True, help="How long it may be."
)
@reader_options
@operator_option
@json_option
@click.pass_obj
def context(
    connection: Connection, query: str, max_chars: int, role: str | None, purpose: str | None, as_operator: bool
) -> None:
    """Assemble evidence for a prompt, fenced and labelled as untrusted."""
    client = connection.client(as_operator=as_operator)
    found = client.context_pack(query, max_chars, role=role, purpose=purpose, as_operator=as_operator)
    for told in filter(None, (found["degraded"], found["left_out"])):
        click.echo(told, err=True)
    emit(found, found["text"])
