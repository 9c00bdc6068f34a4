"""A Chalice Blueprint whose every route names its action, who may take it, and what it reads and answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeVar, cast
from uuid import UUID

from chalice.app import Blueprint, Response
from pydantic import BaseModel, ConfigDict, ValidationError

from chalicelib import bootstrap
from chalicelib.api import problem, request_body
from chalicelib.domain.answer_room import MAX_ANSWER, carries
from chalicelib.errors import AnswerTooLarge, Conflict, Invalid, Problem, RateLimited
from chalicelib.metrics import RATE_LIMITED
from chalicelib.services import quotas, tokens
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.telemetry import logger

Access = Literal["open", "read", "write", "consumer", "widget", "signed", "unsigned"]
"""Who may call: anybody, an API token, an API token with an admin token of the same tenant; an agent or assistant, a
widget, a broker with its registration's secret, whoever asks in these last two's place without any (spec 3)."""

Content = type[BaseModel] | str | None
"""What an answer holds: a model, a text of this media type, or (None) any JSON object."""

BODY_LIMIT = 256 * 1024  # bytes; a route that takes documents says more


class Input(BaseModel):
    """What callers send: unknown fields and wrong types are refused, nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Query(BaseModel):
    """Query parameters: all text, so numbers and times are read from it; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid")


class Nothing(Input):
    """A request without a body."""


class NoQuery(Query):
    """A request without query parameters."""


class Output(BaseModel):
    """What callers get, read off the services' dataclasses."""

    model_config = ConfigDict(from_attributes=True)


BodyT = TypeVar("BodyT", bound=Input)
QueryT = TypeVar("QueryT", bound=Query)


@dataclass(frozen=True, slots=True)
class Call(Generic[BodyT, QueryT]):
    """One request, checked: who asks, when, what for. ``ids`` are the UUIDs of the path, ``words`` its other parts."""

    outside: Outside
    who: Principal
    now: datetime
    correlation_id: str
    ids: Mapping[str, UUID]
    body: BodyT
    query: QueryT
    if_match: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: a model or JSON value, or text whose type a header names; a status, more headers."""

    body: BaseModel | dict[str, Any] | str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[Any], Answer]
Serve = Callable[["Route", Any, Mapping[str, str], str], Response]
"""(route, framework's request, parts of the path, correlation id) → response; it may raise anything."""


@dataclass(frozen=True, slots=True)
class Route:
    """A route as it is documented; the OpenAPI document is made of these."""

    method: str
    path: str
    action: str
    access: Access
    summary: str
    body: type[BaseModel]
    query: type[Query]
    answers: Mapping[int, Content]
    while_disabled: bool
    body_limit: int
    handler: Handler


class Resource:
    """Routes of one noun. ``blueprint`` is registered with the app; ``routes`` document themselves.

    ``serve`` stands for those who come with something else than the API's own tokens.
    """

    def __init__(self, name: str, serve: Serve | None = None) -> None:
        self.name = name
        self._serve = serve or _serve
        self.blueprint = Blueprint(f"chalicelib.api.{name}")
        self.routes: list[Route] = []

    def route(
        self,
        method: str,
        path: str,
        *,
        action: str,
        access: Access,
        answers: Mapping[int, Content],
        body: type[BaseModel] = Nothing,
        query: type[Query] = NoQuery,
        while_disabled: bool = False,
        body_limit: int = BODY_LIMIT,
    ) -> Callable[[Handler], Handler]:
        """Register a handler. ``action`` names the permission; ``while_disabled`` routes answer while KB is off."""

        def register(handler: Handler) -> Handler:
            summary = (handler.__doc__ or "").strip().split("\n")[0]
            route = Route(
                method, path, action, access, summary, body, query, answers, while_disabled, body_limit, handler
            )
            self.routes.append(route)
            decorate = self.blueprint.route(path, methods=[method], content_types=[], name=handler.__name__)
            decorate(self._view(route))
            return handler

        return register

    def _view(self, route: Route) -> Callable[..., Response]:
        def view(**path: str) -> Response:
            request = self.blueprint.current_request
            correlation_id = str(request.context.get("requestId") or "")
            logger.set_correlation_id(correlation_id)
            try:
                response = self._serve(route, request, path, correlation_id)
            except Exception as error:
                response = problem.response_of(error)
            response.headers |= {"Cache-Control": "private, no-store", "X-Correlation-Id": correlation_id}
            logger.info("served", method=route.method, route=route.path, status=response.status_code)
            if response.status_code == RateLimited.status:
                bootstrap.outside().meter.emit(RATE_LIMITED.of(1, "mutations"))
            return response

        view.__name__ = route.handler.__name__
        return view


def _serve(route: Route, request: Any, path: Mapping[str, str], correlation_id: str) -> Response:
    now = datetime.now(UTC)
    outside = bootstrap.outside()
    who = _principal(outside, route, request.headers)
    try:
        require_enabled(outside, route, who)
        return respond(route, request, path, correlation_id, outside=outside, who=who, now=now)
    except Problem as refusal:
        if who is not None and mutates(route) and refusal.status < 500:
            refusal.headers = {**quotas.standing(outside, who, now).headers(), **refusal.headers}
        raise


def mutates(route: Route) -> bool:
    """Whether it changes anything, and so counts against the limit. An admin token may be asked for a read too."""
    return route.access == "write" and route.method != "GET"


def require_enabled(outside: Outside, route: Route, who: Principal | None) -> None:
    """Raises Conflict ``kb_disabled`` where the knowledge base is off for the caller, and the route with it."""
    if who is not None and not route.while_disabled and not (outside.settings.enable_kb and who.tenant_enabled):
        raise Conflict("the knowledge base is switched off", code="kb_disabled")


def respond(
    route: Route,
    request: Any,
    path: Mapping[str, str],
    correlation_id: str,
    *,
    outside: Outside,
    who: Any,
    now: datetime,
) -> Response:
    """Check the request, hand it to the route's handler, and send what it answers. ``who`` has been let in."""
    call = check(route, request, path, correlation_id, outside=outside, who=who, now=now, body=_body(route, request))
    with outside.tracer.span(f"{route.method} {route.path}"):
        answer = route.handler(call)
    if not isinstance(answer.body, BaseModel):
        return Response(body=answer.body, status_code=answer.status, headers=dict(answer.headers))
    headers: dict[str, Any] = {"Content-Type": "application/json", **answer.headers}
    return Response(body=encoded(answer.body), status_code=answer.status, headers=headers)


def encoded(body: BaseModel) -> str:
    """The JSON text, in UTF-8 as it is: escapes would make Cyrillic three times as long.

    Raises AnswerTooLarge where Lambda would not carry it.
    """
    text = body.model_dump_json()
    if not carries(text):
        raise AnswerTooLarge(f"the answer has more than {MAX_ANSWER} bytes", limit=MAX_ANSWER)
    return text


def check(
    route: Route,
    request: Any,
    path: Mapping[str, str],
    correlation_id: str,
    *,
    outside: Outside,
    who: Any,
    now: datetime,
    body: Any,
) -> Call[Any, Any]:
    """The request as its handler gets it. Raises Invalid for the first id, field or parameter that breaks a rule."""
    if isinstance(who, Principal):
        who = replace(who, correlation_id=correlation_id or None)
    return Call(
        outside=outside,
        who=cast(Principal, who),
        now=now,
        correlation_id=correlation_id,
        ids={name: _uuid(name, path[name]) for name in re.findall(r"{(\w+_id)}", route.path)},
        body=_checked(route.body, body),
        query=_checked(route.query, _parameters(request)),
        if_match=request.headers.get("if-match"),
        words={name: path[name] for name in re.findall(r"{(\w+)}", route.path) if not name.endswith("_id")},
    )


def _principal(outside: Outside, route: Route, headers: Mapping[str, str]) -> Principal | None:
    if route.access == "open":
        return None
    admin = headers.get("x-admin-token")
    return tokens.authenticate(outside.database, bearer_of(headers), admin, admin_needed=route.access == "write")


def bearer_of(headers: Mapping[str, str]) -> str | None:
    """The token of an Authorization header (RFC 6750), if that is what it holds."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" else None


def _body(route: Route, request: Any) -> Any:
    if route.method not in ("POST", "PUT", "PATCH"):
        return {}
    return request_body.read(request.raw_body or b"", limit=route.body_limit)


def _parameters(request: Any) -> dict[str, str]:
    """Query parameters, each given once."""
    given = request.query_params
    parameters: dict[str, str] = {}
    for name in given or {}:
        values = given.getlist(name)
        if len(values) != 1:
            raise Invalid(f"{name}: must be given once", field=name, rule="must be given once")
        parameters[name] = values[0]
    return parameters


def _checked(model: type[Any], value: Any) -> Any:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise problem.invalid(error) from error


def _uuid(name: str, text: str) -> UUID:
    if not re.fullmatch(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text):
        raise Invalid(f"{name}: must be a UUID", field=name, rule="must be a UUID")
    return UUID(text)
