"""``larder status`` and ``larder settings``."""

from __future__ import annotations

from typing import Any

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import emit, json_option, pairs, to_the_second
from chalicelib.client import answers


@click.command()
@json_option
@click.pass_obj
def status(connection: Connection) -> None:
    """Show how the knowledge base is doing."""
    found = connection.client().show_status()
    window, cap, guard = found["window"], found["cap"], found["guard"]
    emit(
        found,
        pairs(
            [
                ("enabled", found["enabled"]),
                ("sources", _counts(found["sources"])),
                ("suggestions", _counts(found["suggestions"])),
                ("queue", _counts(found["queue"])),
                ("night", f"{to_the_second(window['starts_at'])} to {to_the_second(window['ends_at'])}"),
                ("night is open", window["open"]),
                ("night's cap", f"{cap['used']} of {cap['cap']} used, {cap['waiting']} waiting"),
                ("last tick", to_the_second(found["last_tick_at"]) or "never"),
                ("domains", ", ".join(guard["allowlist"] or []) or "any"),
                ("private networks", "open" if guard["private_networks"] else "closed"),
            ]
        ),
    )


@click.group()
def settings() -> None:
    """The night window, its cap, and the main switch."""


@settings.command()
@json_option
@click.pass_obj
def show(connection: Connection) -> None:
    """Show the settings."""
    _emit(connection.client().show_settings())


@settings.command("set")
@click.option("--night-start", metavar="HH:MM", help="When the night begins.")
@click.option("--night-end", metavar="HH:MM", help="When it ends; the same as its start: the whole day.")
@click.option("--timezone", metavar="NAME", help="The IANA name of the clock that these are read from.")
@click.option("--cap", "nightly_job_cap", type=int, help="How many refreshes a night may start.")
@click.option("--enabled/--disabled", default=None, help="Whether the knowledge base is on.")
@click.option(
    "--require-approval/--no-approval",
    "memory_require_approval",
    default=None,
    help="Whether somebody is asked before a text goes that has an end.",
)
@json_option
@click.pass_obj
def change(connection: Connection, /, **changes: Any) -> None:
    """Change settings; what is left out stays."""
    if all(value is None for value in changes.values()):
        raise click.UsageError("Nothing to change.")
    _emit(connection.client().change_settings(**changes))


def _emit(found: answers.Settings) -> None:
    emit(
        found,
        pairs(
            [
                ("night", f"{found['night_start']} to {found['night_end']}"),
                ("timezone", found["timezone"]),
                ("night's cap", found["nightly_job_cap"]),
                ("enabled", found["enabled"]),
                ("ask before deleting", found["memory_require_approval"]),
            ]
        ),
    )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in counts.items())
