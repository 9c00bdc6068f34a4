"""``/v1/memory/firewall``: the mode, the record of decisions, its proof; policies of sources and chunks."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from chalicelib.api import fields
from chalicelib.api.resource import Answer, Call, Input, NoQuery, Nothing, Output, Query, Resource
from chalicelib.domain import csv_export, firewall_mode, policy
from chalicelib.domain.cursor import Cursor, encode
from chalicelib.errors import Invalid
from chalicelib.services import evaluations, policies, proofs
from chalicelib.services.evaluations import Filters
from chalicelib.services.proofs import Proof

firewall = Resource("firewall")

EXPORT_ROWS = 5000  # of one CSV answer: under the 6 MB that Lambda may answer
EXPORT_SPAN = timedelta(days=30)

DecisionCode = Literal[
    "allow",
    "block_expired",
    "block_tenant_mismatch",
    "block_role_not_permitted",
    "block_purpose_not_allowed",
    "block_sensitivity_tier",
]


class ModeIn(Input):
    """A mode, or null for the deployment's."""

    mode: str | None


class ModeOut(Output):
    """The tenant's own mode, and the one that counts."""

    mode: str | None
    effective: str


class PolicyIn(Input):
    """Fields to change; what is left out stays. Null and an empty list are different: anybody, and nobody."""

    sensitivity: str | None = None
    expires_at: str | None = None
    permitted_roles: list[str] | None = None
    allowed_purposes: list[str] | None = None


class SourcePolicyIn(PolicyIn):
    """A source's policy, and whether customers may reach what is public of it."""

    published: bool | None = None


class ValidationIn(Input):
    """What a person found; refuted text is read by nobody in any mode."""

    status: Literal["confirmed", "refuted", "unverified"]
    why: fields.Why = ""


class SourcePolicyOut(Output):
    """What a source's policy says, with its digest, which is also the ETag."""

    source_id: UUID
    published: bool
    policy: dict[str, Any]
    policy_digest: str


class ChunkPolicyOut(Output):
    """What counts for a chunk, and what was said of its text alone (null: nothing)."""

    chunk_id: UUID
    source_id: UUID
    policy: dict[str, Any]
    policy_digest: str
    own: dict[str, Any] | None


class EvaluationQuery(Query):
    """Which decisions, which page; by default the last 30 days."""

    limit: fields.PageLimit = 50
    cursor: fields.PageCursor | None = None
    since: fields.Instant | None = None
    until: fields.Instant | None = None
    decision: DecisionCode | None = None
    chunk_id: fields.Uuid | None = None
    role: fields.Name | None = None


class EvaluationOut(Output):
    """One decision."""

    id: UUID
    evaluated_at: datetime
    chunk_id: UUID
    source_id: UUID
    version: int | None
    role: str
    purpose: str
    operator: str
    trace_id: str
    decision: str
    reason: str
    policy_digest: str
    mode: str


class EvaluationPage(Output):
    """A page of decisions, oldest first."""

    items: list[EvaluationOut]
    next_cursor: str | None


class FaultOut(Output):
    """Where the record is not what it was."""

    kind: str
    day: date
    number: int | None
    what: str


class HeadOut(Output):
    """A sealed head of a segment, as the log has it too."""

    kind: str
    day: date
    row_count: int
    last_hash: str
    seal: str
    key_id: str


class VerifyOut(Output):
    """What was looked at, what was wrong with it, and the sealed heads, to compare with the log's."""

    tenant_id: UUID
    ok: bool
    segments: int
    rows: int
    faults: list[FaultOut]
    heads: list[HeadOut]


class ProofIn(Input):
    """A proof as a hit carried it."""

    chunk_id: fields.Uuid
    decision: str
    evaluated_at: fields.Instant
    policy_digest: str
    context: dict[str, str]
    key_id: str
    mac: str


class ProofVerdict(Output):
    """Whether the proof is ours and unchanged."""

    valid: bool


@firewall.route("GET", "/v1/memory/firewall/mode", action="firewall.read", access="read", answers={200: ModeOut})
def show_mode(call: Call[Nothing, NoQuery]) -> Answer:
    """Show the firewall's mode."""
    return Answer(_mode(call, call.who.firewall_mode))


@firewall.route(
    "POST", "/v1/memory/firewall/mode", action="firewall.write", access="write", body=ModeIn, answers={200: ModeOut}
)
def set_mode(call: Call[ModeIn, NoQuery]) -> Answer:
    """Choose the firewall's mode: off, advisory, enforce, or null for the deployment's."""
    word, allowance = policies.set_mode(call.outside, call.who, call.body.mode, call.now)
    return Answer(_mode(call, word), 200, allowance.headers())


@firewall.route(
    "GET",
    "/v1/kb/sources/{source_id}/policy",
    action="firewall.policy.read",
    access="read",
    answers={200: SourcePolicyOut},
)
def show_source_policy(call: Call[Nothing, NoQuery]) -> Answer:
    """Show the policy that a source gives to all its chunks."""
    source, shown = policies.of_source(call.outside, call.who, call.ids["source_id"])
    return Answer(_source_policy(source.id, source.published, shown), 200, _etag(shown.digest))


@firewall.route(
    "POST",
    "/v1/kb/sources/{source_id}/policy",
    action="firewall.policy.write",
    access="write",
    body=SourcePolicyIn,
    answers={200: SourcePolicyOut},
)
def set_source_policy(call: Call[SourcePolicyIn, NoQuery]) -> Answer:
    """Change fields of a source's policy; with If-Match only if it is still the one that was read."""
    given = call.body.model_dump(exclude_unset=True)
    source, shown, allowance = policies.set_on_source(
        call.outside, call.who, call.ids["source_id"], given, call.if_match, call.now
    )
    return Answer(
        _source_policy(source.id, source.published, shown), 200, {**allowance.headers(), **_etag(shown.digest)}
    )


@firewall.route(
    "GET",
    "/v1/memory/chunks/{chunk_id}/policy",
    action="firewall.policy.read",
    access="read",
    answers={200: ChunkPolicyOut},
)
def show_chunk_policy(call: Call[Nothing, NoQuery]) -> Answer:
    """Show what counts for a chunk."""
    found = policies.of_chunk(call.outside, call.who, call.ids["chunk_id"])
    return Answer(_chunk_policy(found), 200, _etag(found.effective.digest))


@firewall.route(
    "POST",
    "/v1/memory/chunks/{chunk_id}/policy",
    action="firewall.policy.write",
    access="write",
    body=PolicyIn,
    answers={200: ChunkPolicyOut},
)
def set_chunk_policy(call: Call[PolicyIn, NoQuery]) -> Answer:
    """Change fields of what is said of a chunk's text, for ever; with If-Match only if it is still as read."""
    given = call.body.model_dump(exclude_unset=True)
    found, allowance = policies.set_on_chunk(
        call.outside, call.who, call.ids["chunk_id"], given, call.if_match, call.now
    )
    return Answer(_chunk_policy(found), 200, {**allowance.headers(), **_etag(found.effective.digest)})


@firewall.route(
    "POST",
    "/v1/memory/chunks/{chunk_id}/validation",
    action="firewall.policy.write",
    access="write",
    body=ValidationIn,
    answers={200: ChunkPolicyOut},
)
def validate_chunk(call: Call[ValidationIn, NoQuery]) -> Answer:
    """Say that a chunk's text is confirmed, refuted or unverified."""
    body = call.body
    found, allowance = policies.validate(
        call.outside, call.who, call.ids["chunk_id"], body.status, body.why, call.if_match, call.now
    )
    return Answer(_chunk_policy(found), 200, {**allowance.headers(), **_etag(found.effective.digest)})


@firewall.route(
    "GET",
    "/v1/memory/firewall/evaluations",
    action="firewall.audit.read",
    access="write",
    query=EvaluationQuery,
    answers={200: EvaluationPage},
)
def list_evaluations(call: Call[Nothing, EvaluationQuery]) -> Answer:
    """List decisions, oldest first."""
    rows, following = _page(call, call.query.limit)
    columns = list(EvaluationOut.model_fields)
    items = [EvaluationOut(**{name: row[name] for name in columns}) for row in rows]
    return Answer(EvaluationPage(items=items, next_cursor=following))


@firewall.route(
    "GET",
    "/v1/memory/firewall/evaluations.csv",
    action="firewall.audit.read",
    access="write",
    query=EvaluationQuery,
    answers={200: "text/csv"},
)
def export_evaluations(call: Call[Nothing, EvaluationQuery]) -> Answer:
    """Export decisions as CSV; where there are more, Link names the next page. The first page has the header line."""
    rows, following = _page(call, EXPORT_ROWS)
    columns = list(EvaluationOut.model_fields)
    header = [columns] if call.query.cursor is None else []
    text = csv_export.lines([*header, *([_plain(row[name]) for name in columns] for row in rows)])
    headers = {"Content-Type": "text/csv; charset=utf-8; header=" + ("present" if header else "absent")}
    if following:
        given = call.query.model_dump(mode="json", exclude_none=True, exclude={"limit", "cursor"})
        headers["Link"] = f"<?{urlencode({**given, 'cursor': following})}>; rel=next"
    return Answer(text, 200, headers)


@firewall.route(
    "GET", "/v1/memory/firewall/verify", action="firewall.audit.read", access="write", answers={200: VerifyOut}
)
def verify_evaluations(call: Call[Nothing, NoQuery]) -> Answer:
    """Walk the chains of decisions and say where one was touched."""
    found = evaluations.verify(call.outside, call.who)
    return Answer(
        VerifyOut(
            tenant_id=call.who.tenant_id,
            ok=not found.faults,
            segments=found.segments,
            rows=found.rows,
            faults=[FaultOut.model_validate(fault) for fault in found.faults],
            heads=[HeadOut.model_validate(head) for head in found.heads],
        )
    )


@firewall.route(
    "POST",
    "/v1/memory/firewall/proofs/verify",
    action="firewall.proofs.read",
    access="read",
    body=ProofIn,
    answers={200: ProofVerdict},
)
def verify_proof(call: Call[ProofIn, NoQuery]) -> Answer:
    """Say whether a proof is ours, this tenant's and unchanged."""
    proof = Proof(**call.body.model_dump())
    ours = proof.context.get("tenant_id") == str(call.who.tenant_id)
    return Answer(ProofVerdict(valid=proofs.verify(call.outside.keys, proof) and ours))


def _mode(call: Call[Any, Any], own: str | None) -> ModeOut:
    configured = call.outside.settings
    counts = firewall_mode.resolve(own, configured.firewall_mode or None, configured.firewall_floor or None)
    return ModeOut(mode=own, effective=str(counts))


def _page(call: Call[Nothing, EvaluationQuery], limit: int) -> tuple[list[dict[str, Any]], str | None]:
    query = call.query
    until = query.until or call.now + timedelta(seconds=1)
    since = query.since or until - EXPORT_SPAN
    if since > until:
        raise Invalid("since: must not be after until", field="since", rule="must not be after until")
    filters = Filters(since, until, query.decision, query.chunk_id, query.role)
    rows = evaluations.page(call.outside, call.who, filters, after=query.cursor, limit=limit + 1)
    if len(rows) <= limit:
        return rows, None
    return rows[:limit], encode(Cursor(rows[limit - 1]["evaluated_at"], rows[limit - 1]["id"]))


def _source_policy(source_id: UUID, published: bool, shown: policies.Shown) -> SourcePolicyOut:
    return SourcePolicyOut(
        source_id=source_id,
        published=published,
        policy=policy.as_json(shown.policy),
        policy_digest=shown.digest,
    )


def _chunk_policy(found: policies.ChunkPolicy) -> ChunkPolicyOut:
    return ChunkPolicyOut(
        chunk_id=found.chunk_id,
        source_id=found.source_id,
        policy=policy.as_json(found.effective.policy),
        policy_digest=found.effective.digest,
        own=policy.as_json(found.own) if found.own else None,
    )


def _etag(digest: str) -> dict[str, str]:
    return {"ETag": f'"{digest}"'}


def _plain(value: object) -> object:
    return policy.instant(value) if isinstance(value, datetime) else value
