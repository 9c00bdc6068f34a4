"""What a change of a policy changed: the fields that differ, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Difference(NamedTuple):
    """One field; a blank stands where it was not there."""

    field: str
    before: str
    after: str


def differences(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[Difference]:
    """The fields of two JSON objects that differ, by name; None has no field."""
    one, other = before or {}, after or {}
    return [
        Difference(name, _words(one, name), _words(other, name))
        for name in sorted({**one, **other})
        if one.get(name) != other.get(name) or (name in one) != (name in other)
    ]


def _words(values: Mapping[str, Any], name: str) -> str:
    """Null and the empty list are different: no limit, and nobody."""
    if name not in values:
        return ""
    match values[name]:
        case None:
            return "none set"
        case []:
            return "none at all"
        case list() as several:
            return ", ".join(map(str, several))
        case dict() as inner:
            return ", ".join(f"{key} {value}" for key, value in inner.items())
        case "":
            return "none set"
        case value:
            return str(value)
