"""``larder firewall``: its mode and the record of its decisions."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import TextIO
from uuid import UUID

import click

from chalicelib.cli import sealed_heads
from chalicelib.cli.connection import Connection
from chalicelib.cli.output import counted, emit, instant, json_option, pairs, table
from chalicelib.cli.parameters import Instant
from chalicelib.client.memory_answers import FirewallMode

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
@click.option("--heads", "log", type=click.File(encoding="utf-8"), help="Lines of the tick's log, to compare with.")
@json_option
@click.pass_context
def verify(ctx: click.Context, log: TextIO | None) -> None:
    """Walk the record of decisions; exits with 1 if it was touched, and says where.

    With --heads also if a sealed head isn't the one that was logged when it was sealed.
    """
    connection: Connection = ctx.obj
    found = connection.client().verify_evaluations()
    whole = f"whole: {counted(found['rows'], 'decision')} in {counted(found['segments'], 'segment')}"
    if log is not None:
        logged = sealed_heads.read(log, found["tenant_id"])
        if not logged:
            raise click.UsageError(f"{log.name} has no sealed head of this tenant")
        found["faults"] += sealed_heads.differences(logged, found["heads"])
        found["ok"] = not found["faults"]
        whole += f", and {counted(len(logged), 'sealed head')} as logged"
    rows = [(one["day"], one["kind"], one["number"], one["what"]) for one in found["faults"]]
    emit(found, whole if found["ok"] else table(("DAY", "KIND", "NUMBER", "WHAT"), rows, empty="touched"))
    ctx.exit(0 if found["ok"] else 1)


def _emit_mode(found: FirewallMode) -> None:
    emit(found, pairs([("own mode", found["mode"] or "none"), ("in force", found["effective"])]))
