"""The texts of a proposal as the firewall judges them. Whoever reads them here asks ``enforcement.admit`` next."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from chalicelib.domain.policy import Policy
from chalicelib.services import enforcement
from chalicelib.services.proposals import Proposal
from chalicelib.storage.connection import Transaction


@dataclass(frozen=True, slots=True)
class Passage:
    """One text. ``part``: ``kept``, ``other``, or ``written``, which is no chunk and bears the proposal's id."""

    part: str
    chunk_id: UUID
    source_id: UUID
    version: int | None
    policy: Policy
    source_name: str
    text: str = field(repr=False)


def read(tx: Transaction, asked: Proposal) -> list[Passage]:
    """The two texts as they stand or stood last, under the policies that count now; a forgotten one is left out."""
    sources, hashes = [source for source, _ in asked.texts], [digest for _, digest in asked.texts]
    return [
        Passage(
            row["part"],
            row["chunk_id"],
            row["source_id"],
            row["version"],
            enforcement.policy_of(row),
            row["source_name"],
            row["text"],
        )
        for row in tx.rows("consolidation.texts", sources=sources, hashes=hashes)
    ]
