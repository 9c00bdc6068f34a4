"""What can go wrong between a client and Larder.

ClientError
├── Unreachable      no answer, or none that Larder gives
├── ApiProblem       the API refused: status, code, detail, extra (RFC 9457)
└── OpsProblem       the operations function refused: code, detail
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MEMBERS = ("type", "title", "status", "detail", "code")


class ClientError(Exception):
    """Root of what this package raises. ``str()`` is fit for a terminal."""

    @property
    def depends_on_where(self) -> bool:
        """Whether another deployment, or other tokens, might have answered otherwise: who sees it may want to look."""
        return True

    def document(self) -> dict[str, Any]:
        """The error as a JSON object; ``code`` and ``detail`` are always there."""
        return {"code": "unreachable", "detail": str(self)}


class Unreachable(ClientError):
    """Nobody answered, or somebody who is not Larder did. Whether a mutation was made is not known."""


class ApiProblem(ClientError):
    """An answer of 300 or more. ``extra`` are the problem's extension members.

    What no problem document came with, such as a gateway's own error, has the code ``http_<status>``.
    ``retry_after`` is in seconds, where the answer said so.
    """

    def __init__(
        self, status: int, code: str, detail: str, extra: Mapping[str, Any], retry_after: float | None = None
    ) -> None:
        super().__init__(f"{detail} ({code})")
        self.status, self.code, self.detail, self.extra = status, code, detail, dict(extra)
        self.retry_after = retry_after

    @classmethod
    def of(cls, document: Mapping[str, Any], *, status: int, retry_after: float | None = None) -> ApiProblem:
        """The problem that ``document`` (RFC 9457) describes; members that are missing are made up from ``status``."""
        code = str(document.get("code") or f"http_{status}")
        detail = str(document.get("detail") or document.get("title") or f"the server answered {status}")
        extra = {name: value for name, value in document.items() if name not in _MEMBERS}
        return cls(status, code, detail, extra, retry_after)

    @property
    def depends_on_where(self) -> bool:
        """Not of what was understood and refused for what it is."""
        return self.status in (401, 403, 404) or self.status >= 500

    def document(self) -> dict[str, Any]:
        """The problem as it came, without ``type`` and ``title``."""
        return {"status": self.status, "code": self.code, "detail": self.detail, **self.extra}


class OpsProblem(ClientError):
    """The operations function did not do what it was asked."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{detail} ({code})")
        self.code, self.detail = code, detail

    def document(self) -> dict[str, Any]:
        """Code and detail."""
        return {"code": self.code, "detail": self.detail}
