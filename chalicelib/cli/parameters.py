"""Parameter types of the command line."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import click

from chalicelib.client import ClientError
from chalicelib.client.answers import Source
from chalicelib.client.api import Client

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_UNITS = {"": 1, "s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}


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
    """Seconds, or a number with s, min, h, d or w behind it."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it as seconds, or fail with exit status 2."""
        found = re.fullmatch(r"([0-9]{1,9}) ?([a-z]*)", str(value))
        if found is None or found[2] not in _UNITS:
            self.fail(f"{value!r} is no duration such as 300, 30min, 6h or 7d", param, ctx)
        return int(found[1]) * _UNITS[found[2]]


class SourceNotFound(ClientError):
    """No source, or more than one, answers to what was given."""

    def document(self) -> dict[str, Any]:
        """As the API would put it."""
        return {"code": "not_found", "detail": str(self)}


def source_id(client: Client, given: str) -> str:
    """The id of the source that ``given`` means: an id, a uri, or a name that only one has. Raises SourceNotFound."""
    if _UUID.fullmatch(given):
        return given
    known: list[Source] = [one for one in client.iter_sources() if given in (one["uri"], one["name"])]
    matches = [one for one in known if one["uri"] == given] or known
    if len(matches) != 1:
        raise SourceNotFound(f"{len(matches) or 'no'} sources have the id, uri or name {given!r}")
    return matches[0]["id"]
