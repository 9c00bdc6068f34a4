"""What the doctor looks at of the firewall and the memory behind it: modes, record, texts, quarantine, caches."""

from __future__ import annotations

from datetime import datetime

from chalicelib.domain import firewall_mode
from chalicelib.services import evaluations
from chalicelib.services.doctor_finding import Finding, Look
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal

AUDIT_ROWS = 20_000  # of the newest segments; the whole record is for `larder firewall verify`
TEXTS = 50_000


def _modes(outside: Outside, who: Principal, now: datetime) -> Finding:
    configured = outside.settings
    faults = firewall_mode.faults(
        LARDER_FIREWALL_MODE=configured.firewall_mode,
        LARDER_FIREWALL_FLOOR=configured.firewall_floor,
        tenant=who.firewall_mode,
    )
    mode = firewall_mode.resolve(who.firewall_mode, configured.firewall_mode, configured.firewall_floor)
    facts = {"effective": str(mode), "faults": faults}
    if faults:
        return Finding("failing", "; ".join(faults) + ".", facts)
    if mode is firewall_mode.Mode.OFF:
        return Finding("warning", "The firewall is off: blocked text is served, and written down.", facts)
    return Finding("ok", f"The firewall's mode is {mode}.", facts)


def _gates(outside: Outside, who: Principal, now: datetime) -> Finding:
    if outside.settings.allow_unscanned:
        return Finding("warning", "LARDER_ALLOW_UNSCANNED_MEMORY is set: deposits are not scanned for secrets.")
    return Finding("ok", "Every gate is in force.")


def _record(outside: Outside, who: Principal, now: datetime) -> Finding:
    found = evaluations.verify(outside, who, most_rows=AUDIT_ROWS)
    facts = {"segments": found.segments, "rows": found.rows, "rows_left_out": found.left_out}
    if found.faults:
        first = found.faults[0]
        where = f"{first.kind} of {first.day}" + (f", row {first.number}" if first.number else "")
        return Finding("failing", f"The record of decisions was touched: {first.what}, {where}.", facts)
    left = f"; {found.left_out} older ones are for `larder firewall verify`" if found.left_out else ""
    return Finding("ok", f"{found.rows} decisions are what was written{left}.", facts)


def _damage(outside: Outside, who: Principal, now: datetime) -> Finding:
    with outside.database.transaction(who.tenant_id) as tx:
        row = tx.row("doctor.damage", tenant_id=who.tenant_id, limit=TEXTS)
    assert row is not None
    facts = {**row, "recallable": [str(ident) for ident in row["recallable"]]}
    if row["damaged"]:
        sentence = f"{row['damaged']} of {row['examined']} texts hold control characters: forget or refresh them."
        return Finding("failing", sentence, facts)
    return Finding("ok", f"None of {row['examined']} texts is damaged.", facts)


def _quarantine(outside: Outside, who: Principal, now: datetime) -> Finding:
    with outside.database.transaction(who.tenant_id) as tx:
        held = {row["gate"]: row["held"] for row in tx.rows("memory.quarantine_counts", tenant_id=who.tenant_id)}
    return Finding("ok", f"Texts that wait in quarantine: {sum(held.values())}.", {"held": held})


def _caches(outside: Outside, who: Principal, now: datetime) -> Finding:
    with outside.database.transaction() as tx:
        rows: int = tx.value("doctor.cached")
    most = outside.settings.embedding_cache_rows
    facts = {"embedding_cache_rows": max(rows, 0), "embedding_cache_most": most}
    return Finding("ok", f"The embedding cache holds about {max(rows, 0)} of at most {most} vectors.", facts)


CHECKS: tuple[tuple[str, Look], ...] = (
    ("firewall_modes", _modes),
    ("ingest_gates", _gates),
    ("audit_chain", _record),
    ("memory_text_damage", _damage),
    ("quarantine", _quarantine),
    ("caches", _caches),
)
