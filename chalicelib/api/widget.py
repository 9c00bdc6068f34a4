"""``/v1/widget/search``: for a public page (spec 3.5). Nothing that this module imports can name what is not for one.

Every refusal is the same: a page that is asked about learns nothing from being refused. No cookie is set or read.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, cast

from chalice.app import Response
from pydantic import AfterValidator, Field, WithJsonSchema

from chalicelib import bootstrap
from chalicelib.api import fields, problem
from chalicelib.api.resource import Answer, Call, Input, NoQuery, Nothing, Output, Resource, Route, bearer_of, respond
from chalicelib.domain.locale_match import is_tag
from chalicelib.errors import Problem
from chalicelib.knowledge.broker import Question
from chalicelib.knowledge.contract import DEFAULT_LIMIT
from chalicelib.services import widget as service
from chalicelib.services.consumers import Consumer
from chalicelib.services.widget import Refused

MOST_RESULTS = 10


def _tag(text: str) -> str:
    if not is_tag(text):
        raise ValueError("must be a BCP 47 language tag, such as de-DE")
    return text


class WidgetSearchIn(Input):
    """What a visitor asks."""

    query: fields.AnyQuery
    limit: Annotated[int, Field(ge=1, le=MOST_RESULTS)] = DEFAULT_LIMIT
    locale: Annotated[str, AfterValidator(_tag), WithJsonSchema({"type": "string"})] | None = None
    localeFallback: bool | None = None


class WidgetResult(Output):
    """All that a customer sees of a result; title and snippet are text, to be shown escaped."""

    title: str
    snippet: str
    url: str | None
    locale: str | None
    localeFallback: bool


class WidgetOut(Output):
    """What was found, and nothing else."""

    results: list[WidgetResult]


class Preflight(Output):
    """A preflight is answered by its headers."""


def _from_page(route: Route, request: Any, path: Mapping[str, str], correlation_id: str) -> Response:
    """Let a page in, or refuse it. Whatever comes of it, the headers for the page depend on its origin alone."""
    now = datetime.now(UTC)
    outside = bootstrap.outside()
    origin = request.headers.get("origin")
    allowed: dict[str, str] = {}
    try:
        if not service.knows_origin(outside, origin):
            raise Refused("refused")
        allowed = _for_page(origin)
        widget = None
        if route.method != "OPTIONS":
            address = str((request.context.get("identity") or {}).get("sourceIp") or "")
            widget = service.admit(outside, bearer_of(request.headers), origin, address, now)
        response = respond(route, request, path, correlation_id, outside=outside, who=widget, now=now)
    except Problem as refusal:
        response = problem.response_of(refusal if refusal.status >= 500 else Refused("refused"))
    except Exception as error:
        response = problem.response_of(error)
    response.headers |= {"Vary": "Origin", **allowed}
    return response


def _for_page(origin: str) -> dict[str, str]:
    """CORS for one origin, without credentials: a cookie would never be sent."""
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "Authorization, Content-Type",
        "Access-Control-Max-Age": "600",
    }


widget = Resource("widget", _from_page)


@widget.route(
    "OPTIONS", "/v1/widget/search", action="knowledge.widget.preflight", access="unsigned", answers={200: Preflight}
)
def preflight_widget(call: Call[Nothing, NoQuery]) -> Answer:
    """Tell a browser whether a page of its origin may ask."""
    return Answer(Preflight())


@widget.route(
    "POST",
    "/v1/widget/search",
    action="knowledge.widget.search",
    access="widget",
    body=WidgetSearchIn,
    answers={200: WidgetOut},
)
def search_widget(call: Call[WidgetSearchIn, NoQuery]) -> Answer:
    """Ask the providers that were registered for customers, on behalf of a visitor of a page."""
    body = call.body
    question = Question(body.query, body.limit, body.locale, body.localeFallback)
    results = service.search(call.outside, cast(Consumer, call.who), question, _clock)
    return Answer(WidgetOut.model_validate({"results": results}))


def _clock() -> datetime:
    return datetime.now(UTC)
