"""What every group of routes is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar, cast
from urllib.parse import quote

from chalicelib.client.answers import Page
from chalicelib.client.transport import Transport

Answer = TypeVar("Answer")
Item = TypeVar("Item")

PAGE = 200  # rows a request: the most that the API gives


class Routes:
    """Requests of three kinds, each answered by what ``kind`` says. All raise ApiProblem or Unreachable."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _get(
        self, kind: type[Answer], path: str, query: Mapping[str, Any] | None = None, *, as_admin: bool = False
    ) -> Answer:
        """Read; query parameters that are None are left out."""
        return cast(Answer, self._transport.request("GET", path, query=query, as_admin=as_admin))

    def _ask(self, kind: type[Answer], path: str, question: Mapping[str, Any], *, as_admin: bool = False) -> Answer:
        """Read, with the question in the body."""
        return cast(Answer, self._transport.request("POST", path, body=question, as_admin=as_admin))

    def _change(
        self, kind: type[Answer], path: str, change: Mapping[str, Any] | None = None, *, if_match: str | None = None
    ) -> Answer:
        """Change something, as an admin."""
        headers = {"If-Match": if_match} if if_match else {}
        return cast(Answer, self._transport.request("POST", path, body=change or {}, headers=headers, as_admin=True))


def every(page: Callable[..., Page[Item]], *arguments: Any, **query: Any) -> Iterator[Item]:
    """Every item of a list, a page at a time as they are asked for."""
    cursor: str | int | None = None
    while True:
        found = page(*arguments, **query, limit=PAGE, cursor=cursor)
        yield from found["items"]
        cursor = found["next_cursor"]
        if cursor is None:
            return


def given(**values: Any) -> dict[str, Any]:
    """The values that are not None, for requests in which None means left out."""
    return {name: value for name, value in values.items() if value is not None}


def segment(text: str) -> str:
    """One segment of a path, whatever is in it. Raises ValueError for one that would lead to another route."""
    if text in ("", ".", ".."):
        raise ValueError(f"{text!r} is no id")
    return quote(text, safe="")


def instant(at: datetime | None) -> str | None:
    """RFC 3339; the API refuses one without an offset."""
    return None if at is None else at.isoformat()
