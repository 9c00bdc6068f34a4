"""What API Gateway itself answers, as problem+json (RFC 9457), so that a client meets one kind of error.

A request for an unknown path, one that is too large or one that is throttled never reaches the function.
A template can't name the status that goes out, so each response type states its own.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class GatewayProblem(NamedTuple):
    """One answer of the gateway: the status it sends and the code that a client reads."""

    status: int
    code: str
    title: str
    detail: str


_BAD_REQUEST = GatewayProblem(400, "invalid_request", "Bad request", "The request can't be read.")
_UNAUTHORIZED = GatewayProblem(401, "unauthorized", "Unauthorized", "No valid credentials.")
_FORBIDDEN = GatewayProblem(403, "forbidden", "Forbidden", "This request is not allowed.")
# API Gateway calls a path or method that it doesn't know a missing authentication token, with 403.
_NOT_FOUND = GatewayProblem(404, "not_found", "Not found", "No route has this path and method.")
_TOO_LARGE = GatewayProblem(413, "payload_too_large", "Payload too large", "The body is longer than the gateway takes.")
_MEDIA_TYPE = GatewayProblem(415, "unsupported_media_type", "Unsupported media type", "This content type is not read.")
_RATE_LIMITED = GatewayProblem(429, "rate_limited", "Too many requests", "Too many requests: try again later.")
_INTERNAL = GatewayProblem(500, "internal_error", "Internal error", "The request failed.")
_UNAVAILABLE = GatewayProblem(503, "unavailable", "Service unavailable", "The service did not answer.")
_TIMEOUT = GatewayProblem(504, "timeout", "Gateway timeout", "The service did not answer in time.")

PROBLEMS: dict[str, GatewayProblem] = {
    "DEFAULT_4XX": _BAD_REQUEST,
    "DEFAULT_5XX": _INTERNAL,
    "ACCESS_DENIED": _FORBIDDEN,
    "API_CONFIGURATION_ERROR": _INTERNAL,
    "BAD_REQUEST_BODY": _BAD_REQUEST,
    "BAD_REQUEST_PARAMETERS": _BAD_REQUEST,
    "EXPIRED_TOKEN": _FORBIDDEN,
    "INTEGRATION_FAILURE": _UNAVAILABLE,
    "INTEGRATION_TIMEOUT": _TIMEOUT,
    "INVALID_API_KEY": _FORBIDDEN,
    "INVALID_SIGNATURE": _FORBIDDEN,
    "MISSING_AUTHENTICATION_TOKEN": _NOT_FOUND,
    "QUOTA_EXCEEDED": _RATE_LIMITED,
    "REQUEST_TOO_LARGE": _TOO_LARGE,
    "RESOURCE_NOT_FOUND": _NOT_FOUND,
    "THROTTLED": _RATE_LIMITED,
    "UNAUTHORIZED": _UNAUTHORIZED,
    "UNSUPPORTED_MEDIA_TYPE": _MEDIA_TYPE,
    "WAF_FILTERED": _FORBIDDEN,
}

_CONTENT_TYPE = {"gatewayresponse.header.Content-Type": "'application/problem+json'"}


def template() -> dict[str, Any]:
    """The part of the deployment template that sets these answers.

    On AWS they stand in the API's own document, so that its deployment holds them from the first request on. The
    emulator skips that part of the document; it gets them as resources of their own, which exist there alone.
    """
    return {
        "Resources": {
            "RestAPI": {
                "Properties": {
                    "DefinitionBody": {
                        "x-amazon-apigateway-gateway-responses": {
                            kind: {
                                "statusCode": str(problem.status),
                                "responseParameters": _CONTENT_TYPE,
                                "responseTemplates": {"application/json": _body(problem)},
                            }
                            for kind, problem in PROBLEMS.items()
                        }
                    }
                }
            },
            **{_logical_id(kind): _resource(kind, problem) for kind, problem in PROBLEMS.items()},
        }
    }


def _resource(kind: str, problem: GatewayProblem) -> dict[str, Any]:
    return {
        "Type": "AWS::ApiGateway::GatewayResponse",
        "Condition": "IsEmulated",
        "Properties": {
            "RestApiId": {"Ref": "RestAPI"},
            "ResponseType": kind,
            "StatusCode": str(problem.status),
            "ResponseParameters": _CONTENT_TYPE,
            "ResponseTemplates": {"application/json": _body(problem)},
        },
    }


def _logical_id(kind: str) -> str:
    return "GatewayResponse" + "".join(word.capitalize() for word in kind.split("_"))


def _body(problem: GatewayProblem) -> str:
    return json.dumps(
        {
            "type": "about:blank",
            "title": problem.title,
            "status": problem.status,
            "detail": problem.detail,
            "code": problem.code,
        }
    )
