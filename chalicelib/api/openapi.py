"""The OpenAPI 3.1 document, made of the routes' own models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from chalicelib.api.resource import Content, Nothing, Resource, Route

_REFERENCE = "#/components/schemas/{model}"
_SECURITY: dict[str, list[dict[str, list[str]]]] = {
    "open": [],
    "read": [{"apiToken": []}],
    "write": [{"apiToken": [], "adminToken": []}],
    "consumer": [{"consumerToken": []}],
    "widget": [{"widgetToken": []}],
    "signed": [{"signature": []}],
    "unsigned": [],
}


def document(resources: Sequence[Resource]) -> dict[str, Any]:
    """The document of all ``resources``."""
    routes = [route for resource in resources for route in resource.routes]
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Larder", "version": "1", "license": {"name": "MIT", "identifier": "MIT"}},
        "paths": paths,
        "components": {
            "schemas": {**_schemas(routes), "Problem": _PROBLEM},
            "securitySchemes": {
                "apiToken": {"type": "http", "scheme": "bearer"},
                "adminToken": {"type": "apiKey", "in": "header", "name": "X-Admin-Token"},
                "consumerToken": {"type": "http", "scheme": "bearer"},
                "widgetToken": {"type": "http", "scheme": "bearer"},
                "signature": {"type": "apiKey", "in": "header", "name": "X-Larder-Signature"},
            },
        },
    }


_PROBLEM = {
    "type": "object",
    "description": "RFC 9457; some codes add members.",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "field": {"type": "string", "description": "What the fault is in, for codes that are about a field"},
        "rule": {"type": "string", "description": "The rule that the field breaks"},
    },
    "additionalProperties": True,
}


def _schemas(routes: Sequence[Route]) -> dict[str, Any]:
    inputs = {route.body for route in routes if route.body is not Nothing}
    outputs = {model for route in routes for model in route.answers.values() if isinstance(model, type)}
    ordered = sorted(inputs | outputs, key=lambda model: model.__name__)
    models: list[Any] = [(model, "validation" if model in inputs else "serialization") for model in ordered]
    _, schema = models_json_schema(models, ref_template=_REFERENCE)
    definitions: dict[str, Any] = schema.get("$defs", {})
    return definitions


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": route.summary,
        "x-action": route.action,
        "security": _SECURITY[route.access],
        "parameters": [*_path_parameters(route), *_query_parameters(route)],
        "responses": {
            **{str(status): _answer(model) for status, model in route.answers.items()},
            "default": {
                "description": "A problem",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
            },
        },
    }
    if route.body is not Nothing:
        content = {"application/json": {"schema": _reference(route.body)}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": _part_schema(name)}
        for name in re.findall(r"{(\w+)}", route.path)
    ]


def _part_schema(name: str) -> dict[str, str]:
    return {"type": "string", "format": "uuid"} if name.endswith("_id") else {"type": "string"}


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    schema = route.query.model_json_schema()
    return [
        {"name": name, "in": "query", "required": name in schema.get("required", []), "schema": _without_null(of_name)}
        for name, of_name in schema["properties"].items()
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter has a value or is left out; the null of an optional field has no spelling in a query."""
    options = [option for option in schema.get("anyOf", []) if option != {"type": "null"}]
    return options[0] if len(options) == 1 else schema


def _answer(content: Content) -> dict[str, Any]:
    if content is None:
        return {"description": "A JSON document", "content": {"application/json": {"schema": {"type": "object"}}}}
    if isinstance(content, str):
        return {"description": "A text", "content": {content: {"schema": {"type": "string"}}}}
    summary = (content.__doc__ or "").strip().split("\n")[0]
    return {"description": summary, "content": {"application/json": {"schema": _reference(content)}}}


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(model=model.__name__)}
