"""JSON as readable lines: ``key: value``, indented by depth, a dash for each item of a list."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from chalicelib.fetching.extracted import MAX_CHARACTERS, ExtractionError

_INDENT = "  "
_DEEPEST = 40
"""Levels that are indented; below them lines go on at the same depth."""


class _Object(list[tuple[str, Any]]):
    """The members of an object in their order; a key may be there twice."""


def read_json(text: str) -> str:
    """Render a JSON text. Numbers stay as they are written.

    Raises `ExtractionError` for what is no JSON, and for what would give too much text: indentation can make many
    times the document's size.
    """
    try:
        value = json.loads(text, object_pairs_hook=_Object, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise ExtractionError("damaged_text", f"not valid JSON at offset {error.pos}") from None
    except RecursionError:
        raise ExtractionError("too_large", "JSON is nested too deeply") from None
    if not isinstance(value, list):
        return _scalar(value, "")
    return "\n".join(_lines(value))


def _lines(root: list[Any]) -> list[str]:
    lines: list[str] = []
    room = MAX_CHARACTERS
    open_containers = [(_members(root), "")]
    while open_containers:  # a stack of its own: the depth of a document must not be ours
        members, margin = open_containers[-1]
        for label, value in members:
            room -= len(margin) + len(label) + 2 + _length(value, margin)
            if room < 0:
                raise ExtractionError("too_large", f"the document has more than {MAX_CHARACTERS} characters")
            if isinstance(value, list):
                lines.append(margin + label)
                deeper = margin + _INDENT if len(open_containers) < _DEEPEST else margin
                open_containers.append((_members(value), deeper))
                break
            lines.append(f"{margin}{label} {_scalar(value, margin)}")
        else:
            open_containers.pop()
    return lines


def _members(container: list[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(container, _Object):
        return ((f"{key}:", value) for key, value in container)
    return (("-", value) for value in container)


def _length(value: Any, margin: str) -> int:
    """Characters of a string when its lines are indented, without writing them."""
    return len(value) + value.count("\n") * (len(margin) + len(_INDENT)) if isinstance(value, str) else 0


def _scalar(value: str | bool | None, margin: str) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    return value.replace("\n", f"\n{margin}{_INDENT}") if "\n" in value else value
