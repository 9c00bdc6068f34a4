"""Where in a text a secret stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_ESCAPE = re.compile(r"\\(?:[nrtbf]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})\Z|%[0-9a-fA-F]{2}\Z")


class Finding(NamedTuple):
    """A secret of a kind (``github_token``) at ``text[start:end]``, counted in code points."""

    kind: str
    start: int
    end: int


def occurrences(text: str, literal: str) -> Iterator[int]:
    """Where ``literal`` stands, left to right: much faster than a pattern for something rare."""
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))


def stands_free(text: str, at: int) -> bool:
    """Whether no ASCII letter or digit stands before ``at``, but for one that ends an escape such as ``%20``."""
    if at == 0 or not (text[at - 1].isascii() and text[at - 1].isalnum()):
        return True
    return _ESCAPE.search(text, max(0, at - 6), at) is not None
