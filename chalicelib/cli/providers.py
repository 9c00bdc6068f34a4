"""``larder providers``: who is asked for knowledge."""

from __future__ import annotations

from typing import Any

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import emit, json_option, pairs, table, to_the_second
from chalicelib.client import ClientError
from chalicelib.client.api import Client
from chalicelib.client.knowledge_answers import Provider, ProviderHealth, ProviderWithSecret


class ProviderNotFound(ClientError):
    """No provider has that id or name."""

    def document(self) -> dict[str, Any]:
        """As the API would put it."""
        return {"code": "not_found", "detail": str(self)}


PROFILE = click.option(
    "--profile",
    "exposure_profile",
    type=click.Choice(("customer_safe", "agent_only")),
    required=True,
    help="Whether customers may reach it; it can't be changed later.",
)
PRIORITY = click.option("--priority", type=int, help="Lower goes first; 100 by default.")


@click.group()
def providers() -> None:
    """Knowledge providers: register, look after and try them."""


@providers.command("list")
@json_option
@click.pass_obj
def list_providers(connection: Connection) -> None:
    """List the providers and how they do."""
    found = connection.client().list_providers()
    rows = [
        (one["id"], one["name"], one["exposure_profile"], one["status"], one["priority"], _health(one), one["base_url"])
        for one in found["items"]
    ]
    headings = ("ID", "NAME", "FOR", "STATUS", "PRIORITY", "LATELY", "ADDRESS")
    emit(found, table(headings, rows, empty="no providers"))


@providers.command()
@click.argument("name")
@click.argument("base_url")
@PROFILE
@PRIORITY
@click.option("--capability", "capabilities", multiple=True, help="locale, localeFallback or scoring; may be repeated.")
@click.option("--module", help="larder for Larder's own knowledge base.")
@click.option("--send-conversation-id", is_flag=True, default=None, help="Tell it in which conversation is asked.")
@click.option("--allow-private-network", is_flag=True, default=None, help="Let it lie in a private network.")
@click.option("--acknowledge", help="ssrf-risk, where a private network is allowed.")
@json_option
@click.pass_obj
def add(connection: Connection, /, name: str, base_url: str, exposure_profile: str, **more: Any) -> None:
    """Register a provider; its secret is shown this once. {registration} in the address becomes its id."""
    more["capabilities"] = list(more["capabilities"]) or None
    _emit_secret(connection.client().add_provider(name, base_url, exposure_profile, **more))


@providers.command("add-own")
@click.argument("name")
@PROFILE
@PRIORITY
@json_option
@click.pass_obj
def add_own(connection: Connection, name: str, exposure_profile: str, priority: int | None) -> None:
    """Register this Larder's own knowledge base: what is published for customer_safe, the rest for agent_only."""
    client = connection.client()
    address = f"{client.base_url}/v1/provider/{{registration}}"
    _emit_secret(client.add_provider(name, address, exposure_profile, priority=priority, module="larder"))


@providers.command()
@click.argument("provider")
@click.option("--name", help="Another name.")
@click.option("--address", "base_url", help="Where it is asked from now on.")
@click.option("--priority", type=int, help="Lower goes first.")
@click.option("--capability", "capabilities", multiple=True, help="All that it declares; may be repeated.")
@click.option("--send-conversation-id/--no-send-conversation-id", default=None, help="Whether it is told.")
@click.option("--allow-private-network/--no-allow-private-network", default=None, help="Whether it may lie in one.")
@click.option("--acknowledge", help="ssrf-risk, where a private network is allowed.")
@json_option
@click.pass_obj
def change(connection: Connection, /, provider: str, capabilities: tuple[str, ...], **options: Any) -> None:
    """Change a registration; what is left out stays. Another address, capability or network begins anew."""
    changes = {name: value for name, value in options.items() if value is not None}
    if changes.get("allow_private_network") is False:
        changes.setdefault("acknowledge", "ssrf-risk")  # who ends the risk has acknowledged it
    if capabilities:
        changes["capabilities"] = list(capabilities)
    if not changes.keys() - {"acknowledge"}:
        raise click.UsageError("Nothing to change.")
    client = connection.client()
    changed = client.change_provider(_id(client, provider), changes)
    shown = [
        ("name", changed["name"]),
        ("address", changed["base_url"]),
        ("status", changed["status"]),
        ("priority", changed["priority"]),
        ("capabilities", ", ".join(changed["capabilities"])),
        ("private network", changed["allow_private_network"]),
        ("conversation id", changed["send_conversation_id"]),
    ]
    emit(changed, pairs(shown))


@providers.command()
@click.argument("provider")
@click.option("--overlap", type=int, help="Seconds for which the old secret stays good; a day by default.")
@json_option
@click.pass_obj
def rotate(connection: Connection, provider: str, overlap: int | None) -> None:
    """Give a provider a new secret, shown this once."""
    client = connection.client()
    _emit_secret(client.rotate_secret(_id(client, provider), overlap))


@providers.command("test")
@click.argument("provider")
@click.option("--query", help="What to ask.")
@click.option("--limit", type=click.IntRange(1, 50), help="How many results.")
@json_option
@click.pass_obj
def try_provider(connection: Connection, provider: str, query: str | None, limit: int | None) -> None:
    """Ask one provider and show what came, with each result's verdict."""
    client = connection.client()
    tried = client.try_provider(_id(client, provider), query, limit)
    rows = [(one["verdict"], one["audience"], one["title"], one["url"]) for one in tried["results"]]
    reason = f" ({tried['reason']})" if tried["reason"] else ""
    head = f"{tried['status']}{reason}, {tried['milliseconds']} ms"
    emit(tried, f"{head}\n{table(('VERDICT', 'AUDIENCE', 'TITLE', 'LINK'), rows, empty='no results')}")


@providers.command()
@click.argument("provider")
@json_option
@click.pass_obj
def refresh(connection: Connection, provider: str) -> None:
    """Read what a provider declares that it can do."""
    client = connection.client()
    found = client.refresh_capabilities(_id(client, provider))
    emit(found, pairs([(name, ", ".join(v) if isinstance(v, list) else v) for name, v in found.items()]))


@providers.command()
@click.argument("provider")
@json_option
@click.pass_obj
def disable(connection: Connection, provider: str) -> None:
    """Stop asking a provider."""
    _set_status(connection, provider, "disabled")


@providers.command()
@click.argument("provider")
@json_option
@click.pass_obj
def enable(connection: Connection, provider: str) -> None:
    """Ask a provider again, also one that was disabled after failures."""
    _set_status(connection, provider, "active")


@providers.command()
@click.argument("provider")
@json_option
@click.pass_obj
def remove(connection: Connection, provider: str) -> None:
    """Remove a provider and everything that was kept about it."""
    client = connection.client()
    emit(client.remove_provider(_id(client, provider)), "removed")


def _set_status(connection: Connection, provider: str, status: str) -> None:
    client = connection.client()
    changed = client.change_provider(_id(client, provider), {"status": status})
    emit(changed, f"{changed['name']} is {changed['status']}")


def _emit_secret(made: ProviderWithSecret) -> None:
    until = made["previous_secret_until"]
    shown = [("id", made["id"]), ("name", made["name"]), ("address", made["base_url"]), ("secret", made["secret"])]
    emit(made, pairs([*shown, ("old secret until", to_the_second(until))] if until else shown))


def _health(provider: Provider) -> str:
    """Both lanes: what pages cause is counted apart, and can stop the provider for pages alone."""
    failing = [
        one
        for one in provider["health"]
        if one["transient_failures"] or one["hard_failures"] or one["stopped"] or one["open_until"]
    ]
    return "; ".join(_lane(one) for one in sorted(failing, key=lambda one: one["lane"])) or "fine"


def _lane(one: ProviderHealth) -> str:
    whose = "for widgets: " if one["lane"] == "widget" else ""
    why = f"{one['last_failure']}: {one['last_reason']}" if one["last_failure"] else "it asked to be let alone"
    told = f"{whose}{why}"
    if one["stopped"]:
        return f"{told}, stopped"
    return f"{told}, open until {to_the_second(one['open_until'])}" if one["open_until"] else told


def _id(client: Client, given: str) -> str:
    """The id of the provider that ``given`` means, by id or name. Raises ProviderNotFound."""
    for one in client.list_providers()["items"]:
        if given in (one["id"], one["name"]):
            return one["id"]
    raise ProviderNotFound(f"no provider has the id or name {given!r}")
