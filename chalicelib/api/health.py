"""``/healthz`` and ``/v1/openapi.json``: open to everybody."""

from __future__ import annotations

from chalicelib.api.openapi import document
from chalicelib.api.resource import Answer, Call, NoQuery, Nothing, Output, Resource

health = Resource("health")


class HealthOut(Output):
    """Alive, and the database answers."""

    status: str


@health.route("GET", "/healthz", action="health.read", access="open", answers={200: HealthOut})
def healthz(call: Call[Nothing, NoQuery]) -> Answer:
    """Say whether the service and its database answer."""
    with call.outside.database.transaction():
        pass
    return Answer(HealthOut(status="ok"))


@health.route("GET", "/v1/openapi.json", action="openapi.read", access="open", answers={200: None})
def openapi(_: Call[Nothing, NoQuery]) -> Answer:
    """Show this document."""
    from chalicelib.api import resources

    return Answer(document(resources()))
