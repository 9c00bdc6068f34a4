"""The shipped JSON Schemas are those of the code, and say what the code does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chalicelib.knowledge import contract
from schemas.knowledge import write
from tests.api.json_schema import REFERENCE, faults

FILES = write.files()
GOOD = {"documentId": "d", "title": "T", "snippet": "S", "audience": "public"}


def schema(name: str) -> Any:
    return json.loads(FILES[f"{name}.json"].replace("#/$defs/", REFERENCE))


def fits(name: str, value: Any) -> bool:
    """Whether the schema takes it; unknown fields are nothing to a schema of the wire."""
    document = schema(name)
    found = faults(
        value,
        {key: one for key, one in document.items() if key not in ("$schema", "$id", "$defs")},
        document.get("$defs", {}),
    )
    return not [fault for fault in found if not fault.endswith("is not documented")]


def test_the_files_are_current() -> None:
    shipped = {path.name: path.read_text(encoding="utf-8") for path in write.FOLDER.glob("*.json")}
    assert shipped == FILES, "python -m schemas.knowledge.write"


@pytest.mark.parametrize("name", FILES)
def test_each_is_of_the_dialect_and_refers_to_itself_alone(name: str) -> None:
    document = json.loads(FILES[name])
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$id"] == f"urn:larder:knowledge:v1:{name.removesuffix('.json')}"
    references = {one.removeprefix("#/$defs/") for one in _references(document)}
    assert references <= set(document.get("$defs", {}))


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [one for name, one in value.items() if name == "$ref" and isinstance(one, str)]
        return own + [ref for one in value.values() for ref in _references(one)]
    return [ref for one in value for ref in _references(one)] if isinstance(value, list) else []


def test_every_route_of_providers_and_of_those_who_ask_has_its_schemas() -> None:
    wanted = {route.handler.__name__ for resource in write.ROUTES for route in resource.routes} - {"preflight_widget"}
    assert {name.split(".")[0] for name in FILES} == wanted | set(write.WIRE)


@pytest.mark.parametrize(
    ("more", "right"),
    [
        ({}, True),
        ({"score": 0.5, "locale": "de-DE", "freshness": "stale", "reviewDueAt": "2026-11-30T02:00:00+00:00"}, True),
        ({"colour": "blue"}, True),
        ({"documentId": ""}, False),
        ({"title": "x" * 513}, False),
        ({"snippet": None}, False),
    ],
)
def test_the_schema_of_an_answer_says_what_the_reading_does(more: dict[str, Any], right: bool) -> None:
    value = {"contractVersion": 1, "results": [{**GOOD, **more}]}
    assert fits("response", value) is right
    try:
        contract.parse_response(json.dumps(value).encode(), "application/json", limit=10)
    except contract.ContractFailure:
        assert not right
    else:
        assert right


@pytest.mark.parametrize("name", ["locale", "score", "freshness", "reviewDueAt", "revision", "url"])
def test_the_schema_knows_a_malformed_optional_field_that_the_reading_passes_over(name: str) -> None:
    value = {"contractVersion": 1, "results": [{**GOOD, name: ["x"]}]}
    assert not fits("response", value)
    assert contract.parse_response(json.dumps(value).encode(), "application/json", limit=10)


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ({"query": "x"}, True),
        ({"query": "x", "limit": 50, "locale": "de", "context": {"conversationId": "c"}}, True),
        ({"query": ""}, False),
        ({"query": "x", "limit": 51}, False),
        ({"query": "x", "locale": "de_DE"}, False),
        ({}, False),
    ],
)
def test_the_schema_of_a_question_says_what_the_reading_does(question: dict[str, Any], right: bool) -> None:
    assert fits("request", question) is right


def test_a_customer_result_has_exactly_five_keys() -> None:
    (definition,) = [one for name, one in schema("search_widget.response")["$defs"].items() if "Result" in name]
    assert set(definition["properties"]) == {"title", "snippet", "url", "locale", "localeFallback"}
