"""The fields of a policy as options: what is left out stays, and anybody and nobody are different."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import click

from chalicelib.cli.parameters import Instant

Command = TypeVar("Command", bound=Callable[..., Any])

TIERS = ("public", "internal", "confidential", "restricted")

_OPTIONS = (
    click.option("--sensitivity", type=click.Choice(TIERS), help="How sensitive the text is."),
    click.option("--permitted-roles", metavar="A,B", help="These roles alone; '' for nobody."),
    click.option("--any-role", is_flag=True, help="Any role."),
    click.option("--allowed-purposes", metavar="A,B", help="For these purposes alone; '' for none."),
    click.option("--any-purpose", is_flag=True, help="For any purpose."),
    click.option("--expires-at", type=Instant(), help="Not served from then on."),
    click.option("--never-expires", is_flag=True, help="Served without an end."),
)


def policy_options(command: Command) -> Command:
    """Add the options; ``changes_of`` reads them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def changes_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the options name, as a policy write has them. Raises UsageError for two values of one field."""
    changes: dict[str, Any] = {}
    if options["sensitivity"] is not None:
        changes["sensitivity"] = options["sensitivity"]
    for field, flag in (("permitted_roles", "any_role"), ("allowed_purposes", "any_purpose")):
        _one_of(options, field, flag)
        if options[field] is not None:
            changes[field] = [name.strip() for name in options[field].split(",") if name.strip()]
        elif options[flag]:
            changes[field] = None
    _one_of(options, "expires_at", "never_expires")
    if options["never_expires"]:
        changes["expires_at"] = None
    elif options["expires_at"] is not None:
        expires: datetime = options["expires_at"]
        changes["expires_at"] = expires.isoformat()
    return changes


def required(changes: dict[str, Any]) -> dict[str, Any]:
    """The changes. Raises UsageError if there are none."""
    if not changes:
        raise click.UsageError("Nothing to change.")
    return changes


def _one_of(options: Mapping[str, Any], field: str, flag: str) -> None:
    if options[field] is not None and options[flag]:
        words = [f"--{name.replace('_', '-')}" for name in (field, flag)]
        raise click.UsageError(f"{words[0]} and {words[1]} can't both be given.")
