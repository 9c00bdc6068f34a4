"""``larder ops``: migrations, tenants and tokens, through the operations function and under IAM."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import emit, json_option, pairs, table, to_the_second


@click.group()
def ops() -> None:
    """Operate a deployment: for those who may invoke its operations function."""


@ops.command()
@click.option("--pending", is_flag=True, help="Only list what would be applied.")
@json_option
@click.pass_obj
def migrate(connection: Connection, pending: bool) -> None:
    """Bring the database's schema up to date."""
    result = connection.ops().run("migrations_pending" if pending else "migrate")
    names = result["pending" if pending else "applied"]
    emit(result, "\n".join(names) or "nothing to do")


@ops.group()
def tenant() -> None:
    """Customers' accounts."""


@tenant.command("create")
@click.argument("name")
@click.option("--plan", help="The plan that limits it; free by default.")
@click.option("--operator", help="Whom the admin token is for.")
@json_option
@click.pass_obj
def create_tenant(connection: Connection, /, **arguments: Any) -> None:
    """Make a tenant with an API token and an admin token, which are shown this once."""
    made = connection.ops().run("tenant_create", **arguments)
    emit(made, pairs(list(made.items())))


@tenant.command("list")
@json_option
@click.pass_obj
def list_tenants(connection: Connection) -> None:
    """List every tenant."""
    found = connection.ops().run("tenant_list")
    rows = [
        (one["name"], one["plan"], one["enabled"], one["timezone"], to_the_second(one["created_at"])) for one in found
    ]
    emit(found, table(("NAME", "PLAN", "ENABLED", "TIMEZONE", "SINCE"), rows, empty="no tenants"))


@tenant.command()
@click.argument("name")
@json_option
@click.pass_obj
def enable(connection: Connection, name: str) -> None:
    """Switch a tenant on."""
    emit(connection.ops().run("tenant_enable", name=name, enabled=True), f"{name} is enabled")


@tenant.command()
@click.argument("name")
@json_option
@click.pass_obj
def disable(connection: Connection, name: str) -> None:
    """Switch a tenant off; what waits stays."""
    emit(connection.ops().run("tenant_enable", name=name, enabled=False), f"{name} is disabled")


@tenant.command("delete")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Don't ask.")
@json_option
@click.pass_obj
def delete_tenant(connection: Connection, name: str, yes: bool) -> None:
    """Remove a tenant with everything it has."""
    if not yes:
        click.confirm(f"Remove {name} with all its sources, versions and tokens?", abort=True, err=True)
    emit(connection.ops().run("tenant_delete", name=name), f"{name} is gone")


@ops.group()
def token() -> None:
    """What lets people and programs in."""


@token.command("create")
@click.argument("tenant_name", metavar="TENANT")
@click.option(
    "--class",
    "token_class",
    type=click.Choice(("api", "admin")),
    default="api",
    show_default=True,
    help="Reads, or changes too.",
)
@click.option("--label", help="What it is for.")
@click.option("--operator", help="Whom an admin token is for.")
@click.option("--role", "roles", multiple=True, help="A role that its requests may take; may be repeated.")
@click.option("--purpose", "purposes", multiple=True, help="A purpose that it allows; may be repeated. None: any.")
@json_option
@click.pass_obj
def create_token(
    connection: Connection,
    tenant_name: str,
    token_class: str,
    label: str | None,
    operator: str | None,
    roles: tuple[str, ...],
    purposes: tuple[str, ...],
) -> None:
    """Make one more token, which is shown this once."""
    arguments: dict[str, Any] = {"tenant": tenant_name, "class": token_class, "label": label, "operator": operator}
    if roles:
        arguments["roles"] = list(roles)
    if purposes:
        arguments["purposes"] = list(purposes)
    made = connection.ops().run("token_create", **arguments)
    emit(made, made["token"])


@token.command("list")
@click.argument("tenant_name", metavar="[TENANT]", required=False)
@json_option
@click.pass_obj
def list_tokens(connection: Connection, tenant_name: str | None) -> None:
    """List the tokens of one tenant or of all; never the secrets."""
    found = connection.ops().run("token_list", tenant=tenant_name)
    rows = [
        (
            one["id"],
            one["tenant"],
            one["class"],
            one["label"],
            one["operator_name"],
            to_the_second(one["created_at"]),
            to_the_second(one["revoked_at"]),
        )
        for one in found
    ]
    headings = ("ID", "TENANT", "CLASS", "LABEL", "OPERATOR", "SINCE", "REVOKED")
    emit(found, table(headings, rows, empty="no tokens"))


@token.command()
@click.argument("token_id", metavar="ID", type=click.UUID)
@json_option
@click.pass_obj
def revoke(connection: Connection, token_id: UUID) -> None:
    """End a token at once."""
    emit(connection.ops().run("token_revoke", id=str(token_id)), "revoked")
