"""Answers against the OpenAPI document, and requests made from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from uuid import uuid4

from chalicelib.api import resources
from chalicelib.api.openapi import document
from chalicelib.api.resource import Nothing, Route
from tests.api.json_schema import REFERENCE, Schema, faults
from tests.tenants import Answer

PROBLEM = "application/problem+json"

_BODIES: Mapping[str, Any] = {
    "BulkIn": {"all": True},
    "DocumentIn": {"text": "The kettle whistles at noon, every day of the week, and at four for tea."},
}
"""Bodies that keep a rule which JSON Schema does not tell."""

_VALUES: Mapping[str, Any] = {
    "uri": "https://example.com/sample",
    "query": "sample",
    "mode": "advisory",
    "base_url": "https://kb.example.com/{registration}",
    "origins": ["https://www.example.com"],
    "text": "The kettle whistles at four.",
}
"""Values of fields whose rule JSON Schema does not tell."""


WORDS = {"capability": "knowledge:read_public"}
"""Parts of a path that are no ids."""


@cache
def openapi() -> dict[str, Any]:
    """The document, as it is served."""
    return document(resources())


def routes() -> list[Route]:
    """Every route, from the registry: a new one can't be forgotten."""
    return [route for resource in resources() for route in resource.routes]


def tenant_routes() -> list[Route]:
    """The routes for API tokens, with or without an admin token."""
    return [route for route in routes() if route.access in ("read", "write")]


NO_CHANGE = ("/v1/knowledge/providers/{provider_id}/test", "/v1/memory/consolidation")
"""Posted, and they change nothing here: a trial, and a look for near-duplicates where every pair was asked about."""


def mutates(route: Route) -> bool:
    """Whether it changes anything. An admin token may be asked for a read too."""
    return route.access == "write" and route.method != "GET" and route.path not in NO_CHANGE


def ids_in(route: Route) -> list[str]:
    """The names of the ids that its path asks for."""
    return re.findall(r"{(\w+_id)}", route.path)


def title(route: Route) -> str:
    return f"{route.method} {route.path}"


def assert_documented(method: str, path: str, answer: Answer) -> None:
    """The status is documented and the body is what the document says; a refusal is problem+json and tells its code."""
    operation = _operation(method, path)
    kind = answer.headers.get("content-type", "application/json").partition(";")[0]
    if answer.status >= 400:
        assert kind == PROBLEM, answer
        assert answer.json["status"] == answer.status, answer
        assert answer.json["type"].endswith(answer.json["code"]), answer
        content = operation["responses"]["default"]["content"] if operation else {PROBLEM: {"schema": _problem()}}
    else:
        assert operation is not None, f"{method} {path} is not documented"
        assert str(answer.status) in operation["responses"], f"{method} {path}: {answer.status} is not documented"
        content = operation["responses"][str(answer.status)]["content"]
    assert kind in content, f"{method} {path}: {kind} is not documented"
    found = list(faults(answer.json, content[kind]["schema"], openapi()["components"]["schemas"]))
    assert not found, f"{method} {path}: {found}"


def body_for(route: Route) -> Any:
    """A body that the document calls right: required fields alone; None where the route takes none."""
    return None if route.body is Nothing else example({"$ref": REFERENCE + route.body.__name__})


def query_for(route: Route) -> str:
    """The required query parameters."""
    parameters = openapi()["paths"][route.path][route.method.lower()]["parameters"]
    given = [
        f"{p['name']}={example(p['schema'], p['name'])}" for p in parameters if p["in"] == "query" and p["required"]
    ]
    return f"?{'&'.join(given)}" if given else ""


def example(schema: Schema, name: str = "") -> Any:
    """A value that fits ``schema``, as small as may be."""
    if "$ref" in schema:
        model = schema["$ref"].removeprefix(REFERENCE)
        return _BODIES.get(model) or example(openapi()["components"]["schemas"][model])
    if name in _VALUES:
        return _VALUES[name]
    if "anyOf" in schema:
        return example(schema["anyOf"][0], name)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "object":
            properties = schema.get("properties", {})
            return {required: example(properties[required], required) for required in schema.get("required", [])}
        case "array":
            return [example(schema["items"], name) for _ in range(schema.get("minItems", 0))]
        case "integer":
            return schema.get("minimum", 1)
        case "boolean":
            return True
    return {"uuid": str(uuid4()), "date-time": "2026-01-02T03:04:05Z"}.get(
        schema.get("format", ""), "x" * schema.get("minLength", 1)
    )


def _operation(method: str, path: str) -> dict[str, Any] | None:
    for template, operations in openapi()["paths"].items():
        if method.lower() in operations and re.fullmatch(re.sub(r"{\w+}", "[^/]+", template), path.partition("?")[0]):
            # A fixed path goes before one with a parameter, as in API Gateway.
            if "{" in template and path.partition("?")[0] in openapi()["paths"]:
                continue
            operation: dict[str, Any] = operations[method.lower()]
            return operation
    return None


def _problem() -> Schema:
    return {"$ref": REFERENCE + "Problem"}
