"""``/v1/provider/{registration}``: Larder's own knowledge base behind the contract (spec 3.6)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

import psycopg
from chalice.app import Response

from chalicelib import bootstrap
from chalicelib.api.problem import CONTENT_TYPE
from chalicelib.api.resource import Answer, Resource, Route
from chalicelib.knowledge import contract
from chalicelib.knowledge.verification import Refusal
from chalicelib.services import own_provider as service
from chalicelib.services.outside import Outside
from chalicelib.telemetry import log_unexpected


@dataclass(frozen=True, slots=True, repr=False)
class Signed:
    """A broker's request as it came; header names are lower-case."""

    outside: Outside
    registration: UUID
    headers: Mapping[str, str]
    body: bytes
    correlation_id: str
    now: datetime


def _signed(route: Route, request: Any, path: Mapping[str, str], correlation_id: str) -> Response:
    """Serve a broker, in the contract's own words. What it sent is logged nowhere."""
    outside, now = bootstrap.outside(), datetime.now(UTC)
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        ident = _registration(path["registration"])
        asked: Any = Signed(outside, ident, headers, request.raw_body or b"", correlation_id, now)
        answer = route.handler(asked)
    except Refusal as refusal:
        return _problem(refusal)
    except psycopg.Error as error:
        log_unexpected("the database did not serve", error)
        return _problem(Refusal(503, "unavailable", "the database did not answer in time"))
    return Response(body=json.dumps(answer.body, ensure_ascii=False), headers={"Content-Type": contract.CONTENT_TYPE})


def _registration(text: str) -> UUID:
    """The id, as it stands in the address that the registration has; Python would read four more spellings of it."""
    with suppress(ValueError):
        if str(ident := UUID(text)) == text:
            return ident
    raise Refusal(401, "unauthorized", "no such registration")


def _problem(refusal: Refusal) -> Response:
    document = {
        "type": f"urn:larder:problem:{refusal.code}",
        "title": HTTPStatus(refusal.status).phrase,
        "status": refusal.status,
        "detail": str(refusal),
        "code": refusal.code,
    }
    return Response(body=json.dumps(document), status_code=refusal.status, headers={"Content-Type": CONTENT_TYPE})


own_provider = Resource("own_provider", _signed)


@own_provider.route(
    "POST",
    "/v1/provider/{registration}/retrieve",
    action="knowledge.own.retrieve",
    access="signed",
    body=contract.RetrieveRequest,
    answers={200: contract.RetrieveResponse},
)
def retrieve_knowledge(asked: Signed) -> Answer:
    """Answer a broker's signed question from this knowledge base."""
    answer = service.retrieve(
        asked.outside, asked.registration, asked.headers, asked.body, asked.correlation_id, asked.now
    )
    return Answer(answer)


@own_provider.route(
    "GET",
    "/v1/provider/{registration}/capabilities",
    action="knowledge.own.capabilities",
    access="unsigned",
    answers={200: contract.Capabilities},
)
def show_capabilities(asked: Signed) -> Answer:
    """Say what this provider declares that it can do."""
    return Answer(service.capabilities(asked.outside, asked.registration))
