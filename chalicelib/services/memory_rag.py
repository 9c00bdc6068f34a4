"""The feature memory-rag: turns on what a tenant can turn on of the gates and the door, and proves each by a probe.

What the deployment's settings turn off is told: only its operator can turn it on. No probe leaves anything behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from chalicelib.domain import firewall_mode
from chalicelib.domain.evaluation import DEFAULT_PURPOSE, Request
from chalicelib.domain.firewall_mode import Mode
from chalicelib.domain.ingest_gates import Deposit, screen
from chalicelib.domain.policy import Policy
from chalicelib.errors import Invalid
from chalicelib.services import deposits, enforcement, policies, proofs
from chalicelib.services.doctor import Check, look
from chalicelib.services.doctor_finding import Finding, Look
from chalicelib.services.enforcement import Reading
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Transaction

NOTE = "The boiler in the cellar is serviced twice a year by two people, who write down what they find."
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
DENIED = "larder-probe-that-is-denied"


class _Undone(Exception):
    """Ends a probe that wrote: nothing of it stays."""


@dataclass(frozen=True, slots=True)
class _Probe:
    """A chunk that was never stored, as the firewall judges it."""

    policy: Policy
    chunk_id: UUID
    source_id: UUID
    version: int | None = None


def enable(outside: Outside, who: Principal, now: datetime) -> list[Check]:
    """Turn it on; how each part is, once its probe has run."""
    return [look(outside, who, now, *part) for part in PARTS]


def _damaged_text(outside: Outside, who: Principal, now: datetime) -> Finding:
    try:
        deposits.offered_text(Deposit.DOCUMENT, f"{NOTE}\x00", None, {})
    except Invalid as problem:
        return Finding("ok", "A document with a control character was refused.", {"code": problem.code})
    return Finding("failing", "A document with a control character passed.")


def _secret_scan(outside: Outside, who: Principal, now: datetime) -> Finding:
    if outside.settings.allow_unscanned:
        return Finding("failing", "LARDER_ALLOW_UNSCANNED_MEMORY turns the scan off for the whole deployment.")
    screened = screen(f"{NOTE} The token is {SECRET} for now.", Deposit.NOTE)
    if screened.outcome != "admit" or SECRET in screened.text or "[REDACTED:github_token]" not in screened.text:
        return Finding("failing", "A token in a note was not redacted.")
    return Finding("ok", "A token in a note was redacted.")


def _deny_patterns(outside: Outside, who: Principal, now: datetime) -> Finding:
    with outside.database.transaction(who.tenant_id) as tx:
        own = deposits.deny_patterns(tx, who.tenant_id)
    facts = {"patterns": len(own)}
    if screen(f"{NOTE} {DENIED}", Deposit.NOTE, [*own, DENIED]).outcome != "quarantine":
        return Finding("failing", "A note with a denied word passed.", facts)
    return Finding("ok", f"A note with a denied word was stopped; {len(own)} patterns are in force.", facts)


def _length_floor(outside: Outside, who: Principal, now: datetime) -> Finding:
    if screen("Two words", Deposit.NOTE).reason != "too_short":
        return Finding("failing", "A note of two words passed.")
    return Finding("ok", "A note of two words was refused.")


def _quarantine(outside: Outside, who: Principal, now: datetime) -> Finding:
    redacted = None
    screened = screen(f"{NOTE} {DENIED} {SECRET}", Deposit.NOTE, [DENIED])
    with outside.database.transaction(who.tenant_id) as tx:
        try:
            with tx.savepoint():
                held = deposits.hold(tx, who.tenant_id, None, Deposit.NOTE, screened, None, {}, now)
                redacted = tx.value("doctor.held_without", id=held, word=SECRET)
                raise _Undone
        except _Undone:
            pass
    if not redacted:
        return Finding("failing", "A stopped text was not held, or not redacted.")
    return Finding("ok", "A stopped text was held, redacted.")


def _firewall(outside: Outside, who: Principal, now: datetime) -> Finding:
    configured = outside.settings
    mode = firewall_mode.resolve(who.firewall_mode, configured.firewall_mode, configured.firewall_floor)
    turned_on = mode is Mode.OFF
    if turned_on:
        policies.set_mode(outside, who, str(Mode.ADVISORY), now)
        mode = Mode.ADVISORY
    for_customers = _judge(outside, who, mode, now, always_enforce=True)
    shown = _judge(outside, who, mode, now, always_enforce=False)
    warned = [one.warning for one in shown if one.warning]
    if for_customers or (mode is Mode.ENFORCE and shown) or (mode is Mode.ADVISORY and not warned):
        return Finding("failing", "A restricted chunk was served to nobody in particular.")
    what = "dropped" if mode is Mode.ENFORCE else "served with a warning, and to customers not at all"
    was = "The firewall was off; its mode is" if turned_on else "The firewall's mode is"
    return Finding("ok", f"{was} {mode}: a restricted chunk was {what}.", {"mode": str(mode), "turned_on": turned_on})


def _record(outside: Outside, who: Principal, now: datetime) -> Finding:
    served = _judge(outside, who, Mode.OFF, now, always_enforce=False)
    if not served or not proofs.verify(outside.keys, served[0].proof):
        return Finding("failing", "The proof of a served chunk does not verify.")
    return Finding("ok", "A decision was written down, and its proof verifies.")


def _judge(
    outside: Outside, who: Principal, mode: Mode, now: datetime, *, always_enforce: bool
) -> Sequence[enforcement.Served[_Probe]]:
    """What the door makes of a restricted chunk; its row of the record is written and undone."""
    tenant = str(who.tenant_id)
    reading = Reading(Request(tenant, "", DEFAULT_PURPOSE, ""), mode, "doctor", always_enforce)
    probe = _Probe(Policy(tenant, "restricted"), uuid4(), uuid4())
    served: list[enforcement.Served[_Probe]] = []
    with outside.database.transaction(who.tenant_id) as tx:
        try:
            with tx.savepoint():
                served = enforcement.admit(outside, tx, reading, [probe], wanted=None, now=now)
                if not _recorded(tx, who, probe):
                    return []
                raise _Undone
        except _Undone:
            return served


def _recorded(tx: Transaction, who: Principal, probe: _Probe) -> bool:
    return bool(tx.value("doctor.recorded", tenant_id=who.tenant_id, chunk_id=probe.chunk_id))


def _retrieval(outside: Outside, who: Principal, now: datetime) -> Finding:
    if not outside.settings.enable_kb_retrieval:
        return Finding("warning", "ENABLE_KB_RETRIEVAL is off: context packs leave the knowledge base out.")
    return Finding("ok", "Context packs may hold extracts of the knowledge base.")


PARTS: tuple[tuple[str, Look], ...] = (
    ("damaged_text", _damaged_text),
    ("secret_scan", _secret_scan),
    ("deny_patterns", _deny_patterns),
    ("length_floor", _length_floor),
    ("quarantine", _quarantine),
    ("firewall", _firewall),
    ("record", _record),
    ("retrieval", _retrieval),
)
