"""Where in a text a secret stands."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """A secret of a kind (``github_token``) at ``text[start:end]``, counted in code points."""

    kind: str
    start: int
    end: int
