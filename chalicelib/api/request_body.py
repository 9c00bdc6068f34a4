"""The body of a request as JSON, read strictly."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from chalicelib.errors import BadRequest, PayloadTooLarge


def read(raw: bytes, *, limit: int) -> Any:
    """The JSON value in ``raw`` (RFC 8259); an empty body is ``{}``.

    Raises PayloadTooLarge over ``limit`` bytes, BadRequest for what is no JSON: also NaN, a key given twice, a lone
    surrogate, nesting that no request needs.
    """
    if len(raw) > limit:
        raise PayloadTooLarge(f"the body may have at most {limit} bytes", limit=limit)
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_unique)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # a lone surrogate can't be stored or hashed
    except (ValueError, RecursionError) as error:
        raise BadRequest("the body must be one JSON object in UTF-8") from error
    if not isinstance(value, dict):
        raise BadRequest("the body must be one JSON object in UTF-8")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value
