"""Routes of the doctor: how everything is, and what turns a feature on."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from chalicelib.client.routes import Routes


class Check(TypedDict):
    """One thing that was looked at."""

    name: str
    status: Literal["ok", "warning", "failing"]
    detail: str
    facts: dict[str, Any]


class Report(TypedDict):
    """Everything that was looked at; ``status`` is the worst of it."""

    status: Literal["ok", "warning", "failing"]
    checks: list[Check]


class DoctorRoutes(Routes):
    """For admins."""

    def show_doctor(self) -> Report:
        """Look at everything that must be in order."""
        return self._get(Report, "/v1/doctor", as_admin=True)

    def enable_feature(self, feature: str) -> Report:
        """Turn on ``memory-rag`` and prove each part of it."""
        return self._change(Report, "/v1/doctor/features", {"feature": feature})
