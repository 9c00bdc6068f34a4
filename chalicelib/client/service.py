"""Routes of the service itself, and of a tenant's settings."""

from __future__ import annotations

from typing import Any

from chalicelib.client import answers
from chalicelib.client.routes import Routes, given


class ServiceRoutes(Routes):
    """Health, description, status, settings."""

    def healthz(self) -> answers.Health:
        """Whether the service and its database answer."""
        return self._get(answers.Health, "/healthz")

    def livez(self) -> answers.Health:
        """Whether the service runs."""
        return self._get(answers.Health, "/livez")

    def readyz(self) -> answers.Ready:
        """Whether the service can do its work. A Problem ``not_ready`` names in ``checks`` what fails."""
        return self._get(answers.Ready, "/readyz")

    def openapi(self) -> dict[str, Any]:
        """The API's own description."""
        return self._get(dict[str, Any], "/v1/openapi.json")

    def show_status(self) -> answers.Status:
        """How the knowledge base is doing."""
        return self._get(answers.Status, "/v1/kb/status")

    def show_settings(self) -> answers.Settings:
        """Window, timezone, cap and enabled."""
        return self._get(answers.Settings, "/v1/kb/settings")

    def change_settings(
        self,
        *,
        night_start: str | None = None,
        night_end: str | None = None,
        timezone: str | None = None,
        nightly_job_cap: int | None = None,
        enabled: bool | None = None,
        memory_require_approval: bool | None = None,
    ) -> answers.Settings:
        """Change what is given; times are ``HH:MM``."""
        changes = given(
            night_start=night_start,
            night_end=night_end,
            timezone=timezone,
            nightly_job_cap=nightly_job_cap,
            enabled=enabled,
            memory_require_approval=memory_require_approval,
        )
        return self._change(answers.Settings, "/v1/kb/settings", changes)
