"""Errors as ``application/problem+json`` (RFC 9457): our own, and the framework's."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import psycopg
from chalice.app import Response
from pydantic import ValidationError

from chalicelib.errors import Invalid, Problem, Unavailable
from chalicelib.keys import KeysUnusable
from chalicelib.telemetry import log_unexpected

CONTENT_TYPE = "application/problem+json"
MAX_ERRORS = 20  # findings that one answer lists: a request of nothing but faults gets no answer larger than itself

_RULES = {
    "missing": "must be given",
    "extra_forbidden": "must be left out: this request has no such field",
    "string_type": "must be text",
    "string_too_short": "must have {min_length} or more characters",
    "string_too_long": "must have at most {max_length} characters",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "bool_type": "must be true or false",
    "literal_error": "must be {expected}",
    "list_type": "must be a list",
    "too_short": "must have {min_length} or more items",
    "too_long": "must have at most {max_length} items",
    "dict_type": "must be an object",
    "model_type": "must be an object",
}

# What the framework answers by itself, before or instead of a route of ours.
_FRAMEWORK_CODES = {
    "MethodNotAllowedError": "method_not_allowed",
    "UnsupportedMediaType": "unsupported_media_type",
    "NotFoundError": "not_found",
    "ForbiddenError": "forbidden",
    "UnauthorizedError": "unauthorized",
    "BadRequestError": "invalid_request",
    "BadRequest": "invalid_request",
}


def response_of(error: Exception) -> Response:
    """The answer to ``error``."""
    problem = told(error)
    return Response(
        body=json.dumps(document(problem)),
        status_code=problem.status,
        headers={"Content-Type": CONTENT_TYPE, **problem.headers},
    )


def told(error: Exception) -> Problem:
    """What the caller is told of ``error``. What is no Problem is logged, and told as a bare 500 or 503."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, psycopg.OperationalError):
        log_unexpected("the database did not serve", error)
        return Unavailable("the database did not answer in time", headers={"Retry-After": "1"})
    if isinstance(error, KeysUnusable):
        log_unexpected("no keys to sign with", error)
        return Unavailable("the service has no keys to sign with")
    log_unexpected("unexpected error", error)
    return Problem("something went wrong on our side")


def document(problem: Problem) -> dict[str, Any]:
    """The problem's members; ``code`` and the extensions are ours."""
    return {
        "type": f"urn:larder:problem:{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code,
        **problem.extra,
    }


def invalid(error: ValidationError) -> Invalid:
    """Pydantic's findings as one Problem: the first field and its rule, and the first of them all in ``errors``."""
    found = [
        {"field": ".".join(str(part) for part in item["loc"]) or "body", "rule": _rule(item)}
        for item in error.errors(include_input=False, include_url=False)[:MAX_ERRORS]
    ]
    first = found[0]
    return Invalid(f"{first['field']}: {first['rule']}", field=first["field"], rule=first["rule"], errors=found)


def _rule(item: Any) -> str:
    """The rule that was broken, in our words; a field type of our own says its rule itself."""
    rule = _RULES.get(item["type"])
    return rule.format(**item.get("ctx", {})) if rule else str(item["msg"]).removeprefix("Value error, ")


def of_framework(answer: dict[str, Any]) -> dict[str, Any]:
    """Rewrite an error that Chalice answered by itself; leave everything else, an error page too, as it is."""
    found = _framework_error(answer)
    if found is None:
        return answer
    status = HTTPStatus(answer["statusCode"])
    problem = Problem(found["Message"] or status.phrase, code=_FRAMEWORK_CODES.get(found["Code"]))
    problem.status, problem.title = status.value, status.phrase
    kept = {name: value for name, value in answer["headers"].items() if name.lower() != "content-type"}
    return {**answer, "headers": {**kept, "Content-Type": CONTENT_TYPE}, "body": json.dumps(document(problem))}


def _framework_error(answer: dict[str, Any]) -> dict[str, str] | None:
    """Chalice's ``Code`` and ``Message``, if that is what the answer says."""
    if answer["statusCode"] < 400:
        return None
    try:
        body = json.loads(answer["body"])
    except (TypeError, ValueError):
        return None
    return body if isinstance(body, dict) and body.keys() == {"Code", "Message"} else None
