"""What the routes below ``/v1/memory`` answer, as types; see ``answers``."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from chalicelib.client.answers import Event


class FirewallMode(TypedDict):
    """The tenant's own mode, and the one that counts."""

    mode: str | None
    effective: str


class SourcePolicy(TypedDict):
    """A source's policy with its digest, which is also the ETag."""

    source_id: str
    published: bool
    policy: dict[str, Any]
    policy_digest: str


class ChunkPolicy(TypedDict):
    """What counts for a chunk, and what was said of its text alone."""

    chunk_id: str
    source_id: str
    policy: dict[str, Any]
    policy_digest: str
    own: dict[str, Any] | None


class Evaluation(TypedDict):
    """One decision of the firewall."""

    id: str
    evaluated_at: str
    chunk_id: str
    source_id: str
    version: int | None
    role: str
    purpose: str
    operator: str
    trace_id: str
    decision: str
    reason: str
    policy_digest: str
    mode: str


class Head(TypedDict):
    """A sealed head of a segment of the record; the log has it too."""

    kind: str
    day: str
    row_count: int
    last_hash: str
    seal: str
    key_id: str


class Verification(TypedDict):
    """What of the record was looked at, what was wrong with it, and its sealed heads."""

    tenant_id: str
    ok: bool
    segments: int
    rows: int
    faults: list[dict[str, Any]]
    heads: list[Head]


class ProofVerdict(TypedDict):
    """Whether a proof is ours and unchanged."""

    valid: bool


class Deposit(TypedDict):
    """What came of a text: ``stored``, with the event that embeds it, or ``quarantined``, with the gate."""

    outcome: Literal["stored", "quarantined"]
    source_id: str | None
    event: Event | None
    redactions: int
    quarantine_id: str | None
    gate: str | None


class Held(TypedDict):
    """A text that a gate stopped, redacted; ``cut``: its end is left out, since no answer takes it."""

    id: str
    source_id: str | None
    deposit: str
    gate: str
    reason: str
    title: str | None
    text: str
    cut: bool
    state: str
    created_at: str
    decided_at: str | None


class Patterns(TypedDict):
    """The tenant's deny patterns."""

    patterns: list[str]


class Forgotten(TypedDict):
    """How many rows lost their text."""

    erased: int
