"""What extraction gives, and how it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chalicelib.errors import LarderError

EXTRACTOR_VERSION = 2
"""Raised with every change of this package or of `clean_text` that gives another text for the same bytes."""

MAX_CHARACTERS = 4_000_000
"""Characters of text that a document of any type may give: twice as many as its body may have bytes (spec 1.3)."""


@dataclass(frozen=True)
class Extracted:
    """The text of a document, clean (`chalicelib.domain.clean_text`), and what the document says of itself.

    ``canonical_url`` is the document's claim, as written. ``invisible_removed`` counts characters, ``hidden_removed``
    parts of a page that its reader doesn't see and that had text, ``replaced`` the bytes that decoding could not read.
    """

    text: str
    title: str | None
    language: str | None
    canonical_url: str | None
    description: str | None
    invisible_removed: int
    hidden_removed: int
    replaced: int
    media_type: str


class ExtractionError(LarderError):
    """A body that gives no text to keep. ``status`` is the word of spec 1.1; ``detail`` quotes nothing of the body."""

    def __init__(self, status: Literal["empty", "damaged_text", "too_large", "unsupported_type"], detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail
