"""Credentials in a text: found by rules, redacted in place (spec 2.4). Pure, deterministic, linear in the text.

The rules stand in files of their own, one for each way in which a secret gives itself away: a private key's frame
(secret_blocks), its provider's prefix (secret_formats, secret_tokens) or shape (secret_shapes), its place in an address
(secret_urls) or a command (secret_commands), and its name (secret_assignments).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from chalicelib.domain.secret_assignments import find_assigned
from chalicelib.domain.secret_blocks import find_private_keys
from chalicelib.domain.secret_commands import find_in_commands
from chalicelib.domain.secret_finding import Finding
from chalicelib.domain.secret_shapes import find_shapes
from chalicelib.domain.secret_tokens import find_tokens
from chalicelib.domain.secret_urls import find_in_addresses

__all__ = ["SECRET_RULES_VERSION", "Finding", "Redaction", "find", "redact"]

# Raise it with every change of a rule: what is stored is scanned anew at the next refresh.
SECRET_RULES_VERSION: int = 3

# The most telling first: where two find the same secret, the kind of the first is kept.
_DETECTORS: tuple[Callable[[str], Iterator[Finding]], ...] = (
    find_private_keys,
    find_tokens,
    find_shapes,
    find_in_addresses,
    find_in_commands,
    find_assigned,
)


# No kind has a digit or a capital in it, so no secret passes for a marker.
MARKER = re.compile(r"\[REDACTED:[a-z_]{2,40}\]")


@dataclass(frozen=True)
class Redaction:
    """A text without its secrets, where they stood in the original, and the share of it that they covered (0–1)."""

    text: str
    findings: tuple[Finding, ...]
    covered_share: float


def find(text: str) -> tuple[Finding, ...]:
    """Every secret in ``text``, left to right; findings that overlap are one."""
    found = [(finding, rank) for rank, detect in enumerate(_DETECTORS) for finding in detect(text)]
    markers = [marker.span() for marker in MARKER.finditer(text)] if found else []
    return tuple(_merged((finding, rank) for finding, rank in found if not _touches(finding, markers)))


def redact(text: str) -> Redaction:
    """Put ``[REDACTED:kind]`` in the place of every secret. Redacting twice changes nothing more."""
    findings = find(text)
    covered = sum(finding.end - finding.start for finding in findings)
    return Redaction(_replaced(text, findings), findings, covered / len(text) if text else 0.0)


def _touches(finding: Finding, markers: list[tuple[int, int]]) -> bool:
    """Whether a marker of an earlier pass stands in the finding."""
    first = bisect_right(markers, (finding.start, finding.start))
    return any(start < finding.end and finding.start < end for start, end in markers[max(0, first - 1) : first + 1])


def _merged(found: Iterable[tuple[Finding, int]]) -> Iterator[Finding]:
    current: Finding | None = None
    best = 0
    for finding, rank in sorted(found, key=lambda pair: (pair[0].start, pair[1])):
        if current is None or finding.start >= current.end:
            if current is not None:
                yield current
            current, best = finding, rank
        else:
            kind = finding.kind if rank < best else current.kind
            current, best = Finding(kind, current.start, max(current.end, finding.end)), min(rank, best)
    if current is not None:
        yield current


def _replaced(text: str, findings: tuple[Finding, ...]) -> str:
    parts, position = [], 0
    for finding in findings:
        parts += [text[position : finding.start], f"[REDACTED:{finding.kind}]"]
        position = finding.end
    return "".join([*parts, text[position:]])
