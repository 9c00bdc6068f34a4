"""What kind of text a chunk is, read off its redacted text (spec 2.1): credentials, or nothing in particular.

A secret that no rule knows stands most likely where others stood: in a list of passwords, an env file, a wallet of
keys. So a chunk that is mainly redactions is restricted as a whole, and a long text with a token in it is not. The
class depends on the text alone, so it is the same whenever and wherever the text comes back.
"""

from __future__ import annotations

import re

from chalicelib.domain.policy import CREDENTIALS
from chalicelib.domain.secrets import MARKER

MAINLY = 0.5
"""Of a chunk's rows, the share that must be redacted."""

LABELLED = 0.25
"""The same for a chunk in which a line says that credentials follow."""

ROW = 80
"""Characters of a row: a longer line is several. Blank lines are none."""

BLOCK_ROWS = 10
"""What a private key was before it was redacted, at least."""

MOST_BESIDE = 60
"""Characters that a redacted line has beside each redaction: a name, an assignment; more is a sentence."""

_BLOCK = "[REDACTED:private_key]"
_LABEL = re.compile(
    r"(?:[\w.'/-]{1,30}\W{1,3}){0,3}(?:credentials?|passwords?|passphrases?|secrets?|log[ -]?ins?"
    r"|(?:api|access|private|secret|deploy|ssh)[ _-]?keys?|(?:api|access|auth)[ _-]?tokens?)\W{0,4}",
    re.IGNORECASE,
)


def content_class(text: str) -> str:
    """`CREDENTIALS`, or blank. ``text`` is a chunk's own part, redacted; takes linear time."""
    rows = redacted = 0
    least = MAINLY
    for line in filter(None, map(str.strip, text.splitlines())):
        beside, count = MARKER.subn("", line)
        height = BLOCK_ROWS * line.count(_BLOCK) or 1 + len(line) // ROW
        rows += height
        if count and len(beside) <= MOST_BESIDE * count:
            redacted += height
        elif not count and _is_label(line):
            least = LABELLED
    return CREDENTIALS if redacted and redacted >= least * rows else ""


def _is_label(line: str) -> bool:
    return len(line) <= ROW and _LABEL.fullmatch(line.lstrip("#*-=_>|[ \t")) is not None
