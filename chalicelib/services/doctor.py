"""The doctor (spec 2.7): looks at everything that must be in order, and says of each thing how it is, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chalicelib.errors import LarderError
from chalicelib.services import doctor_memory, doctor_platform, doctor_providers
from chalicelib.services.doctor_finding import Look, Status
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.telemetry import log_unexpected

_RANK: dict[Status, int] = {"ok": 0, "warning": 1, "failing": 2}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    status: Status
    detail: str
    facts: Mapping[str, Any] = field(default_factory=dict)


def examine(outside: Outside, who: Principal, now: datetime) -> list[Check]:
    """Look at everything; one thing that can't be looked at keeps no other from it."""
    checks = (*doctor_platform.CHECKS, *doctor_memory.CHECKS, *doctor_providers.CHECKS)
    return [look(outside, who, now, *one) for one in checks]


def worst(checks: list[Check]) -> Status:
    """The status of all checks together."""
    return max((check.status for check in checks), key=_RANK.__getitem__, default="ok")


def look(outside: Outside, who: Principal, now: datetime, name: str, at: Look) -> Check:
    """One look; what goes wrong in it is a failing check."""
    try:
        found = at(outside, who, now)
    except LarderError as error:
        return Check(name, "failing", str(error))
    except Exception as error:  # whatever it is, the rest is still worth knowing
        log_unexpected(f"the doctor could not look at {name}", error)
        return Check(name, "failing", f"could not be looked at: {type(error).__name__}")
    return Check(name, *found)
