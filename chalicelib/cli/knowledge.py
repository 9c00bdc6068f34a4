"""``larder knowledge``: ask the providers, and keep those who may ask."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from chalicelib.cli import consumers
from chalicelib.cli.connection import Connection
from chalicelib.cli.output import counted, emit, in_line, json_option, pairs, table
from chalicelib.client.api import Client


@click.group()
def knowledge() -> None:
    """Knowledge of every provider."""


@knowledge.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 50), help="How many results; 10 by default.")
@click.option("--locale", help="A language tag, such as de-DE.")
@click.option("--locale-fallback/--no-locale-fallback", default=None, help="Whether another language will do.")
@click.option("--conversation", "conversation_id", help="For providers for agents that were set up to be told.")
@click.option(
    "--token",
    envvar="LARDER_KNOWLEDGE_TOKEN",
    show_envvar=True,
    required=True,
    help="An agent's or assistant's; better in the variable, where other users can't see it.",
)
@json_option
@click.pass_obj
def search(connection: Connection, /, query: str, token: str, **question: Any) -> None:
    """Ask every provider that the token may reach."""
    found = Client(connection.client().base_url, token).search_knowledge(query, **question)
    lines = [_result(number, one) for number, one in enumerate(found["results"], 1)]
    rows = [(one["name"], one["status"], f"{one['ms']} ms") for one in found.get("providers") or []]
    how = table(("PROVIDER", "STATUS", "TIME"), rows, empty="")
    left_out = found.get("leftOut")
    more = f"{counted(left_out, 'more result')} did not fit into one answer: ask for fewer." if left_out else ""
    emit(found, "\n\n".join(part for part in (*(lines or ["nothing found"]), more, how) if part))


@knowledge.command("add-agent")
@click.argument("name")
@json_option
@click.pass_obj
def add_agent(connection: Connection, name: str) -> None:
    """Make a named agent; its token, which reaches every provider, is shown this once."""
    made = connection.client().add_agent(name)
    emit(made, pairs([("id", made["id"]), ("token", made["token"])]))


@knowledge.command("add-assistant")
@click.argument("name")
@click.option("--read-public", is_flag=True, help="Grant it knowledge:read_public.")
@json_option
@click.pass_obj
def add_assistant(connection: Connection, name: str, read_public: bool) -> None:
    """Make an assistant, which sees what customers may see; its token is shown this once."""
    client = connection.client()
    made = client.add_assistant(name)
    # Before what may be refused for itself: the token is shown this once.
    emit(made, pairs([("id", made["id"]), ("token", made["token"])]))
    if read_public:
        client.grant_capability(made["id"], consumers.READ_PUBLIC)


@knowledge.command("add-widget")
@click.argument("name")
@click.argument("origins", nargs=-1, required=True)
@json_option
@click.pass_obj
def add_widget(connection: Connection, name: str, origins: tuple[str, ...]) -> None:
    """Make a widget for pages of these origins; its token, which is public, is shown this once."""
    made = connection.client().add_widget(name, origins)
    emit(made, pairs([("id", made["id"]), ("token", made["token"])]))


for command in (
    consumers.list_consumers,
    consumers.disable,
    consumers.enable,
    consumers.remove,
    consumers.grant,
    consumers.revoke,
):
    knowledge.add_command(command)


def _result(number: int, one: Any) -> str:
    provider = f" ({one['providerName']})" if "providerName" in one else ""
    link = f"\n   {in_line(one['url'])}" if one["url"] else ""
    snippet = textwrap.indent("\n".join(one["snippet"].strip().splitlines()), "   ")  # no line of it is a heading
    return f"{number}. {in_line(one['title'])}{provider}{link}\n\n{snippet}"
