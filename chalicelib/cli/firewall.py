"""``larder firewall``: its mode, policies, the record of decisions and its proof."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import islice
from typing import Any, TextIO
from uuid import UUID

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import emit, instant, json_option, pairs, table
from chalicelib.cli.parameters import Instant
from chalicelib.cli.policy_options import changes_of, policy_options
from chalicelib.client.memory_answers import ChunkPolicy, FirewallMode

DECISIONS = (
    "allow",
    "block_expired",
    "block_tenant_mismatch",
    "block_role_not_permitted",
    "block_purpose_not_allowed",
    "block_sensitivity_tier",
)
DEPLOYMENTS = "deployment"
"""The word for the mode that the deployment has."""


@click.group()
def firewall() -> None:
    """What may be read, by whom and for what, and the record of it."""


@firewall.group()
def mode() -> None:
    """Whether blocks are off, told (advisory) or enforced."""


@mode.command()
@json_option
@click.pass_obj
def show(connection: Connection) -> None:
    """Show the tenant's own mode and the one that counts."""
    _emit_mode(connection.client().show_mode())


@mode.command("set")
@click.argument("word", metavar="MODE", type=click.Choice(("off", "advisory", "enforce", DEPLOYMENTS)))
@json_option
@click.pass_obj
def set_(connection: Connection, word: str) -> None:
    """Choose off, advisory or enforce, or the deployment's mode."""
    _emit_mode(connection.client().set_mode(None if word == DEPLOYMENTS else word))


@firewall.command()
@click.argument("chunk", type=click.UUID)
@json_option
@click.pass_obj
def policy(connection: Connection, chunk: UUID) -> None:
    """Show what counts for a chunk."""
    _emit_policy(connection.client().show_chunk_policy(str(chunk)))


@firewall.command("set-policy")
@click.argument("chunk", type=click.UUID)
@policy_options
@click.option("--if-match", metavar="DIGEST", help="Only if the policy still has this digest.")
@json_option
@click.pass_obj
def set_policy(connection: Connection, /, chunk: UUID, if_match: str | None, **options: Any) -> None:
    """Say who may read a chunk's text; what is left out stays."""
    etag = f'"{if_match}"' if if_match else None
    _emit_policy(connection.client().set_chunk_policy(str(chunk), changes_of(options), if_match=etag))


@firewall.command()
@click.option("--since", type=Instant(), help="From then on; by default the last 30 days.")
@click.option("--until", type=Instant(), help="Before then.")
@click.option("--decision", type=click.Choice(DECISIONS), help="These alone.")
@click.option("--chunk", "chunk", type=click.UUID, help="About this chunk alone.")
@click.option("--role", help="Of this role alone.")
@click.option("--csv", "as_csv", is_flag=True, help="All of them as CSV (RFC 4180).")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many, but for --csv.")
@json_option
@click.pass_obj
def evaluations(
    connection: Connection,
    since: datetime | None,
    until: datetime | None,
    decision: str | None,
    chunk: UUID | None,
    role: str | None,
    as_csv: bool,
    limit: int,
) -> None:
    """List decisions, oldest first, or export them all."""
    client = connection.client()
    chunk_id = str(chunk) if chunk else None
    if as_csv:
        for page in client.export_evaluations(
            since=since, until=until, decision=decision, chunk_id=chunk_id, role=role
        ):
            click.echo(page.encode(), nl=False)  # a page at a time: the record may be longer than memory
        return
    found = list(
        islice(
            client.iter_evaluations(since=since, until=until, decision=decision, chunk_id=chunk_id, role=role), limit
        )
    )
    rows = [
        (instant(one["evaluated_at"]), one["decision"], one["mode"], one["chunk_id"], one["purpose"], one["reason"])
        for one in found
    ]
    emit(found, table(("AT", "DECISION", "MODE", "CHUNK", "PURPOSE", "REASON"), rows, empty="no decisions"))


@firewall.command()
@json_option
@click.pass_context
def verify(ctx: click.Context) -> None:
    """Walk the record of decisions; exits with 1 if it was touched, and says where."""
    connection: Connection = ctx.obj
    found = connection.client().verify_evaluations()
    rows = [(one["day"], one["kind"], one["number"], one["what"]) for one in found["faults"]]
    whole = f"whole: {found['rows']} decisions in {found['segments']} segments"
    emit(found, whole if found["ok"] else table(("DAY", "KIND", "NUMBER", "WHAT"), rows, empty="touched"))
    ctx.exit(0 if found["ok"] else 1)


@firewall.command("verify-proof")
@click.argument("file", type=click.File(encoding="utf-8"), default="-")
@json_option
@click.pass_context
def verify_proof(ctx: click.Context, file: TextIO) -> None:
    """Check the proof of a hit, as JSON in FILE or on stdin; exits with 1 if it is not ours or was changed."""
    connection: Connection = ctx.obj
    try:
        proof = json.load(file)
    except ValueError as error:
        raise click.UsageError(f"{file.name} holds no JSON") from error
    found = connection.client().verify_proof(proof.get("proof", proof) if isinstance(proof, dict) else {})
    emit(found, "valid" if found["valid"] else "not valid")
    ctx.exit(0 if found["valid"] else 1)


def _emit_mode(found: FirewallMode) -> None:
    emit(found, pairs([("own mode", found["mode"] or "none"), ("in force", found["effective"])]))


def _emit_policy(found: ChunkPolicy) -> None:
    policy = found["policy"]
    shown = [
        (name, _told(policy[name])) for name in ("sensitivity", "expires_at", "permitted_roles", "allowed_purposes")
    ]
    more = [("content class", policy["content_class"]), ("validation", policy["validation_status"])]
    emit(found, pairs([*shown, *more, ("source", found["source_id"]), ("digest", found["policy_digest"])]))


def _told(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(value) or "nobody, nothing"
    return "any" if value is None else value
