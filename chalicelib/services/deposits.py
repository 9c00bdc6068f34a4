"""Ways in besides the refresh: notes and documents, through the same gates, into the same memory (spec 2.4).

What is admitted becomes a source of its own with one version; cutting and embedding it is an event, as with a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from chalicelib.domain import policy_patch, secrets
from chalicelib.domain.clean_text import clean_text
from chalicelib.domain.ingest_gates import Deposit, Gate, Screening, damaged, on_damage, screen
from chalicelib.domain.policy import Policy
from chalicelib.domain.provenance import originate
from chalicelib.domain.text_damage import find_damage, marked
from chalicelib.errors import Invalid
from chalicelib.fetching import extract as extraction
from chalicelib.services import quotas
from chalicelib.services.approvals import schedule
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import events, held_texts
from chalicelib.storage.connection import Transaction
from chalicelib.storage.events import Event
from chalicelib.storage.held_texts import HeldText
from chalicelib.storage.sources import Source

_ORIGIN = {
    Deposit.NOTE: "companion_note",
    Deposit.DOCUMENT: "ingested_document",
    Deposit.AGENT_OUTPUT: "workflow_output",
    Deposit.CONSOLIDATED: "consolidated",
}
_TYPE = {
    Deposit.NOTE: "note",
    Deposit.DOCUMENT: "document",
    Deposit.AGENT_OUTPUT: "document",
    Deposit.CONSOLIDATED: "document",
}


@dataclass(frozen=True, slots=True)
class Offered:
    """What a caller wants remembered, clean. ``policy`` holds the fields of a policy that they named.

    ``damage``: the refusal that a damaged text would have met; its bad places are marked.
    """

    deposit: Deposit
    text: str
    title: str | None
    policy: Mapping[str, Any]
    invisible_removed: int = 0
    damage: Invalid | None = None


@dataclass(frozen=True, slots=True)
class Deposited:
    """Admitted: the source and the event that embeds it. Or held: the id in quarantine, and which gate stopped it."""

    source: Source | None
    event: Event | None
    redactions: int
    quarantine_id: UUID | None = None
    gate: str | None = None


def offered_text(deposit: Deposit, text: str, title: str | None, policy: Mapping[str, Any]) -> Offered:
    """A text as it came in JSON, cleaned. Raises Invalid, naming the first offset, for a damaged upload."""
    refusal = _damage_of(text, title)
    if refusal is not None:
        if on_damage(deposit) == "refuse":
            raise refusal
        text, title = marked(text), title and marked(title)
    cleaned = clean_text(text)
    return Offered(deposit, cleaned.text, _clean(title), policy, cleaned.invisible_removed, refusal)


def offered_document(
    deposit: Deposit, body: bytes, content_type: str, title: str | None, policy: Mapping[str, Any]
) -> Offered:
    """A document as bytes of a type that pages may have. Raises Invalid for one that gives no text."""
    refusal = _damage_of("", title)
    if refusal is not None and on_damage(deposit) == "refuse":
        raise refusal
    try:
        found = extraction.extract(body, content_type)
    except extraction.ExtractionError as error:
        stopped: dict[str, Any] = {"gate": Gate.TEXT_DAMAGE} if error.status == "damaged_text" else {}
        told = f"content: {error.detail or error.status}"
        refusal = Invalid(told, code=error.status, field="content", rule=str(error.status), **stopped)
        if not stopped or on_damage(deposit) == "refuse":
            raise refusal from error
        found = _marked(body, content_type, refusal)
    return Offered(
        deposit, found.text, _clean(title and marked(title)) or found.title, policy, found.invisible_removed, refusal
    )


def _damage_of(text: str, title: str | None) -> Invalid | None:
    for field, value in (("text", text), ("title", title or "")):
        damage = find_damage(value)
        if damage is not None:
            gate = Gate.TEXT_DAMAGE
            return Invalid(f"{field}: {damage}", code="damaged_text", field=field, offset=damage.offset, gate=gate)
    return None


def _marked(body: bytes, content_type: str, refusal: Invalid) -> extraction.Extracted:
    try:
        return extraction.extract_marked(body, content_type)
    except extraction.ExtractionError as error:
        raise refusal from error


def deposit(
    outside: Outside, who: Principal, offered: Offered, *, correlation_id: str | None, now: datetime
) -> tuple[Deposited, quotas.Allowance]:
    """Run the gates and keep what passes. Raises Invalid where nothing was saved, RateLimited."""
    try:
        patch = policy_patch.parse(offered.policy)
    except policy_patch.PolicyError as error:
        raise Invalid(str(error), field=error.field, rule=str(error)) from error
    with quotas.mutation(outside, who, now) as (tx, allowance):
        return take(outside, tx, who, offered, patch, correlation_id, now), allowance


def take(
    outside: Outside,
    tx: Transaction,
    who: Principal,
    offered: Offered,
    patch: policy_patch.PolicyPatch,
    correlation_id: str | None,
    now: datetime,
) -> Deposited:
    """Run the gates, in the caller's transaction. Raises Invalid where nothing may be saved."""
    screening = screened(outside, tx, who, offered)
    if offered.damage is not None:
        screening = damaged(screening)
    if screening.outcome == "admit":
        return keep(outside, tx, who, offered, screening, patch, correlation_id, now)
    if screening.outcome == "quarantine":
        title, policy = offered.title, offered.policy
        held = hold(tx, who.tenant_id, None, offered.deposit, screening, title, policy, now, correlation_id)
        return Deposited(None, None, len(screening.findings), held, screening.gate)
    raise offered.damage or Invalid(
        f"nothing was saved: {screening.reason.replace('_', ' ')}",
        code=screening.reason,
        field="text",
        gate=screening.gate,
    )


def screened(outside: Outside, tx: Transaction, who: Principal, offered: Offered) -> Screening:
    """What the gates say of a text, and of the title beside it, under the tenant's patterns of now."""
    patterns, scan = deny_patterns(tx, who.tenant_id), not outside.settings.allow_unscanned
    return screen(offered.text, offered.deposit, patterns, beside=[offered.title], scan=scan)


@contextmanager
def refusals_logged(
    outside: Outside, who: Principal, deposit: Deposit, *, correlation_id: str | None, now: datetime
) -> Iterator[None]:
    """Whatever a gate refuses in this block leaves a row in the ingest log, and nothing else: no text, no mutation."""
    try:
        yield
    except Invalid as refusal:
        if "gate" in refusal.extra:
            with outside.database.transaction(who.tenant_id) as tx:
                gate, reason = refusal.extra["gate"], refusal.code
                log(tx, who.tenant_id, deposit, "refuse", None, now, correlation_id, gate=gate, reason=reason)
        raise


def deny_patterns(tx: Transaction, tenant_id: UUID) -> list[str]:
    """The tenant's deny patterns, in force for the next text."""
    return [row["pattern"] for row in tx.rows("memory.deny_patterns", tenant_id=tenant_id)]


def hold(
    tx: Transaction,
    tenant_id: UUID,
    source_id: UUID | None,
    deposit: Deposit,
    screening: Screening,
    title: str | None,
    policy: Mapping[str, Any],
    now: datetime,
    correlation_id: str | None = None,
) -> UUID:
    """Keep a stopped text, redacted, for a person to see."""
    held: UUID = tx.value(
        "memory.quarantine",
        tenant_id=tenant_id,
        source_id=source_id,
        deposit=deposit,
        gate=screening.gate,
        reason=screening.reason,
        title=None if title is None else secrets.redact(title).text,
        text=screening.text,
        policy=Jsonb(dict(policy)),
        now=now,
    )
    log(
        tx,
        tenant_id,
        deposit,
        "quarantine",
        source_id,
        now,
        correlation_id,
        gate=screening.gate,
        reason=screening.reason,
        redactions=len(screening.findings),
    )
    return held


def log(
    tx: Transaction,
    tenant_id: UUID,
    deposit: Deposit,
    outcome: str,
    source_id: UUID | None,
    now: datetime,
    correlation_id: str | None,
    *,
    gate: Gate | None = None,
    reason: str = "",
    redactions: int = 0,
) -> None:
    """One row of the ingest log. ``correlation_id``: of the request that brought the text, or approved to fetch it."""
    tx.run(
        "memory.log",
        tenant_id=tenant_id,
        deposit=deposit,
        outcome=outcome,
        gate=gate,
        reason=reason,
        redactions=redactions,
        source_id=source_id,
        now=now,
        correlation_id=correlation_id,
    )


def keep(
    outside: Outside,
    tx: Transaction,
    who: Principal,
    offered: Offered,
    screening: Screening,
    patch: policy_patch.PolicyPatch,
    correlation_id: str | None,
    now: datetime,
) -> Deposited:
    """Make a source of an admitted text, with the policy that its origin and its depositor give it."""
    title = None if offered.title is None else secrets.redact(offered.title).text
    origin = originate(_ORIGIN[offered.deposit], producer=who.operator_name or "")
    source = _source(tx, who, offered.deposit, title, policy_patch.stamp(str(who.tenant_id), origin, patch), now)
    event = publish(tx, source, screening, title, offered.invisible_removed, correlation_id, now)
    outcome, redactions = "admit_unscanned" if outside.settings.allow_unscanned else "admit", len(screening.findings)
    log(tx, who.tenant_id, offered.deposit, outcome, source.id, now, correlation_id, redactions=redactions)
    return Deposited(source, event, redactions)


def publish(
    tx: Transaction,
    source: Source,
    screening: Screening,
    title: str | None,
    invisible_removed: int,
    correlation_id: str | None,
    now: datetime,
) -> Event:
    """Have an admitted text cut, embedded and made the source's version, by the worker."""
    held = HeldText(
        tenant_id=source.tenant_id,
        source_id=source.id,
        reason="deposit",
        base_version=source.current_version,
        text=screening.text,
        title=title,
        language=None,
        description=None,
        canonical_url=None,
        final_url=source.uri,
        invisible_removed=invisible_removed,
        secrets_redacted=len(screening.findings),
        extractor_version=extraction.EXTRACTOR_VERSION,
        secret_rules_version=secrets.SECRET_RULES_VERSION,
        fetched_at=now,
    )
    held_id = held_texts.insert(tx, held)
    return schedule(
        tx, source, "now", correlation_id=correlation_id, now=now, kind=events.PUBLISH, held_text_id=held_id
    ).event


def _source(
    tx: Transaction, who: Principal, deposit: Deposit, title: str | None, stamped: Policy, now: datetime
) -> Source:
    uri = f"{_TYPE[deposit]}:{uuid4()}"
    source = tx.one(
        "sources.insert_deposit",
        Source,
        tenant_id=who.tenant_id,
        uri=uri,
        type=_TYPE[deposit],
        name=title or uri,
        provenance=stamped.provenance.source,
        producer=stamped.provenance.producer,
        trust=stamped.provenance.trust,
        sensitivity=stamped.sensitivity,
        expires_at=stamped.expires_at,
        permitted_roles=None if stamped.permitted_roles is None else sorted(stamped.permitted_roles),
        allowed_purposes=None if stamped.allowed_purposes is None else sorted(stamped.allowed_purposes),
        now=now,
    )
    assert source is not None
    return source


def _clean(title: str | None) -> str | None:
    return (" ".join(clean_text(title).text.split())[:200] or None) if title else None
