"""A value against the part of JSON Schema 2020-12 that the OpenAPI document uses. What it doesn't know, it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from types import UnionType
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


def _if(kind: type | UnionType, rule: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A keyword about one kind of value has nothing to say about another."""
    return lambda value, bound: not isinstance(value, kind) or rule(value, bound)


_RULES: Mapping[str, Callable[[Any, Any], bool]] = {
    "type": _of_type,
    "enum": lambda value, words: value in words,
    "const": lambda value, word: value == word,
    "format": _if(str, _of_format),
    "pattern": _if(str, lambda value, pattern: re.search(pattern, value) is not None),
    "minimum": _if(int | float, lambda value, bound: value >= bound),
    "maximum": _if(int | float, lambda value, bound: value <= bound),
    "minLength": _if(str, lambda value, bound: len(value) >= bound),
    "maxLength": _if(str, lambda value, bound: len(value) <= bound),
    "minItems": _if(list, lambda value, bound: len(value) >= bound),
    "maxItems": _if(list, lambda value, bound: len(value) <= bound),
}
