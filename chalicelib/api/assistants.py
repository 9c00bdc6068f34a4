"""``/v1/agents``, ``/v1/assistants`` and ``/v1/widgets``: who may ask for knowledge, kept by admins (spec 3.1)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from urllib.parse import unquote
from uuid import UUID

from pydantic import Field

from chalicelib.api import fields
from chalicelib.api.providers import Removed
from chalicelib.api.resource import Answer, Call, Input, NoQuery, Nothing, Output, Resource
from chalicelib.services import consumers as service
from chalicelib.services.consumers import Consumer, Kind
from chalicelib.services.quotas import Allowance

assistants = Resource("assistants")


class ConsumerIn(Input):
    """Who it is."""

    name: fields.Name


class WidgetIn(ConsumerIn):
    """A widget and the pages that may embed it, as origins such as https://www.example.com."""

    origins: Annotated[list[Annotated[str, Field(min_length=1, max_length=300)]], Field(min_length=1, max_length=50)]


class ActiveIn(Input):
    """Whether its token answers."""

    active: bool


class ConsumerOut(Output):
    """Somebody who may ask; the token is shown when it is made, and never again."""

    id: UUID
    kind: str
    name: str
    active: bool
    capabilities: list[str]
    origins: list[str]
    created_at: datetime


class ConsumerWithToken(ConsumerOut):
    """Somebody who may ask, with the new token, shown this once."""

    token: str


class ConsumerList(Output):
    """All of one kind, in the order in which they were made."""

    items: list[ConsumerOut]


@assistants.route("GET", "/v1/agents", action="knowledge.consumers.read", access="write", answers={200: ConsumerList})
def list_agents(call: Call[Nothing, NoQuery]) -> Answer:
    """List the agents."""
    return _list(call, "agent")


@assistants.route(
    "POST",
    "/v1/agents",
    action="knowledge.consumers.write",
    access="write",
    body=ConsumerIn,
    answers={201: ConsumerWithToken},
)
def add_agent(call: Call[ConsumerIn, NoQuery]) -> Answer:
    """Make a named agent and its token, which reaches every provider."""
    return _create(call, "agent", [])


@assistants.route(
    "PATCH",
    "/v1/agents/{agent_id}",
    action="knowledge.consumers.write",
    access="write",
    body=ActiveIn,
    answers={200: ConsumerOut},
)
def change_agent(call: Call[ActiveIn, NoQuery]) -> Answer:
    """Switch an agent off or on."""
    return _set_active(call, "agent", call.ids["agent_id"])


@assistants.route(
    "DELETE", "/v1/agents/{agent_id}", action="knowledge.consumers.write", access="write", answers={200: Removed}
)
def remove_agent(call: Call[Nothing, NoQuery]) -> Answer:
    """Remove an agent and its token."""
    return _delete(call, "agent", call.ids["agent_id"])


@assistants.route(
    "GET", "/v1/assistants", action="knowledge.consumers.read", access="write", answers={200: ConsumerList}
)
def list_assistants(call: Call[Nothing, NoQuery]) -> Answer:
    """List the assistants and their capabilities."""
    return _list(call, "assistant")


@assistants.route(
    "POST",
    "/v1/assistants",
    action="knowledge.consumers.write",
    access="write",
    body=ConsumerIn,
    answers={201: ConsumerWithToken},
)
def add_assistant(call: Call[ConsumerIn, NoQuery]) -> Answer:
    """Make an assistant and its token, which may do nothing until it is granted a capability."""
    return _create(call, "assistant", [])


@assistants.route(
    "PATCH",
    "/v1/assistants/{assistant_id}",
    action="knowledge.consumers.write",
    access="write",
    body=ActiveIn,
    answers={200: ConsumerOut},
)
def change_assistant(call: Call[ActiveIn, NoQuery]) -> Answer:
    """Switch an assistant off or on."""
    return _set_active(call, "assistant", call.ids["assistant_id"])


@assistants.route(
    "DELETE",
    "/v1/assistants/{assistant_id}",
    action="knowledge.consumers.write",
    access="write",
    answers={200: Removed},
)
def remove_assistant(call: Call[Nothing, NoQuery]) -> Answer:
    """Remove an assistant and its token."""
    return _delete(call, "assistant", call.ids["assistant_id"])


@assistants.route(
    "POST",
    "/v1/assistants/{assistant_id}/capabilities/{capability}",
    action="knowledge.capabilities.write",
    access="write",
    answers={200: ConsumerOut},
)
def grant_capability(call: Call[Nothing, NoQuery]) -> Answer:
    """Grant ``knowledge:read_public`` to an assistant; nothing else can be granted."""
    return _set_capability(call, granted=True)


@assistants.route(
    "DELETE",
    "/v1/assistants/{assistant_id}/capabilities/{capability}",
    action="knowledge.capabilities.write",
    access="write",
    answers={200: ConsumerOut},
)
def revoke_capability(call: Call[Nothing, NoQuery]) -> Answer:
    """Take a capability from an assistant."""
    return _set_capability(call, granted=False)


@assistants.route("GET", "/v1/widgets", action="knowledge.consumers.read", access="write", answers={200: ConsumerList})
def list_widgets(call: Call[Nothing, NoQuery]) -> Answer:
    """List the widgets and the pages that may embed them."""
    return _list(call, "widget")


@assistants.route(
    "POST",
    "/v1/widgets",
    action="knowledge.consumers.write",
    access="write",
    body=WidgetIn,
    answers={201: ConsumerWithToken},
)
def add_widget(call: Call[WidgetIn, NoQuery]) -> Answer:
    """Make a widget and its token, which is public: it stands in the pages that embed it."""
    return _create(call, "widget", call.body.origins)


@assistants.route(
    "PATCH",
    "/v1/widgets/{widget_id}",
    action="knowledge.consumers.write",
    access="write",
    body=ActiveIn,
    answers={200: ConsumerOut},
)
def change_widget(call: Call[ActiveIn, NoQuery]) -> Answer:
    """Switch a widget off or on."""
    return _set_active(call, "widget", call.ids["widget_id"])


@assistants.route(
    "DELETE", "/v1/widgets/{widget_id}", action="knowledge.consumers.write", access="write", answers={200: Removed}
)
def remove_widget(call: Call[Nothing, NoQuery]) -> Answer:
    """Remove a widget and its token."""
    return _delete(call, "widget", call.ids["widget_id"])


def _list(call: Call[Nothing, NoQuery], kind: Kind) -> Answer:
    found = service.show_all(call.outside, call.who, kind)
    return Answer(ConsumerList(items=[ConsumerOut.model_validate(one) for one in found]))


def _create(call: Call[ConsumerIn, NoQuery] | Call[WidgetIn, NoQuery], kind: Kind, origins: list[str]) -> Answer:
    made, token, allowance = service.create(call.outside, call.who, kind, call.body.name, origins, call.now)
    shown = ConsumerOut.model_validate(made).model_dump()
    return Answer(ConsumerWithToken(**shown, token=token), 201, allowance.headers())


def _set_active(call: Call[ActiveIn, NoQuery], kind: Kind, ident: UUID) -> Answer:
    return _changed(service.set_active(call.outside, call.who, kind, ident, call.body.active, call.now))


def _set_capability(call: Call[Nothing, NoQuery], *, granted: bool) -> Answer:
    ident, capability = call.ids["assistant_id"], unquote(call.words["capability"])
    changed = service.set_capability(call.outside, call.who, ident, capability, granted=granted, now=call.now)
    return _changed(changed)


def _changed(changed: tuple[Consumer, Allowance]) -> Answer:
    return Answer(ConsumerOut.model_validate(changed[0]), 200, changed[1].headers())


def _delete(call: Call[Nothing, NoQuery], kind: Kind, ident: UUID) -> Answer:
    allowance = service.delete(call.outside, call.who, kind, ident, call.now)
    return Answer(Removed(id=ident), 200, allowance.headers())
