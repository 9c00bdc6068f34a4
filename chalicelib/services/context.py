"""The context pack: evidence for a prompt, through the same door as every read (spec 1.5)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.context_pack import PACK_TRUST, Extract, Packing
from chalicelib.services.enforcement import Reading
from chalicelib.services.outside import Outside
from chalicelib.services.search import Candidate, Hit, Question, search
from chalicelib.services.tokens import Principal

MOST_EXTRACTS = 20


@dataclass(frozen=True, slots=True)
class Packed:
    """The pack's text, the hits in it by extract number, and why there are none: settings, or no room."""

    text: str
    hits: list[Hit]
    trust: float
    left_out: str | None
    degraded: str | None


def pack(outside: Outside, who: Principal, reading: Reading, query: str, max_chars: int, now: datetime) -> Packed:
    """Assemble evidence about ``query``.

    Stored and searchable is not the same as injected: with ``ENABLE_KB_RETRIEVAL`` off, which is the default, extracts
    of the knowledge base are left out and the pack says so. It also says so if it has no room for any.
    """
    trust = PACK_TRUST["kb_extract"]
    if not outside.settings.enable_kb_retrieval:
        return Packed("", [], trust, "kb_retrieval_disabled", None)
    room = _Room(Packing(max_chars, lambda: secrets.token_hex(12)))
    answer = search(outside, who, reading, Question(query, MOST_EXTRACTS, "hybrid"), now, room=room)
    left_out = "no_room" if room.refused and not answer.hits else None
    return Packed(room.packing.text, answer.hits, trust, left_out, answer.degraded)


@dataclass(slots=True)
class _Room:
    """What is left of a pack, asked before a hit is judged: of one that isn't shown nothing is decided."""

    packing: Packing
    refused: int = 0
    _part: str | None = None

    def fits(self, candidate: Candidate) -> bool:
        self._part = self.packing.fenced(Extract(_label(candidate), candidate.text))
        self.refused += self._part is None
        return self._part is not None

    def take(self, _: Candidate) -> None:
        assert self._part is not None, "it was asked about"
        self.packing.take(self._part)


def _label(candidate: Candidate) -> str:
    stale = ", stale" if candidate.stale else ""
    return f"{candidate.source_name}, version {candidate.version}, fetched {candidate.fetched_at:%Y-%m-%d}{stale}"
