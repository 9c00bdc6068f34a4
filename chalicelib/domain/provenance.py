"""Where a text came from, and how far that alone is trusted (spec 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Standing(NamedTuple):
    """What a text gets by default from its origin: a sensitivity tier, and trust from 0 to 100."""

    sensitivity: str
    trust: int


STANDING = {
    "operator_correction": Standing("internal", 95),
    "ingested_document": Standing("internal", 70),
    "companion_note": Standing("confidential", 60),
    "workflow_output": Standing("internal", 50),
    "chat_turn": Standing("internal", 50),
    "consolidated": Standing("internal", 50),
    "external_fetch": Standing("public", 30),
    "unknown": Standing("internal", 50),
}


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a text: a key of STANDING, who produced it, from which URL, and its trust (0–100)."""

    source: str = "unknown"
    producer: str = ""
    url: str = ""
    trust: int = STANDING["unknown"].trust


def standing(source: str) -> Standing:
    """The defaults of an origin; one that isn't listed has those of ``unknown``."""
    return STANDING.get(source, STANDING["unknown"])


def originate(source: str, producer: str = "", url: str = "") -> Provenance:
    """The provenance of a new text, with its origin's trust."""
    return Provenance(source if source in STANDING else "unknown", producer, url, standing(source).trust)
