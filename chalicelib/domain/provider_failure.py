"""Why a provider gave no answer that can be used, in three classes that are treated apart (spec 3.4)."""

from __future__ import annotations

from enum import StrEnum


class FailureClass(StrEnum):
    """What a failure says about the provider, and so what follows from it."""

    TRANSIENT = "transient"
    """It may pass by itself: timeout, connection, 429, 5xx."""

    CONFIGURATION = "configuration"
    """Somebody must change something: 401, 403, a certificate, an address that may not be connected to."""

    CONTRACT = "contract"
    """What came is no answer of the contract: malformed, unsupported, a redirect, 404, 202, 204."""


STATUS_WORDS = {
    FailureClass.TRANSIENT: "timeout",
    FailureClass.CONFIGURATION: "config_error",
    FailureClass.CONTRACT: "contract_error",
}
"""The word for an agent that asks how the providers did (spec 3.5)."""

_TRANSIENT = frozenset({408, 425, 429})
_CONFIGURATION = frozenset({401, 403, 407})


def of_status(status: int) -> FailureClass | None:
    """The class of an HTTP status; None for 200, the only one that an answer has."""
    if status == 200:
        return None
    if status in _TRANSIENT or status >= 500:
        return FailureClass.TRANSIENT
    return FailureClass.CONFIGURATION if status in _CONFIGURATION else FailureClass.CONTRACT
