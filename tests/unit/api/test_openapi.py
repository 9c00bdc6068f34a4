"""The OpenAPI document is well formed, and its schemas say only what they can mean."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.api import resources
from tests.api.contract import assert_documented, openapi, routes
from tests.api.json_schema import REFERENCE, faults, known_keywords
from tests.tenants import Answer

DOCUMENT = openapi()
OPERATIONS = [
    (path, method, operation) for path, methods in DOCUMENT["paths"].items() for method, operation in methods.items()
]
COMPONENTS = DOCUMENT["components"]["schemas"]


def schemas_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every schema of the document, those inside others too."""
    for holder in _dicts(value):
        if isinstance(schema := holder.get("schema"), dict):
            yield from _with_inner(schema)
    for schema in COMPONENTS.values():
        yield from _with_inner(schema)


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _dicts(item)


def _with_inner(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    inner += [schema[name] for name in ("items", "additionalProperties") if isinstance(schema.get(name), dict)]
    for one in inner:
        yield from _with_inner(one)


def test_it_is_json_and_names_its_version() -> None:
    assert json.loads(json.dumps(DOCUMENT)) == DOCUMENT
    assert DOCUMENT["openapi"] == "3.1.0"
    assert {"title", "version"} <= set(DOCUMENT["info"])


def test_every_registered_route_is_in_it_once() -> None:
    registered = sorted((route.path, route.method.lower()) for route in routes())
    assert registered == sorted((path, method) for path, method, _ in OPERATIONS)
    assert len(set(registered)) == len(registered)


def test_every_route_of_the_app_that_serves_json_is_registered() -> None:
    from app import app

    served = {(path, method) for path, methods in app.routes.items() for method in methods if path.startswith("/v1/")}
    assert served == {(route.path, route.method) for route in routes() if route.path.startswith("/v1/")}


def test_operation_ids_are_unique_and_summaries_and_actions_stand() -> None:
    ids = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(set(ids)) == len(ids)
    for _, _, operation in OPERATIONS:
        assert operation["summary"].endswith(".")
        assert re.fullmatch(r"[a-z]+(\.[a-z_]+)+", operation["x-action"])


def test_path_parameters_are_those_of_the_template() -> None:
    for path, _, operation in OPERATIONS:
        in_path = [one["name"] for one in operation["parameters"] if one["in"] == "path"]
        assert in_path == re.findall(r"{(\w+)}", path)
        names = [(one["in"], one["name"]) for one in operation["parameters"]]
        assert len(set(names)) == len(names)
        assert all(one["required"] for one in operation["parameters"] if one["in"] == "path")


def test_every_answer_has_a_description_and_a_schema() -> None:
    for _, _, operation in OPERATIONS:
        assert any(status.startswith("2") for status in operation["responses"])
        for status, response in operation["responses"].items():
            assert re.fullmatch(r"[1-5]\d\d|default", status)
            assert response["description"]
            assert all("schema" in media for media in response["content"].values())


def test_security_names_a_scheme_and_a_write_needs_both_tokens() -> None:
    schemes = set(DOCUMENT["components"]["securitySchemes"])
    for route in routes():
        asked = DOCUMENT["paths"][route.path][route.method.lower()]["security"]
        assert all(set(alternative) <= schemes for alternative in asked)
        wanted = {
            "open": [],
            "read": [{"apiToken"}],
            "write": [{"apiToken", "adminToken"}],
            "consumer": [{"consumerToken"}],
            "widget": [{"widgetToken"}],
            "signed": [{"signature"}],
            "unsigned": [],
        }[route.access]
        assert [set(alternative) for alternative in asked] == wanted


def test_every_reference_leads_somewhere() -> None:
    references = re.findall(r'"\$ref": "([^"]+)"', json.dumps(DOCUMENT))
    assert references
    assert {reference for reference in references if reference.removeprefix(REFERENCE) not in COMPONENTS} == set()


def test_no_schema_is_defined_for_nobody() -> None:
    used = {one.removeprefix(REFERENCE) for one in re.findall(r'"\$ref": "([^"]+)"', json.dumps(DOCUMENT))}
    assert set(COMPONENTS) == used


def test_schemas_use_known_keywords_and_patterns_that_can_match() -> None:
    for schema in schemas_in(DOCUMENT):
        assert set(schema) <= known_keywords(), schema
        if "pattern" in schema:
            assert any(re.search(schema["pattern"], text) for text in ("22:00", "de-DE")), schema
        assert set(schema.get("required", [])) <= set(schema.get("properties", {}))
        assert schema.get("type", "string") in {"string", "integer", "number", "boolean", "null", "object", "array"}


def test_requests_are_closed_and_defaults_fit_their_schema() -> None:
    open_ended = {"RetrieveRequest"}  # the contract's: both sides pass over what they don't know
    for name in ({route.body.__name__ for route in routes()} & set(COMPONENTS)) - open_ended:
        assert COMPONENTS[name]["additionalProperties"] is False
    for schema in schemas_in(DOCUMENT):
        if "default" in schema:
            assert list(faults(schema["default"], schema, COMPONENTS)) == []


def test_the_contracts_routes_show_what_the_contract_says() -> None:
    path = "/v1/provider/{registration}"
    asked = DOCUMENT["paths"][f"{path}/retrieve"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    question = COMPONENTS[asked["$ref"].removeprefix(REFERENCE)]
    assert set(question["properties"]) == {"query", "limit", "locale", "localeFallback", "context"}
    assert (question["required"], question["properties"]["limit"]["maximum"]) == (["query"], 50)
    unsigned = [DOCUMENT["paths"][f"{path}/capabilities"]["get"], DOCUMENT["paths"]["/v1/widget/search"]["options"]]
    assert [operation["security"] for operation in unsigned] == [[], []]


def test_a_query_parameter_is_never_null() -> None:
    for _, _, operation in OPERATIONS:
        assert all("null" not in json.dumps(one["schema"]) for one in operation["parameters"])


def test_it_is_made_anew_without_a_trace_of_the_first_time() -> None:
    from chalicelib.api.openapi import document

    assert document(resources()) == DOCUMENT


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("GET", "/healthz", Answer(201, {}, {"status": "ok"})),
        ("GET", "/healthz", Answer(200, {}, {"status": 1})),
        ("GET", "/healthz", Answer(200, {}, {})),
        ("GET", "/healthz", Answer(200, {}, {"status": "ok", "secret": 1})),
        ("GET", "/healthz", Answer(200, {"content-type": "text/html"}, {"status": "ok"})),
        ("GET", "/healthz", Answer(500, {}, {"status": 500})),
        ("GET", "/v1/kb/nothing", Answer(200, {}, {})),
        ("GET", "/v1/kb/events", Answer(200, {}, {"items": [{}], "next_cursor": None})),
    ],
)
def test_an_answer_that_is_not_documented_is_seen(method: str, path: str, answer: Answer) -> None:
    with pytest.raises(AssertionError):
        assert_documented(method, path, answer)
