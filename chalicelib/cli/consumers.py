"""``larder knowledge list`` and its kin: those who may ask, and the end of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from chalicelib.cli.connection import Connection
from chalicelib.cli.output import emit, json_option, table
from chalicelib.client import ClientError
from chalicelib.client.api import Client
from chalicelib.client.knowledge_answers import Consumer, ConsumerList, Removed

READ_PUBLIC = "knowledge:read_public"

_LIST: dict[str, Callable[[Client], ConsumerList]] = {
    "agent": Client.list_agents,
    "assistant": Client.list_assistants,
    "widget": Client.list_widgets,
}
_CHANGE: dict[str, Callable[[Client, str, bool], Consumer]] = {
    "agent": Client.change_agent,
    "assistant": Client.change_assistant,
    "widget": Client.change_widget,
}
_REMOVE: dict[str, Callable[[Client, str], Removed]] = {
    "agent": Client.remove_agent,
    "assistant": Client.remove_assistant,
    "widget": Client.remove_widget,
}
KIND = click.argument("kind", type=click.Choice(tuple(_LIST)))


class ConsumerNotFound(ClientError):
    """Nobody of that kind has that id or name."""

    def document(self) -> dict[str, Any]:
        """As the API would put it."""
        return {"code": "not_found", "detail": str(self)}


@click.command("list")
@json_option
@click.pass_obj
def list_consumers(connection: Connection) -> None:
    """List the agents, assistants and widgets that may ask."""
    client = connection.client()
    found = [one for of_kind in _LIST.values() for one in of_kind(client)["items"]]
    rows = [
        (one["id"], one["kind"], one["name"], one["active"], ", ".join([*one["capabilities"], *one["origins"]]))
        for one in found
    ]
    emit({"items": found}, table(("ID", "KIND", "NAME", "ON", "MAY"), rows, empty="nobody may ask"))


@click.command()
@KIND
@click.argument("name")
@json_option
@click.pass_obj
def disable(connection: Connection, kind: str, name: str) -> None:
    """Switch one off: its token answers to nothing until it is enabled."""
    _switch(connection, kind, name, active=False)


@click.command()
@KIND
@click.argument("name")
@json_option
@click.pass_obj
def enable(connection: Connection, kind: str, name: str) -> None:
    """Switch one on again, with the token that it had."""
    _switch(connection, kind, name, active=True)


@click.command()
@KIND
@click.argument("name")
@json_option
@click.pass_obj
def remove(connection: Connection, kind: str, name: str) -> None:
    """Remove one and its token, for good."""
    client = connection.client()
    emit(_REMOVE[kind](client, _id(client, kind, name)), "removed")


@click.command()
@click.argument("assistant")
@json_option
@click.pass_obj
def grant(connection: Connection, assistant: str) -> None:
    """Let an assistant read what is public."""
    client = connection.client()
    changed = client.grant_capability(_id(client, "assistant", assistant), READ_PUBLIC)
    emit(changed, f"{changed['name']} may read what is public")


@click.command()
@click.argument("assistant")
@json_option
@click.pass_obj
def revoke(connection: Connection, assistant: str) -> None:
    """Take that from an assistant again; its token stays and reaches nothing."""
    client = connection.client()
    changed = client.revoke_capability(_id(client, "assistant", assistant), READ_PUBLIC)
    emit(changed, f"{changed['name']} may read nothing")


def _switch(connection: Connection, kind: str, name: str, *, active: bool) -> None:
    client = connection.client()
    changed = _CHANGE[kind](client, _id(client, kind, name), active)
    emit(changed, f"{changed['name']} is {'on' if changed['active'] else 'off'}")


def _id(client: Client, kind: str, given: str) -> str:
    """The id of the one that ``given`` means, by id or name. Raises ConsumerNotFound."""
    for one in _LIST[kind](client)["items"]:
        if given in (one["id"], one["name"]):
            return one["id"]
    raise ConsumerNotFound(f"no {kind} has the id or name {given!r}")
