"""The tenant's night, from stored settings."""

from __future__ import annotations

from chalicelib.domain.night_window import NightSettings
from chalicelib.storage.tenants import Tenant


def settings_of(tenant: Tenant) -> NightSettings:
    """The window that the tenant chose."""
    return NightSettings(tenant.night_start, tenant.night_end, tenant.timezone)
