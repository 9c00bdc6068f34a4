"""Rows as CSV that no spreadsheet runs (RFC 4180)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

# The wide ones are read as the others where people type wide characters (OWASP, CSV Injection).
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_CONTROL = ("\t", "\r", "\n")


def lines(rows: Iterable[Sequence[object]]) -> str:
    """The rows as CSV text with CRLF; a cell that a spreadsheet would run as a formula is prefixed by ``'``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for row in rows:
        writer.writerow(_cell(value) for value in row)
    return text.getvalue()


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    # Any blank before a sign is taken away by some reader.
    runs = text.lstrip().startswith(_FORMULA) or text.lstrip(" ").startswith(_CONTROL)
    return f"'{text}" if runs else text
