"""JSON as the contract takes it (RFC 8259 and the I-JSON rules of RFC 7493): one reading, or none."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def read(raw: bytes) -> Any:
    """The value in ``raw``. Raises ValueError for what is no UTF-8, no JSON, or can be read in two ways.

    That is: NaN and Infinity, a key given twice (which label would count?), a lone surrogate, a byte order mark,
    nesting or numbers of a size that no answer needs.
    """
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_unique)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # a lone surrogate stands in no UTF-8
    except RecursionError:
        raise ValueError("nested too deep") from None
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError("a constant that JSON does not have")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key twice in one object")
    return value
