"""Pages: the API's routes, actions and checks, for somebody who has signed in and reads HTML.

Who asks is told by a session; every form carries its session's token and must come from a page of ours; whatever goes
wrong is a page too, with the status that the API would have given.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic

from chalice.app import Response
from pydantic import model_validator

from chalicelib import bootstrap
from chalicelib.api import problem
from chalicelib.api.resource import Answer, BodyT, Call, Query, QueryT, Resource, Route, check, require_enabled
from chalicelib.errors import Forbidden, Problem, Unauthorized
from chalicelib.services import tokens
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.ui import form, origin, session
from chalicelib.ui.render import render
from chalicelib.ui.session import Session

HTML = "text/html; charset=utf-8"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""On every answer, beside the ``no-store`` that every answer of ours has."""


class PageQuery(Query):
    """Query parameters as a form sends them: one that was left blank was not given."""

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: dict[str, str]) -> dict[str, str]:
        return {name: value for name, value in given.items() if value.strip()}


@dataclass(frozen=True, slots=True)
class Visit(Generic[BodyT, QueryT]):
    """One request for a page. ``root`` leads from the page to ``/ui/``, wherever a gateway has put that.

    ``secure``: whether a cookie must be.
    """

    call: Call[BodyT, QueryT]
    session: Session | None
    root: str
    secure: bool


def pages(name: str) -> Resource:
    """A resource whose routes answer with pages."""
    return Resource(name, _serve)


def page(
    visit: Visit[Any, Any], template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **shown: Any
) -> Answer:
    """A page made of a template and what it shows."""
    text = render(template, root=visit.root, session=visit.session, **shown)
    return Answer(text, status, {**(headers or {}), "Content-Type": HTML})


def go_to(visit: Visit[Any, Any], place: str, cookie: str | None = None) -> Answer:
    """Send the browser on to a page below ``/ui/`` (RFC 9110, 15.4.4), so that a reload sends no form again."""
    more = {} if cookie is None else {"Set-Cookie": cookie}
    return Answer("", 303, {"Content-Type": HTML, "Location": f"{visit.root}{place}", **more})


def _serve(route: Route, request: Any, path: Mapping[str, str], correlation_id: str) -> Response:
    whose: Session | None = None
    root = "../" * (route.path.count("/") - 2 + str(request.context.get("path", "")).endswith("/"))
    try:
        outside, now = bootstrap.outside(), datetime.now(UTC)
        whose = session.opened(outside.keys, request.headers.get("cookie", ""), now)
        who = _principal(outside, route, whose)
        body = _form(route, request, whose)
        require_enabled(outside, route, who)
        call = check(route, request, path, correlation_id, outside=outside, who=who, now=now, body=body)
        with outside.tracer.span(f"{route.method} {route.path}"):
            answer = route.handler(Visit(call, whose, root, origin.is_secure(request.headers)))
        response = Response(body=answer.body, status_code=answer.status, headers=dict(answer.headers))
    except Exception as error:
        response = _refusal(problem.told(error), whose, root)
    response.headers |= HEADERS
    return response


def _principal(outside: Outside, route: Route, whose: Session | None) -> Principal | None:
    if route.access == "open":
        return None
    if whose is None or whose.signed_in is None:
        raise Unauthorized("nobody is signed in here, or the session is over")
    return tokens.resume(outside.database, whose.signed_in.token_id, whose.signed_in.admin_token_id)


def _form(route: Route, request: Any, whose: Session | None) -> dict[str, Any]:
    """The form's fields. Raises Forbidden for one that was not sent from a page of this very session."""
    if route.method != "POST":
        return {}
    if not origin.is_own(request.headers):
        raise Forbidden("the form was not sent from a page of this site", code="foreign_form")
    raw, kind = request.raw_body or b"", request.headers.get("content-type", "")
    fields = form.read(raw, kind, limit=route.body_limit, lists=form.lists_of(route.body))
    given = str(fields.pop("csrf", ""))
    if whose is None or not hmac.compare_digest(given.encode(), whose.csrf.encode()):
        raise Forbidden("the form is of another session, or its page was open for too long", code="stale_form")
    return fields


def _refusal(refused: Problem, whose: Session | None, root: str) -> Response:
    text = render("problem.html", root=root, session=whose, problem=refused)
    return Response(body=text, status_code=refused.status, headers={**refused.headers, "Content-Type": HTML})
