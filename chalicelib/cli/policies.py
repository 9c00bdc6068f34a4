"""``larder firewall policy`` and its kin: who may read a source, and a text, and for what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.naming import source_id
from chalicelib.cli.output import emit, json_option, pairs
from chalicelib.cli.policy_options import changes_of, policy_options, required
from chalicelib.client.memory_answers import ChunkPolicy, SourcePolicy

IF_MATCH = click.option("--if-match", metavar="DIGEST", help="Only if the policy still has this digest.")
VALIDATIONS = ("confirmed", "refuted", "unverified")


@click.command()
@click.argument("chunk", type=click.UUID)
@json_option
@click.pass_obj
def policy(connection: Connection, chunk: UUID) -> None:
    """Show what counts for a chunk: the strictest of its source's policy and its text's."""
    _emit_chunk(connection.client().show_chunk_policy(str(chunk)))


@click.command("set-policy")
@click.argument("chunk", type=click.UUID)
@policy_options
@IF_MATCH
@json_option
@click.pass_obj
def set_policy(connection: Connection, /, chunk: UUID, if_match: str | None, **options: Any) -> None:
    """Say who may read a chunk's text; what is left out stays.

    It belongs to the text in this source, for ever. An earlier wording that differs has a policy of its own.
    """
    changes = required(changes_of(options))
    _emit_chunk(connection.client().set_chunk_policy(str(chunk), changes, if_match=_etag(if_match)))


@click.command("source-policy")
@click.argument("source")
@json_option
@click.pass_obj
def source_policy(connection: Connection, source: str) -> None:
    """Show the policy that a source gives to all its texts."""
    client = connection.client()
    _emit_source(client.show_source_policy(source_id(client, source)))


@click.command("set-source-policy")
@click.argument("source")
@policy_options
@IF_MATCH
@json_option
@click.pass_obj
def set_source_policy(connection: Connection, /, source: str, if_match: str | None, **options: Any) -> None:
    """Say who may read a source, in all its wordings; what is left out stays."""
    changes = required(changes_of(options))
    client = connection.client()
    _emit_source(client.set_source_policy(source_id(client, source), changes, if_match=_etag(if_match)))


@click.command()
@click.argument("chunk", type=click.UUID)
@click.argument("status", type=click.Choice(VALIDATIONS))
@click.option("--why", default="", help="For the record of what admins did.")
@json_option
@click.pass_obj
def validate(connection: Connection, chunk: UUID, status: str, why: str) -> None:
    """Say what a person found of a chunk's text; nobody reads a refuted one, in any mode."""
    _emit_chunk(connection.client().validate_chunk(str(chunk), status, why))


def _etag(digest: str | None) -> str | None:
    return f'"{digest}"' if digest else None


def _emit_chunk(found: ChunkPolicy) -> None:
    more = [(name.replace("_", " "), found["policy"][name]) for name in ("content_class", "validation_status")]
    rows = [*_fields(found["policy"]), *more, ("source", found["source_id"]), ("digest", found["policy_digest"])]
    emit(found, pairs(rows))


def _emit_source(found: SourcePolicy) -> None:
    emit(
        found,
        pairs([*_fields(found["policy"]), ("published", found["published"]), ("digest", found["policy_digest"])]),
    )


def _fields(policy: Mapping[str, Any]) -> list[tuple[str, Any]]:
    names = ("sensitivity", "expires_at", "permitted_roles", "allowed_purposes")
    return [(name.replace("_", " "), _told(name, policy[name])) for name in names]


def _told(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(value) or "nobody, nothing"
    return ("never" if name == "expires_at" else "any") if value is None else value
