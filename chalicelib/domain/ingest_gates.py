"""What a text must pass before it is stored, in this order: secret scan, deny patterns, length floor (spec 2.4).

The text has been extracted, found undamaged and cleaned; it is whole, so a secret that would lie across the edge of
two chunks is seen. Nothing is stored here: the outcome says what the caller is to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, NamedTuple

from chalicelib.domain.clean_text import clean_text
from chalicelib.domain.secrets import Finding, redact
from chalicelib.domain.word_count import count_words

MOSTLY_SECRET_SHARE = 0.5
MAX_DENY_PATTERNS = 500  # of a tenant: each is looked for in every text
MAX_DENY_PATTERN_CHARACTERS = 1000

Outcome = Literal["admit", "quarantine", "refuse"]


class Deposit(StrEnum):
    """The ways in."""

    NOTE = "note"
    DOCUMENT = "document"
    AGENT_OUTPUT = "agent_output"
    PAGE = "page"
    CONSOLIDATED = "consolidated"


class Gate(StrEnum):
    """What can stop a text, in order."""

    TEXT_DAMAGE = "text_damage"
    SECRET_SCAN = "secret_scan"
    DENY_PATTERNS = "deny_patterns"
    LENGTH_FLOOR = "length_floor"


class Floor(NamedTuple):
    """The least number of characters (code points, blanks around the text not counted) and of words."""

    characters: int
    words: int


FLOORS = {
    Deposit.NOTE: Floor(10, 3),
    Deposit.DOCUMENT: Floor(64, 10),
    Deposit.AGENT_OUTPUT: Floor(64, 10),
    Deposit.PAGE: Floor(0, 0),
    Deposit.CONSOLIDATED: Floor(64, 10),
}


@dataclass(frozen=True)
class Screening:
    """The outcome, and the text as it may be stored: redacted, also in quarantine.

    ``gate`` and ``reason`` say what stopped it and are None and blank for a text that is admitted; ``matched`` is the
    deny pattern that was found.
    """

    outcome: Outcome
    text: str
    findings: tuple[Finding, ...] = ()
    gate: Gate | None = None
    reason: str = ""
    matched: str | None = None


def screen(
    text: str,
    deposit: Deposit,
    deny_patterns: Iterable[str] = (),
    *,
    beside: Iterable[str | None] = (),
    scan: bool = True,
) -> Screening:
    """Run the gates over a clean text; deny patterns also over what is shown ``beside`` it, such as its title.

    ``scan=False`` is the escape hatch of an operator, who then answers for an audit row. A release from quarantine
    comes with no deny patterns: a person has read the text.
    """
    redaction = redact(text) if scan else None
    stored, findings = (redaction.text, redaction.findings) if redaction else (text, ())
    if redaction and redaction.covered_share > MOSTLY_SECRET_SHARE:
        return Screening("refuse", "", findings, Gate.SECRET_SCAN, "mostly_secret")
    shown = "\n".join([stored, *filter(None, beside)])
    if (pattern := denied_by(shown, deny_patterns)) is not None:
        return Screening("quarantine", stored, findings, Gate.DENY_PATTERNS, "deny_pattern", pattern)
    if below_floor(stored, deposit):
        return Screening("refuse", "", findings, Gate.LENGTH_FLOOR, "too_short")
    return Screening("admit", stored, findings)


def on_damage(deposit: Deposit) -> Outcome:
    """What damaged text comes to: a deposit is kept for a person to see, an upload is refused for its sender to mend.

    A refused page is a failed refresh: the old version stays.
    """
    return "quarantine" if deposit in (Deposit.NOTE, Deposit.AGENT_OUTPUT) else "refuse"


def damaged(rest: Screening) -> Screening:
    """What a damaged deposit comes to. ``rest``: what the other gates made of it with its bad places marked.

    What they would never let in is refused at once.
    """
    outcome: Outcome = "refuse" if rest.outcome == "refuse" else "quarantine"
    return replace(rest, outcome=outcome, gate=Gate.TEXT_DAMAGE, reason="damaged_text", matched=None)


def denied_by(text: str, deny_patterns: Iterable[str]) -> str | None:
    """The first pattern that stands in the redacted text, literally and case by case; None if none does."""
    return next((entry for entry in deny_patterns if (kept := kept_pattern(entry)) and kept in text), None)


def kept_pattern(pattern: str) -> str:
    """The pattern in the one spelling that texts have when it is looked for in them, blanks at its ends included."""
    return clean_text(f"|{pattern}|").text[1:-1]


def check_deny_pattern(pattern: str) -> str:
    """The pattern as it is stored. Raises ValueError for one that is blank, and so in every text, or too long."""
    if len(pattern) > MAX_DENY_PATTERN_CHARACTERS:
        raise ValueError(f"a deny pattern has at most {MAX_DENY_PATTERN_CHARACTERS} characters")
    kept = kept_pattern(pattern)
    if not kept.strip():
        raise ValueError("a deny pattern must not be blank")
    return kept


def below_floor(text: str, deposit: Deposit) -> bool:
    """Whether the text is too short for its way in. Pages have no floor (spec 1.7)."""
    floor = FLOORS[deposit]
    return len(text.strip()) < floor.characters or count_words(text, floor.words) < floor.words
