"""``/v1/kb/status`` and ``/v1/kb/settings``: these answer also while the knowledge base is switched off."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from chalicelib.api.resource import Answer, Call, Input, NoQuery, Nothing, Output, Resource
from chalicelib.domain.night_window import InvalidNightSetting, parse_time, parse_timezone
from chalicelib.services import status, tenant_settings
from chalicelib.storage.tenants import Tenant

settings = Resource("settings")

T = TypeVar("T")


def _clock(value: Any) -> time:
    return _unprefixed(lambda: parse_time("time", value))


def _zone(value: Any) -> str:
    return _unprefixed(lambda: parse_timezone(value))


def _unprefixed(parse: Callable[[], T]) -> T:
    """The domain's message names the field, and so does the answer to the caller: once is enough."""
    try:
        return parse()
    except InvalidNightSetting as error:
        raise ValueError(str(error).removeprefix(f"{error.field}: ")) from error


Clock = Annotated[
    time,
    BeforeValidator(_clock),
    WithJsonSchema({"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}),
]
Zone = Annotated[str, BeforeValidator(_zone)]


class SettingsIn(Input):
    """Settings to change; what is left out stays."""

    night_start: Clock | None = None
    night_end: Clock | None = None
    timezone: Zone | None = None
    nightly_job_cap: Annotated[int, Field(ge=1, le=10_000)] | None = None
    enabled: bool | None = None
    memory_require_approval: bool | None = None


class SettingsOut(Output):
    """The tenant's settings. Times are wall clock in ``timezone``; equal ones mean the whole day.

    ``memory_require_approval``: whether somebody is asked before a text goes that has an end.
    """

    night_start: str
    night_end: str
    timezone: str
    nightly_job_cap: int
    enabled: bool
    memory_require_approval: bool


class WindowOut(Output):
    """The night that is open, or else the next one."""

    open: bool
    night_id: date
    starts_at: datetime
    ends_at: datetime
    timezone: str
    timezone_valid: bool


class CapOut(Output):
    """The night's job cap: used of it in that night, and events that wait for a night."""

    cap: int
    used: int
    waiting: int


class SourcesCount(Output):
    """Sources by state."""

    active: int


class SuggestionsCount(Output):
    """Suggestions by state."""

    open: int
    approved: int


class QueueCount(Output):
    """Events by state; ``failed`` counts the last seven days."""

    pending: int
    dispatched: int
    running: int
    failed: int


class GuardOut(Output):
    """What the fetch is restricted to."""

    allowlist: list[str] | None
    private_networks: bool


class StatusOut(Output):
    """The tenant's knowledge base at a glance."""

    enabled: bool
    sources: SourcesCount
    suggestions: SuggestionsCount
    queue: QueueCount
    window: WindowOut
    cap: CapOut
    guard: GuardOut
    last_tick_at: datetime | None


@settings.route(
    "GET", "/v1/kb/status", action="kb.status.read", access="read", answers={200: StatusOut}, while_disabled=True
)
def show_status(call: Call[Nothing, NoQuery]) -> Answer:
    """Show how the knowledge base is doing."""
    now = status.show(call.outside, call.who, call.now)
    configured = call.outside.settings
    return Answer(
        StatusOut(
            enabled=now.enabled,
            sources=SourcesCount(active=now.active_sources),
            suggestions=SuggestionsCount(open=now.open_suggestions, approved=now.approved_suggestions),
            queue=QueueCount(**now.queue, failed=now.failed_recently),
            window=WindowOut(
                open=now.window_open,
                night_id=now.night_id,
                starts_at=now.window.starts_at,
                ends_at=now.window.ends_at,
                timezone=now.tenant.timezone,
                timezone_valid=now.timezone_valid,
            ),
            cap=CapOut(cap=now.cap_use.cap, used=now.cap_use.used, waiting=now.cap_use.waiting),
            guard=GuardOut(
                allowlist=list(configured.allowed_domains) or None,
                private_networks=configured.allow_private_networks,
            ),
            last_tick_at=now.last_tick_at,
        )
    )


@settings.route(
    "GET", "/v1/kb/settings", action="kb.settings.read", access="read", answers={200: SettingsOut}, while_disabled=True
)
def show_settings(call: Call[Nothing, NoQuery]) -> Answer:
    """Show window, timezone, cap and enabled."""
    return Answer(_shown(tenant_settings.show(call.outside, call.who)))


@settings.route(
    "POST",
    "/v1/kb/settings",
    action="kb.settings.write",
    access="write",
    body=SettingsIn,
    answers={200: SettingsOut},
    while_disabled=True,
)
def change_settings(call: Call[SettingsIn, NoQuery]) -> Answer:
    """Change settings; what waits for the night moves with the window."""
    changes = tenant_settings.Changes(**call.body.model_dump())
    tenant, allowance = tenant_settings.update(call.outside, call.who, changes, call.now)
    return Answer(_shown(tenant), 200, allowance.headers())


def _shown(tenant: Tenant) -> SettingsOut:
    return SettingsOut(
        night_start=tenant.night_start.strftime("%H:%M"),
        night_end=tenant.night_end.strftime("%H:%M"),
        timezone=tenant.timezone,
        nightly_job_cap=tenant.nightly_job_cap,
        enabled=tenant.enabled,
        memory_require_approval=tenant.memory_require_approval,
    )
