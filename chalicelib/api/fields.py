"""Field types that requests share: each says its rule in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema

from chalicelib.domain import cursor

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _instant(value: Any) -> Any:
    if isinstance(value, str) and _RFC3339.fullmatch(value):
        try:
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    raise ValueError("must be an instant as RFC 3339, with its offset, such as 2026-11-30T02:00:00Z")


def _uuid(value: Any) -> Any:
    if isinstance(value, str) and _UUID.fullmatch(value):
        return UUID(value)
    raise ValueError("must be a UUID")


def _cursor(value: Any) -> Any:
    try:
        return cursor.decode(value)
    except ValueError:
        raise ValueError("must be a next_cursor of this list") from None


def _printable(value: str) -> str:
    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", value):
        raise ValueError("must not hold control characters")
    return value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


def _digits(value: Any) -> Any:
    """Pydantic would also read ``1_0``, ``10.0`` and `` 10`` as ten."""
    if isinstance(value, str) and not re.fullmatch("-?[0-9]{1,10}", value):
        raise ValueError("must be a whole number")
    return value


Instant = Annotated[datetime, BeforeValidator(_instant)]
"""RFC 3339 with an offset."""

Uuid = Annotated[UUID, BeforeValidator(_uuid)]
"""A UUID in its usual form."""

PageCursor = Annotated[cursor.Cursor, BeforeValidator(_cursor), WithJsonSchema({"type": "string"})]
"""The ``next_cursor`` of the page before."""

Name = Annotated[
    str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True), AfterValidator(_printable)
]
"""A name for people."""

Printable = Annotated[str, AfterValidator(_printable)]
"""Any text without control characters."""

Why = Annotated[str, Field(max_length=500), AfterValidator(_printable)]
"""A reason, for the admin audit."""

QueryText = Annotated[
    str, StringConstraints(min_length=1, max_length=1024), AfterValidator(_printable), AfterValidator(_not_blank)
]
"""What a search asks: 1 to 1 024 characters, not only blanks."""

AnyQuery = Annotated[str, StringConstraints(min_length=1, max_length=1024), AfterValidator(_not_blank)]
"""What providers are asked: 1 to 1 024 characters, whatever they are, but not only blanks (spec 3.3)."""

PageLimit = Annotated[int, Field(ge=1, le=200), BeforeValidator(_digits)]
"""Rows of a page."""

VersionNumber = Annotated[int, Field(ge=1, le=2_147_483_647), BeforeValidator(_digits)]
"""The number of a version, from 1."""

Purpose = Literal["operational", "training_data", "audit_review", "compliance_export"]
"""What a read is for (spec 2.1)."""
