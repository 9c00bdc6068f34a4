"""A value against the part of JSON Schema 2020-12 that the OpenAPI document uses. What it doesn't know, it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from typing import Any
from uuid import UUID

Schema = Mapping[str, Any]

ANNOTATIONS = {"title", "description", "default"}
REFERENCE = "#/components/schemas/"


def faults(value: Any, schema: Schema, components: Mapping[str, Schema], where: str = "$") -> Iterator[str]:
    """What is wrong with ``value``. A member that an object's schema does not name is a fault: it is undocumented."""
    if "$ref" in schema:
        yield from faults(value, components[schema["$ref"].removeprefix(REFERENCE)], components, where)
    if "anyOf" in schema:
        found = [list(faults(value, option, components, where)) for option in schema["anyOf"]]
        if all(found):
            yield f"{where}: fits no option: {found}"
    for keyword, rule in schema.items():
        if keyword not in {*ANNOTATIONS, "$ref", "anyOf", *_STRUCTURE} and not _RULES[keyword](value, rule):
            yield f"{where}: {value!r} against {keyword} {rule!r}"
    if isinstance(value, dict):
        yield from _members(value, schema, components, where)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from faults(item, schema.get("items", {}), components, f"{where}[{index}]")


def known_keywords() -> set[str]:
    """Everything that a schema of ours may say."""
    return {*ANNOTATIONS, "$ref", "anyOf", *_STRUCTURE, *_RULES}


_STRUCTURE = {"properties", "additionalProperties", "items", "required"}


def _members(value: dict[str, Any], schema: Schema, components: Mapping[str, Schema], where: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    yield from (f"{where}: lacks {name}" for name in schema.get("required", []) if name not in value)
    for name, member in value.items():
        if name in properties:
            yield from faults(member, properties[name], components, f"{where}.{name}")
        elif properties and not schema.get("additionalProperties", False):
            yield f"{where}: {name} is not documented"


def _of_type(value: Any, name: str) -> bool:
    match name:
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
    return isinstance(value, {"string": str, "object": dict, "array": list}[name])


def _of_format(value: Any, name: str) -> bool:
    try:
        match name:
            case "uuid":
                return bool(str(UUID(value)) == value)
            case "date":
                return bool(date.fromisoformat(value).isoformat() == value)
            case "date-time":
                return datetime.fromisoformat(value).tzinfo is not None
    except (ValueError, TypeError):
        return False
    raise KeyError(name)


_RULES: Mapping[str, Callable[[Any, Any], bool]] = {
    "type": _of_type,
    "format": _of_format,
    "enum": lambda value, rule: value in rule,
    "const": lambda value, rule: value == rule,
    "pattern": lambda value, rule: re.search(rule, value) is not None,
    "minimum": lambda value, rule: value >= rule,
    "maximum": lambda value, rule: value <= rule,
    "minLength": lambda value, rule: len(value) >= rule,
    "maxLength": lambda value, rule: len(value) <= rule,
    "minItems": lambda value, rule: len(value) >= rule,
    "maxItems": lambda value, rule: len(value) <= rule,
}
