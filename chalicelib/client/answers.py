"""What the API answers, as types. Instants are RFC 3339 texts, ids are UUIDs as text.

The names are those of the OpenAPI document without their ``Out``; a test holds every member against it.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, TypedDict, TypeVar

Item = TypeVar("Item")

When = Literal["now", "night"]
Mode = Literal["hybrid", "vector", "keyword"]


class Page(TypedDict, Generic[Item]):
    """Part of a list; ``next_cursor`` is None on the last one."""

    items: list[Item]
    next_cursor: str | int | None


class Results(TypedDict, Generic[Item]):
    """What became of each part of a request, in order."""

    results: list[Item]


class Health(TypedDict):
    """The service answers."""

    status: str


class ReadyCheck(TypedDict):
    """One thing that must be in order."""

    name: str
    status: str


class Ready(TypedDict):
    """Everything that must be in order is."""

    status: str
    checks: list[ReadyCheck]


class Window(TypedDict):
    """The night that is open, or else the next one."""

    open: bool
    night_id: str
    starts_at: str
    ends_at: str
    timezone: str
    timezone_valid: bool


class Cap(TypedDict):
    """The night's job cap and its use."""

    cap: int
    used: int
    waiting: int


class Guard(TypedDict):
    """What the fetch is restricted to."""

    allowlist: list[str] | None
    private_networks: bool


class Status(TypedDict):
    """The knowledge base at a glance. ``sources``, ``suggestions`` and ``queue`` are counts by state."""

    enabled: bool
    sources: dict[str, int]
    suggestions: dict[str, int]
    queue: dict[str, int]
    window: Window
    cap: Cap
    guard: Guard
    last_tick_at: str | None


class Settings(TypedDict):
    """The tenant's settings; times are ``HH:MM`` on the wall in ``timezone``."""

    night_start: str
    night_end: str
    timezone: str
    nightly_job_cap: int
    enabled: bool
    memory_require_approval: bool


class Source(TypedDict):
    """A source and how fresh it is."""

    id: str
    uri: str
    name: str
    type: str
    active: bool
    refresh_ttl_seconds: int
    last_attempt_at: str | None
    last_checked_at: str | None
    last_changed_at: str | None
    last_status: str | None
    last_error: str | None
    etag: str | None
    last_modified: str | None
    current_version: int | None
    stale: bool
    stale_at: str | None
    stale_reason: str | None
    stale_for_seconds: int


class BatchResult(TypedDict):
    """One source of a batch: 201, 200 or the status of ``problem``."""

    index: int
    status: int
    source: Source | None
    problem: dict[str, Any] | None


class Event(TypedDict):
    """One piece of work, from approval to outcome."""

    event_id: str
    source_id: str
    kind: str
    state: str
    when: When
    available_at: str
    approved_at: str
    attempts: int
    outcome: str | None
    error: str | None
    created_at: str
    finished_at: str | None


class Suggestion(TypedDict):
    """A question about a source."""

    id: str
    source_id: str
    source_uri: str | None
    source_name: str | None
    kind: str
    state: str
    reason: str
    detail: dict[str, Any]
    stale_since: str | None
    stale_for_seconds: int | None
    created_at: str
    snoozed_until: str | None
    decided_at: str | None


class Approved(TypedDict):
    """An approved suggestion, and the event if it made one."""

    suggestion_id: str
    event: Event | None


class BulkResult(TypedDict):
    """One suggestion of many: 202, 200 or the status of ``problem``."""

    suggestion_id: str
    status: int
    event: Event | None
    problem: dict[str, Any] | None


class Version(TypedDict):
    """A version, current from ``valid_from`` until, exclusively, ``valid_to``."""

    source_id: str
    version: int
    valid_from: str
    valid_to: str | None
    content_hash: str
    title: str | None
    final_url: str
    character_count: int
    chunk_count: int
    invisible_removed: int
    secrets_redacted: int
    fetched_at: str


class Text(TypedDict):
    """What a source said at an instant."""

    at: str
    version: Version
    text: str
    withheld: int
    policy_warnings: list[str]


class Diff(TypedDict):
    """What lies between two versions."""

    from_version: Version
    to_version: Version
    withheld: int
    policy_warnings: list[str]
    inserted: int
    deleted: int
    coarse: bool
    hunks: list[dict[str, Any]]
    unified: str


class Review(TypedDict):
    """A doubtful text, kept aside, and what lies between the current version and it."""

    suggestion_id: str
    source_id: str
    state: str
    reason: str
    base_version: int | None
    current_version: int | None
    fetched_at: str
    final_url: str
    title: str | None
    language: str | None
    description: str | None
    invisible_removed: int
    secrets_redacted: int
    text: str
    withheld: int
    policy_warnings: list[str]
    inserted: int
    deleted: int
    coarse: bool
    hunks: list[dict[str, Any]]
    unified: str


class Proof(TypedDict):
    """Shows later that the firewall let a chunk pass."""

    chunk_id: str
    decision: str
    evaluated_at: str
    policy_digest: str
    context: dict[str, str]
    key_id: str
    mac: str


class Hit(TypedDict):
    """A chunk and where it comes from."""

    chunk_id: str
    chunk_index: int
    source_id: str
    source_name: str
    source_uri: str
    title: str | None
    version: int
    fetched_at: str
    stale: bool
    score: float
    text: str
    policy_warning: str | None
    proof: Proof


class Search(TypedDict):
    """Hits, best first; ``degraded`` says what was missing."""

    hits: list[Hit]
    degraded: str | None


class Extract(TypedDict):
    """One extract. ``trust`` is on the pack's scale (0 to 1), ``provenance_trust`` on the text's own (0 to 100)."""

    extract: int
    chunk_id: str
    source_id: str
    source_name: str
    source_uri: str
    version: int
    fetched_at: str
    stale: bool
    trust: float
    provenance_trust: int
    policy_digest: str
    policy_warning: str | None
    proof: Proof


class Pack(TypedDict):
    """Evidence for a prompt and its manifest; ``left_out`` says why there is none of the knowledge base."""

    text: str
    manifest: list[Extract]
    left_out: str | None
    degraded: str | None
