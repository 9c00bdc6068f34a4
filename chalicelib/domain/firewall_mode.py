"""What is done with a decision: nothing, a warning, or the block (spec 2.2)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from chalicelib.domain.evaluation import Decision


class Mode(StrEnum):
    """From the most lenient to the strictest."""

    OFF = "off"
    ADVISORY = "advisory"
    ENFORCE = "enforce"


DEFAULT = Mode.ADVISORY
_RANK = {mode: rank for rank, mode in enumerate(Mode)}


class Surface(NamedTuple):
    """What the asker sees of a chunk: whether it is served, and the warning that goes with it."""

    served: bool
    warning: str | None = None


_SERVED, _DROPPED = Surface(served=True), Surface(served=False)


def parse(value: str) -> Mode:
    """The mode that a setting names, trimmed and case-folded. Raises ValueError for any other word."""
    try:
        return Mode(value.strip().casefold())
    except ValueError:
        raise ValueError(f"{value!r} is no firewall mode: use {', '.join(Mode)}") from None


def resolve(tenant_override: str | None, environment: str | None, floor: str | None = None) -> Mode:
    """The mode of a request: the tenant's own, else the environment's, else advisory; never below the floor.

    A blank value is unset. A word that is no mode counts as advisory at its level: it wins over the level
    below it, and ``faults`` reports it.
    """
    chosen = _lenient(tenant_override) or _lenient(environment) or DEFAULT
    return max(chosen, _lenient(floor) or Mode.OFF, key=_RANK.__getitem__)


def faults(**settings: str | None) -> list[str]:
    """One sentence for each named setting whose value is no mode; for start-up and the doctor."""
    found = []
    for name, value in settings.items():
        if value and value.strip():
            try:
                parse(value)
            except ValueError as error:
                found.append(f"{name}: {error}; advisory is used")
    return found


def surface(mode: Mode, decision: Decision, *, always_enforce: bool = False) -> Surface:
    """What a mode makes of a decision.

    A hard block drops the chunk in every mode and says nothing. ``always_enforce`` is for routes that lead
    to customers and for provider answers.
    """
    if decision.allowed:
        return _SERVED
    if decision.hard or always_enforce or mode is Mode.ENFORCE:
        return _DROPPED
    return Surface(served=True, warning=f"{decision.code}: {decision.reason}") if mode is Mode.ADVISORY else _SERVED


def _lenient(value: str | None) -> Mode | None:
    if value is None or not value.strip():
        return None
    try:
        return parse(value)
    except ValueError:
        return Mode.ADVISORY
