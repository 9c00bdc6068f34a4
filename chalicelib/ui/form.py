"""The body of a form as fields (application/x-www-form-urlencoded), read strictly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_origin
from urllib.parse import parse_qs

from pydantic import BaseModel

from chalicelib.errors import BadRequest, Invalid, PayloadTooLarge

CONTENT_TYPE = "application/x-www-form-urlencoded"
MOST_FIELDS = 100


def read(raw: bytes, content_type: str, *, limit: int, lists: Iterable[str] = ()) -> dict[str, str | list[str]]:
    """The fields of ``raw``; those of ``lists`` may be given more than once and come as lists.

    Raises PayloadTooLarge over ``limit`` bytes, BadRequest for what is no form in UTF-8, Invalid for a field twice.
    """
    if len(raw) > limit:
        raise PayloadTooLarge(f"the form must have at most {limit} bytes", limit=limit)
    if content_type.partition(";")[0].strip().lower() != CONTENT_TYPE:
        raise BadRequest("this page reads forms alone")
    try:
        given = parse_qs(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:
        raise BadRequest("the form can't be read") from None
    fields: dict[str, str | list[str]] = {name: given.pop(name) for name in lists if name in given}
    for name, values in given.items():
        if len(values) != 1:
            raise Invalid(f"{name}: must be given once", field=name, rule="must be given once")
        fields[name] = values[0]
    return fields


def lists_of(model: type[BaseModel]) -> list[str]:
    """The names of the fields that may be given more than once."""
    return [name for name, field in model.model_fields.items() if get_origin(field.annotation) is list]
