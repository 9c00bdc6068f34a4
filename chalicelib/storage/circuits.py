"""Circuits in Postgres, so that all replicas agree (spec 3.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Literal
from uuid import UUID

from chalicelib.domain.provider_circuit import Circuit, Permit, admit
from chalicelib.storage.connection import Transaction

Lane = Literal["main", "widget"]
"""What widgets cause is counted apart: a public page must not close a provider for agents."""

_NAMES = tuple(Circuit.__dataclass_fields__)


def admit_all(tx: Transaction, ids: Sequence[UUID], lane: Lane, now: datetime) -> dict[UUID, Permit]:
    """A permit for each provider. Of all that find a circuit half open, one is let through.

    A probe locks its circuit, so they are taken in the order of their ids, as everywhere.
    """
    rows = {row["provider_id"]: row for row in tx.rows("circuits.load", ids=list(ids), lane=lane)}
    return {ident: _admit(tx, ident, lane, _circuit(rows.get(ident)), now) for ident in sorted(ids)}


def mend(tx: Transaction, ident: UUID, lane: Lane, permit: Permit, config_generation: int) -> None:
    """Forget failures of a provider that answered while its circuit was closed, if it is still configured so."""
    tx.run("circuits.mend", id=ident, epoch=permit.epoch, lane=lane, config_generation=config_generation)


def change(
    tx: Transaction,
    ident: UUID,
    lane: Lane,
    transition: Callable[[Circuit], Circuit],
    *,
    failure: str | None,
    reason: str | None,
    now: datetime,
) -> tuple[Circuit, Circuit]:
    """Apply a transition under the row's lock; the circuit before and after. The registration is locked already."""
    tx.run("circuits.make", id=ident, lane=lane)
    before = _circuit(tx.row("circuits.lock", id=ident, lane=lane))
    after = transition(before)
    tx.run("circuits.save", id=ident, lane=lane, **asdict(after), failure=failure, reason=reason, now=now)
    return before, after


def _admit(tx: Transaction, ident: UUID, lane: Lane, circuit: Circuit, now: datetime) -> Permit:
    permit, after = admit(circuit, now)
    if permit.verdict == "probe":
        claim = {"probe_until": after.probe_until, "epoch": circuit.epoch, "now": now}
        if tx.run("circuits.claim_probe", id=ident, lane=lane, **claim) == 0:  # somebody was quicker
            return Permit("wait", circuit.epoch)
    return permit


def _circuit(row: Mapping[str, object] | None) -> Circuit:
    return Circuit() if row is None else Circuit(**{name: row[name] for name in _NAMES})  # type: ignore[arg-type]
