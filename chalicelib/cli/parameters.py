"""Parameter types of the command line."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import click

_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}


class Instant(click.ParamType[datetime]):
    """An ISO 8601 instant; without an offset it is local time."""

    name = "instant"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read it, or fail with exit status 2."""
        try:
            return datetime.fromisoformat(value).astimezone()
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no instant such as 2026-11-30T02:00:00Z or 2026-11-30", param, ctx)


class Duration(click.ParamType[int]):
    """Seconds, or a number with s, min (or m), h, d or w behind it."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it as seconds, or fail with exit status 2."""
        found = re.fullmatch(r"([0-9]{1,9}) ?([a-z]*)", str(value))
        if found is None or found[2] not in _UNITS:
            self.fail(f"{value!r} is no duration such as 300, 30min, 6h or 7d", param, ctx)
        return int(found[1]) * _UNITS[found[2]]
