"""Opaque cursors of keyset pages: the last row's (time, id), as URL-safe text (spec 1.2).

The text is base64url (RFC 4648, section 5, no padding) of the compact JSON ``[microseconds since 1970, "uuid"]``. It
is opaque, not secret and not signed: it can name a place in the caller's own list and nothing else.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol, TypeVar
from uuid import UUID

MAX_CURSOR_LENGTH = 128
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Cursor(NamedTuple):
    """The place after a row: its instant in UTC, exact to the microsecond as Postgres stores it, and its id."""

    time: datetime
    id: UUID


class Placed(Protocol):
    """A row of a list that is ordered by when it was made."""

    @property
    def created_at(self) -> datetime: ...
    @property
    def id(self) -> UUID: ...


Row = TypeVar("Row", bound=Placed)


def encode(cursor: Cursor) -> str:
    """Return the text of ``cursor``; `decode` gives the same cursor back."""
    microseconds = (cursor.time - _EPOCH) // timedelta(microseconds=1)
    document = json.dumps([microseconds, str(cursor.id)], separators=(",", ":"))
    return base64.urlsafe_b64encode(document.encode("ascii")).rstrip(b"=").decode("ascii")


def cut(rows: Sequence[Row], limit: int) -> tuple[Sequence[Row], str | None]:
    """A page of at most ``limit`` rows, and the cursor of the next one if ``rows`` has one row more than fits."""
    page = rows[:limit]
    return page, encode(Cursor(page[-1].created_at, page[-1].id)) if len(rows) > limit else None


def decode(text: str) -> Cursor:
    """Read a cursor. Raises ValueError for every text that `encode` would not have written."""
    try:
        if len(text) > MAX_CURSOR_LENGTH:
            raise ValueError("too long")
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        microseconds, identity = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        cursor = Cursor(_EPOCH + timedelta(microseconds=microseconds), UUID(identity))
        if encode(cursor) != text:  # one spelling: no fractions, blanks, upper case, stray bits
            raise ValueError("not canonical")
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError("the cursor is not valid") from error
    return cursor
