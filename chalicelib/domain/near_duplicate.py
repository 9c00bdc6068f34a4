"""Two texts that say nearly the same: which would be kept, and what the pair of them is called (spec 2.6)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chalicelib.domain import policy
from chalicelib.domain.policy import CREDENTIALS, REFUTED, Policy

SIMILARITY = 0.97
"""The least cosine of two embeddings at which their texts are near-duplicates."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text as it stands: a hash in a source. ``since``: when it came there. ``characters``: without its overlap."""

    source_id: UUID
    content_hash: str
    chunk_id: UUID
    characters: int
    since: datetime
    policy: Policy


def keep(one: Candidate, other: Candidate) -> tuple[Candidate, Candidate]:
    """The one to keep and the one to make way: the more trusted is kept, else the longer, else the newer."""
    kept, makes_way = sorted((one, other), key=_standing, reverse=True)
    return kept, makes_way


def may_join(one: Candidate, other: Candidate, now: datetime) -> bool:
    """Whether the two may be proposed: under one policy, and neither credentials, refuted nor at their end.

    Two occurrences of one text in one source are one text.
    """
    same = (one.source_id, one.content_hash) == (other.source_id, other.content_hash)
    return (
        not same and eligible(one.policy, now) and policy.rules_digest(one.policy) == policy.rules_digest(other.policy)
    )


def eligible(said: Policy, now: datetime) -> bool:
    """Whether a text under this policy takes part at all."""
    if said.content_class == CREDENTIALS or said.validation_status == REFUTED:
        return False
    return said.expires_at is None or now < said.expires_at


def pair(one: Candidate, other: Candidate) -> str:
    """The name of the two, whichever is named first: SHA-256, hex."""
    names = sorted(f"{text.source_id}:{text.content_hash}" for text in (one, other))
    return hashlib.sha256(" ".join(names).encode()).hexdigest()


def _standing(text: Candidate) -> tuple[int, int, datetime, UUID]:
    return text.policy.provenance.trust, text.characters, text.since, text.chunk_id
