"""The context pack: evidence for a prompt, through the same door as every read (spec 1.5)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain import context_pack
from chalicelib.domain.context_pack import PACK_TRUST, Extract
from chalicelib.services.enforcement import Reading
from chalicelib.services.outside import Outside
from chalicelib.services.search import Hit, Question, search
from chalicelib.services.tokens import Principal

MOST_EXTRACTS = 20


@dataclass(frozen=True, slots=True)
class Packed:
    """The pack's text, the hits in it by extract number, and why there are none, where that is a matter of settings."""

    text: str
    hits: list[Hit]
    trust: float
    left_out: str | None
    degraded: str | None


def pack(outside: Outside, who: Principal, reading: Reading, query: str, max_chars: int, now: datetime) -> Packed:
    """Assemble evidence about ``query``.

    Stored and searchable is not the same as injected: with ``ENABLE_KB_RETRIEVAL`` off, which is the default, extracts
    of the knowledge base are left out and the pack says so.
    """
    trust = PACK_TRUST["kb_extract"]
    if not outside.settings.enable_kb_retrieval:
        return Packed("", [], trust, "kb_retrieval_disabled", None)
    answer = search(outside, who, reading, Question(query, MOST_EXTRACTS, "hybrid"), now)
    extracts = [Extract(_label(hit), hit.candidate.text) for hit in answer.hits]
    packed = context_pack.assemble(extracts, max_chars, lambda: secrets.token_hex(12))
    return Packed(packed.text, [answer.hits[position] for position in packed.included], trust, None, answer.degraded)


def _label(hit: Hit) -> str:
    candidate = hit.candidate
    stale = ", stale" if candidate.stale else ""
    return f"{candidate.source_name}, version {candidate.version}, fetched {candidate.fetched_at:%Y-%m-%d}{stale}"
