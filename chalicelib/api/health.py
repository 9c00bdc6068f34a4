"""``/livez``, ``/readyz``, ``/healthz`` and ``/v1/openapi.json``: open to everybody."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from chalicelib.api.openapi import document
from chalicelib.api.resource import Answer, Call, NoQuery, Nothing, Output, Resource
from chalicelib.errors import Unavailable
from chalicelib.services import readiness

health = Resource("health")


class HealthOut(Output):
    """The service answers."""

    status: str


class ReadyCheckOut(Output):
    """One thing that must be in order."""

    name: str
    status: Literal["ok", "failing"]


class ReadyOut(Output):
    """Everything that must be in order is."""

    status: str
    checks: list[ReadyCheckOut]


@health.route("GET", "/livez", action="health.read", access="open", answers={200: HealthOut})
def livez(_: Call[Nothing, NoQuery]) -> Answer:
    """Say that the service runs; nothing else is asked for it."""
    return Answer(HealthOut(status="ok"))


@health.route("GET", "/readyz", action="health.read", access="open", answers={200: ReadyOut})
def readyz(call: Call[Nothing, NoQuery]) -> Answer:
    """Say whether database, schema, queue and schedule are in order: 200, or 503 with the same list of checks."""
    found = readiness.examine(call.outside, call.now)
    checks = [ReadyCheckOut(name=name, status="ok" if ok else "failing") for name, ok in found.items()]
    if not all(found.values()):
        listed = [check.model_dump() for check in checks]
        raise Unavailable("the service is not ready", code="not_ready", checks=listed)
    return Answer(ReadyOut(status="ok", checks=checks))


@health.route("GET", "/healthz", action="health.read", access="open", answers={200: HealthOut})
def healthz(call: Call[Nothing, NoQuery]) -> Answer:
    """Say whether the service and its database answer."""
    with call.outside.database.transaction():
        pass
    return Answer(HealthOut(status="ok"))


@health.route("GET", "/v1/openapi.json", action="openapi.read", access="open", answers={200: None})
def openapi(_: Call[Nothing, NoQuery]) -> Answer:
    """Show this document."""
    return Answer(_document())


@cache
def _document() -> dict[str, Any]:
    """Made once: it takes longer than any other answer, and anybody may ask for it."""
    from chalicelib.api import resources

    return document(resources())
