"""The circuit breaker of one provider, for one kind of traffic: pure transitions (spec 3.4).

closed ──5 transient failures in a row──► open (30 s, doubling to 15 min) ──time──► half open: one probe
   ▲                                        ▲                                           │
   └──────────── the probe succeeds ────────┼───────────────────────────────────────────┤
                                            └──────────────── the probe fails ──────────┘
3 configuration or contract failures in a row ──► stopped, until an admin acts.

A 429 or 503 with Retry-After is one of the five, and pauses the circuit for as long as it says: one request then goes
first, and only its success ends the row. The circuit of the other kind of traffic is let alone meanwhile, uncounted.

Only a success ends a row. A result counts against the state under which its request was admitted: one that was sent
before the circuit opened says nothing about the provider afterwards, so a hundred requests in flight open it once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from chalicelib.domain.provider_failure import FailureClass

TRANSIENT_LIMIT, HARD_LIMIT = 5, 3
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(minutes=15)
PROBE_LEASE = timedelta(seconds=15)
"""So long a probe holds the half-open circuit for itself: more than the ten seconds that a request may take."""

Verdict = Literal["go", "probe", "wait", "stopped"]


@dataclass(frozen=True, slots=True)
class Circuit:
    """The state. ``epoch`` rises whenever it opens or closes; ``pauses`` counts openings since the last success."""

    epoch: int = 0
    transient_failures: int = 0
    hard_failures: int = 0
    pauses: int = 0
    open_until: datetime | None = None
    probe_until: datetime | None = None
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Permit:
    """What a request was admitted under; its result is recorded with it."""

    verdict: Verdict
    epoch: int

    @property
    def granted(self) -> bool:
        """Whether the request may be sent."""
        return self.verdict in ("go", "probe")


def admit(circuit: Circuit, now: datetime) -> tuple[Permit, Circuit]:
    """Whether one request may be sent now, and the circuit after that. A probe takes the half-open circuit's place."""
    if circuit.stopped:
        return Permit("stopped", circuit.epoch), circuit
    if circuit.open_until is None:
        return Permit("go", circuit.epoch), circuit
    if now < circuit.open_until or (circuit.probe_until is not None and now < circuit.probe_until):
        return Permit("wait", circuit.epoch), circuit
    return Permit("probe", circuit.epoch), replace(circuit, probe_until=now + PROBE_LEASE)


def succeeded(circuit: Circuit, permit: Permit) -> Circuit:
    """The circuit after an answer that could be used."""
    if permit.epoch != circuit.epoch or circuit.stopped:
        return circuit
    closed = circuit.open_until is None
    return Circuit(epoch=circuit.epoch if closed else circuit.epoch + 1)


def failed(
    circuit: Circuit, permit: Permit, failure: FailureClass, now: datetime, retry_after: timedelta | None = None
) -> Circuit:
    """The circuit after a failure. ``retry_after`` is what the provider asked for, already clamped (RFC 9110, 10.2.3).

    A wait that the provider asked for is kept as it is. It is one failure of the row and no more: it makes no later
    pause longer, and a failure behind it is the next of the row, not that of a circuit which had opened.
    """
    if permit.epoch != circuit.epoch or circuit.stopped:
        return circuit
    if failure is FailureClass.TRANSIENT:
        counted = replace(circuit, transient_failures=circuit.transient_failures + 1)
    else:
        counted = replace(circuit, hard_failures=circuit.hard_failures + 1)
    if counted.hard_failures >= HARD_LIMIT:
        return replace(counted, epoch=circuit.epoch + 1, stopped=True, open_until=None, probe_until=None)
    opens = counted.transient_failures >= TRANSIENT_LIMIT or circuit.pauses > 0
    if not opens and not retry_after:
        if circuit.open_until is None:
            return counted
        return replace(counted, epoch=circuit.epoch + 1, open_until=None, probe_until=None)
    pauses = counted.pauses + 1 if opens else counted.pauses
    wait = max(pause(pauses) if opens else timedelta(0), retry_after or timedelta(0))
    return replace(counted, epoch=circuit.epoch + 1, pauses=pauses, open_until=now + wait, probe_until=None)


def let_alone(circuit: Circuit, until: datetime) -> Circuit:
    """The circuit after the provider asked, on another lane, not to be asked ``until`` then: open, nothing counted."""
    if circuit.stopped or (circuit.open_until is not None and circuit.open_until >= until):
        return circuit
    return replace(circuit, epoch=circuit.epoch + 1, open_until=until, probe_until=None)


def pause(number: int) -> timedelta:
    """How long the circuit stays open the ``number``-th time in a row, from 1."""
    doublings = min(number - 1, 10)
    return min(FIRST_PAUSE * (1 << doublings), LONGEST_PAUSE)
