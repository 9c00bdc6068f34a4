"""``larder consolidation``: texts that say nearly the same, and answers to the proposals about them."""

from __future__ import annotations

from itertools import islice
from uuid import UUID

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import counted, emit, json_option, pairs, table, to_the_second
from chalicelib.cli.reader_options import reader_options
from chalicelib.client.consolidation import Passage, Scanned, ShownProposal

STATES = ("open", "writing", "accepted", "rejected", "undone", "lapsed", "failed")


@click.group()
def consolidation() -> None:
    """Find texts that say nearly the same, and decide about them."""


@consolidation.command()
@json_option
@click.pass_obj
def scan(connection: Connection) -> None:
    """Look at all texts, a page at a time, and propose near-duplicates. Nothing else changes."""
    client, after = connection.client(), None
    total = Scanned(examined=0, proposed=0, next_after=None, full=False)
    while True:
        page = client.scan_near_duplicates(after)
        total["examined"] += page["examined"]
        total["proposed"] += page["proposed"]
        after, total["full"] = page["next_after"], page["full"]
        if after is None or page["full"]:
            break
    full = "; there is no room for more until some are answered" if total["full"] else ""
    emit(total, f"{counted(total['examined'], 'text')}, {counted(total['proposed'], 'proposal')}{full}")


@consolidation.command("list")
@click.option("--state", type=click.Choice(STATES), default="open", show_default=True, help="In this state.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many, the oldest first.")
@json_option
@click.pass_obj
def list_proposals(connection: Connection, state: str, limit: int) -> None:
    """List proposals."""
    found = list(islice(connection.client().iter_proposals(state=state), limit))
    rows = [
        (
            one["id"],
            one["kind"],
            f"{one['similarity']:.3f}",
            one["kept_source_name"],
            one["other_source_name"],
            one["reason"],
            to_the_second(one["created_at"]),
        )
        for one in found
    ]
    headings = ("ID", "KIND", "COSINE", "KEEPS", "OTHER", "REASON", "SINCE")
    emit(found, table(headings, rows, empty="no proposals"))


@consolidation.command()
@click.argument("proposal", metavar="ID", type=click.UUID)
@reader_options
@json_option
@click.pass_obj
def show(connection: Connection, proposal: UUID, role: str | None, purpose: str | None) -> None:
    """Show a proposal with its texts."""
    found = connection.client().show_proposal(str(proposal), role=role, purpose=purpose)
    emit(found, _told(found))


@consolidation.command()
@click.argument("proposal", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def accept(connection: Connection, proposal: UUID) -> None:
    """Do what is proposed, if the texts are as they were. Needs an operator's token."""
    done = connection.client().accept_proposal(str(proposal))
    if done["deposited_source_id"]:
        told = f"accepted, as the source {done['deposited_source_id']}"
    else:
        told = f"accepted: searches find the text of {done['kept_source_name']} alone"
    emit(done, told)


@consolidation.command()
@click.argument("proposal", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def reject(connection: Connection, proposal: UUID) -> None:
    """Change nothing, and don't ask about these two again."""
    emit(connection.client().reject_proposal(str(proposal)), "rejected")


@consolidation.command()
@click.argument("proposal", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def undo(connection: Connection, proposal: UUID) -> None:
    """Let searches find both texts again. Needs an operator's token."""
    emit(connection.client().undo_proposal(str(proposal)), "undone")


@consolidation.command()
@click.argument("proposal", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def write(connection: Connection, proposal: UUID) -> None:
    """Have the deployment's model write one text for both, to be proposed. Needs an operator's token."""
    asked = connection.client().write_proposal(str(proposal))
    emit(asked, f"asked for: proposal {asked['id']}")


def _told(found: ShownProposal) -> str:
    facts = pairs(
        (
            ("kind", found["kind"]),
            ("state", found["state"]),
            ("cosine", f"{found['similarity']:.3f}"),
            ("reason", found["reason"]),
            ("keeps", f"{found['kept_source_name']} ({found['kept_chunk_id']})"),
            ("other", f"{found['other_source_name']} ({found['other_chunk_id']})"),
        )
    )
    texts = [("keeps", found["kept"]), ("other", found["other"])]
    if found["kind"] == "written" and found["state"] == "open":
        texts.append(("written", found["written"]))
    return "\n\n".join([facts, *(f"--- {name}\n{_text(one)}" for name, one in texts)])


def _text(one: Passage | None) -> str:
    if one is None:
        return "(gone, or not to be read by you)"
    return one["text"] if one["policy_warning"] is None else f"{one['text']}\n! {one['policy_warning']}"
