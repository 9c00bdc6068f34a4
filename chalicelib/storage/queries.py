"""Named SQL: every statement stands in ``sql/<noun>.sql`` under a line ``-- name: <verb>``."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "sql"
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def query(name: str) -> str:
    """The SQL text of ``noun.verb``.

    Raises ``KeyError`` if there is no such statement; a test asks for every name that the code uses.
    """
    noun, _, verb = name.partition(".")
    return _file(noun)[verb]


@cache
def _file(noun: str) -> dict[str, str]:
    parts = _NAME.split((_FOLDER / f"{noun}.sql").read_text(encoding="utf-8"))
    return {verb: text.strip() for verb, text in zip(parts[1::2], parts[2::2], strict=True)}
