"""Metrics as CloudWatch would count them, read from what was written to standard output (embedded metric format)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Point:
    """One value that was sent, and what it stands under."""

    name: str
    value: float
    unit: str
    namespace: str
    dimensions: frozenset[tuple[str, str]]

    @property
    def word(self) -> str | None:
        """The word of the dimension beside ``service``, if there is one."""
        return next((value for name, value in self.dimensions if name != "service"), None)


def read(text: str) -> list[Point]:
    """Every value in the lines of ``text`` that are metrics; other lines are passed over."""
    return [point for line in text.splitlines() if line.startswith('{"_aws"') for point in _points(json.loads(line))]


def _points(line: dict[str, Any]) -> list[Point]:
    return [
        Point(metric["Name"], value, metric["Unit"], part["Namespace"], frozenset((name, line[name]) for name in under))
        for part in line["_aws"]["CloudWatchMetrics"]
        for under in part["Dimensions"]
        for metric in part["Metrics"]
        for value in line[metric["Name"]]
    ]
