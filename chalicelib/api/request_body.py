"""The body of a request as JSON, read strictly."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from chalicelib.errors import BadRequest, PayloadTooLarge


def read(raw: bytes, *, limit: int) -> Any:
    """The JSON object in ``raw`` (RFC 8259); an empty body is ``{}``. What the body is called is not looked at.

    Raises PayloadTooLarge over ``limit`` bytes, BadRequest with the rule for what is no JSON object in UTF-8: also NaN,
    a key given twice, a lone surrogate, nesting that no request needs.
    """
    if len(raw) > limit:
        raise PayloadTooLarge(f"body: must have at most {limit} bytes", field="body", limit=limit)
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_unique)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # a lone surrogate can't be stored or hashed
    except UnicodeDecodeError as error:
        raise _bad("must be UTF-8") from error
    except UnicodeEncodeError as error:
        raise _bad("must not hold a lone surrogate") from error
    except json.JSONDecodeError as error:
        raise _bad(f"must be JSON, and is not at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise _bad("must not be nested that deep") from error
    except ValueError as error:  # an integer of more digits than Python reads
        raise _bad("must not hold a number that long") from error
    if not isinstance(value, dict):
        raise _bad("must be a JSON object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise _bad(f"must be JSON, which has no {name}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _bad("must not hold a key twice")
    return value


def _bad(rule: str) -> BadRequest:
    return BadRequest(f"body: {rule}", field="body", rule=rule)
