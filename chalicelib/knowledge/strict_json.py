"""JSON as the contract takes it (RFC 8259 and the I-JSON rules of RFC 7493): one reading, or none."""

from __future__ import annotations

import json
from typing import Any, NoReturn

_DIGITS = 300  # a larger integer is no finite double either, so no field takes it


def read(raw: bytes) -> Any:
    """The value in ``raw``. Raises ValueError for what is no UTF-8, no JSON, or can be read in two ways.

    That is: NaN and Infinity, a key given twice (which label would count?), a byte order mark, nesting that no answer
    needs. An escaped lone surrogate and a number too large for a double are one field's fault: the field's rule
    refuses a text with the one and an infinity in place of the other, and where no rule reads it, nobody does.
    """
    try:
        return json.loads(raw.decode("utf-8"), parse_int=_whole, parse_constant=_no_constant, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)


def _no_constant(name: str) -> NoReturn:
    raise ValueError("a constant that JSON does not have")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key twice in one object")
    return value
