"""Settings and status: what is named changes, what waits moves along, and both answer while the rest is off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID

import pytest

from chalicelib import bootstrap
from chalicelib.api.resource import Route
from chalicelib.domain.night_window import NightSettings, next_start
from tests.api import contract, tables
from tests.api.furniture import furnish, update
from tests.tenants import Deployment, Tenant

DEFAULTS = {
    "night_start": "22:00",
    "night_end": "06:00",
    "timezone": "UTC",
    "nightly_job_cap": 50,
    "enabled": True,
    "memory_require_approval": False,
}


@pytest.mark.parametrize(
    "change",
    [
        {"night_start": "00:00"},
        {"night_end": "23:59"},
        {"timezone": "America/Argentina/Buenos_Aires"},
        {"nightly_job_cap": 1},
        {"nightly_job_cap": 10_000},
        {"enabled": False},
        {"night_start": "04:00", "night_end": "04:00"},
        {},
    ],
)
def test_what_is_named_changes_and_the_rest_stays(change: dict[str, Any], ours: Tenant) -> None:
    assert ours.get("/v1/kb/settings").json == DEFAULTS
    answer = ours.post("/v1/kb/settings", change)
    assert (answer.status, answer.json) == (200, {**DEFAULTS, **change})
    assert ours.get("/v1/kb/settings").json == {**DEFAULTS, **change}


def test_another_tenants_settings_stay(ours: Tenant, theirs: Tenant) -> None:
    ours.post("/v1/kb/settings", {"timezone": "Asia/Tokyo", "enabled": False})
    assert theirs.get("/v1/kb/settings").json == DEFAULTS


def test_what_waits_for_the_night_moves_with_the_window(ours: Tenant) -> None:
    sources = [ours.add(f"https://{name}.example")["id"] for name in "ab"]
    waiting = ours.post(f"/v1/kb/sources/{sources[0]}/queue", {"when": "night"}).json["event_id"]
    due = ours.post(f"/v1/kb/sources/{sources[1]}/queue", {"when": "now"}).json
    before = datetime.now(UTC)
    ours.post("/v1/kb/settings", {"night_start": "03:00", "timezone": "Asia/Kathmandu"})
    events = {event["event_id"]: event for event in ours.get("/v1/kb/events").json["items"]}
    start = next_start(NightSettings(time(3), time(6), "Asia/Kathmandu"), before)
    assert datetime.fromisoformat(events[waiting]["available_at"]) == start
    assert events[due["event_id"]]["available_at"] == due["available_at"]


def test_a_change_that_leaves_the_window_moves_nothing(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    event = ours.post(f"/v1/kb/sources/{source}/queue", {"when": "night"}).json
    elsewhere = datetime.now(UTC) + timedelta(days=3)
    update(ours, "kb_events", event["event_id"], available_at=elsewhere)
    ours.post("/v1/kb/settings", {"nightly_job_cap": 7, "night_start": "22:00"})
    (after,) = ours.get("/v1/kb/events").json["items"]
    assert datetime.fromisoformat(after["available_at"]) == elsewhere


def test_status_counts_what_there_is(ours: Tenant) -> None:
    names = [ours.add(f"https://{name}.example")["id"] for name in "abcde"]
    ours.post(f"/v1/kb/sources/{names[4]}/toggle", {"active": False})
    ours.get("/v1/kb/suggestions")
    events = [
        ours.post(f"/v1/kb/sources/{source}/queue", {"when": when}).json["event_id"]
        for source, when in zip(names[:3], ("now", "night", "now"), strict=True)
    ]
    update(ours, "kb_events", events[0], state="running")
    update(ours, "kb_events", events[2], state="failed")
    status = ours.get("/v1/kb/status").json
    assert status["enabled"] is True
    assert status["sources"] == {"active": 4}
    assert status["queue"] == {"pending": 1, "dispatched": 0, "running": 1, "failed": 1}
    assert status["cap"] == {"cap": 50, "used": 0, "waiting": 1}
    assert status["suggestions"]["open"] == 4
    assert status["window"]["timezone"] == "UTC"
    assert status["window"]["timezone_valid"] is True
    assert status["guard"] == {"allowlist": None, "private_networks": False}


def test_status_counts_only_failures_of_the_last_seven_days(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    event = ours.post(f"/v1/kb/sources/{source}/queue", {"when": "now"}).json["event_id"]
    update(ours, "kb_events", event, state="failed", created_at=datetime.now(UTC) - timedelta(days=8))
    assert ours.get("/v1/kb/status").json["queue"]["failed"] == 0


def test_status_tells_the_window_that_is_open(ours: Tenant) -> None:
    now = datetime.now(UTC)
    start, end = now - timedelta(hours=1), now + timedelta(hours=2)
    ours.post("/v1/kb/settings", {"night_start": f"{start:%H:%M}", "night_end": f"{end:%H:%M}"})
    window = ours.get("/v1/kb/status").json["window"]
    assert window["open"] is True
    assert datetime.fromisoformat(window["starts_at"]) <= now < datetime.fromisoformat(window["ends_at"])
    assert window["night_id"] == f"{start:%Y-%m-%d}"


def test_a_stored_timezone_that_no_longer_exists_is_told_and_breaks_nothing(ours: Tenant) -> None:
    update(ours, "tenants", ours.id, timezone="Europe/Atlantis")
    status = ours.get("/v1/kb/status")
    assert (status.status, status.json["window"]["timezone_valid"]) == (200, False)
    assert ours.post("/v1/kb/settings", {"timezone": "Europe/Athens"}).status == 200


# --- Switched off ---


WAYS = ["by the deployment", "by the tenant"]


@dataclass(frozen=True)
class Closed:
    """A tenant whose knowledge base is off, and the ids of what it has. That nothing of it changes, tests show."""

    tenant: Tenant
    ids: dict[str, UUID]


@pytest.fixture(scope="module")
def closed(shared: Deployment) -> dict[str, Closed]:
    found = {way: Closed(tenant, furnish(tenant)) for way in WAYS for tenant in [shared.tenant(f"off {way}")]}
    switched_off = found["by the tenant"].tenant
    update(switched_off, "tenants", switched_off.id, enabled=False)
    return found


@pytest.fixture(params=WAYS)
def off(request: pytest.FixtureRequest, closed: dict[str, Closed], monkeypatch: pytest.MonkeyPatch) -> Closed:
    found = closed[request.param]
    if request.param == "by the deployment":
        outside = found.tenant.deployment.outside
        switched_off = replace(outside, settings=replace(outside.settings, enable_kb=False))
        monkeypatch.setattr(bootstrap, "outside", lambda: switched_off)
    return found


CLOSED = contract.tenant_routes()


@pytest.mark.parametrize("route", [r for r in CLOSED if not r.while_disabled], ids=contract.title)
def test_while_off_a_route_answers_that_it_is_off(route: Route, off: Closed, shared: Deployment) -> None:
    before = tables.dump(shared)
    path = route.path.format(**off.ids) + contract.query_for(route)
    answer = shared.request(route.method, path, off.tenant._headers(), contract.body_for(route))
    assert (answer.status, answer.json["code"]) == (409, "kb_disabled")
    assert tables.changed(before, tables.dump(shared)) == []


def test_only_status_and_settings_answer_while_off() -> None:
    answering = {contract.title(route) for route in CLOSED if route.while_disabled}
    assert answering == {"GET /v1/kb/status", "GET /v1/kb/settings", "POST /v1/kb/settings"}


def test_while_off_status_says_so_and_settings_can_be_changed(off: Closed) -> None:
    assert off.tenant.get("/v1/kb/status").json["enabled"] is False
    assert off.tenant.post("/v1/kb/settings", {"nightly_job_cap": 5}).json["nightly_job_cap"] == 5


def test_while_off_a_caller_without_a_token_is_told_nothing(off: Closed, shared: Deployment) -> None:
    assert shared.request("GET", "/v1/kb/sources", {}).status == 401
    assert off.tenant.read_only("POST", "/v1/kb/sources", {"uri": "https://a.example"}).status == 403


@pytest.mark.usefixtures("off")
def test_health_answers_while_off(shared: Deployment) -> None:
    assert shared.request("GET", "/healthz", {}).json == {"status": "ok"}


def test_a_tenant_switches_itself_off_and_on_again(ours: Tenant, theirs: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    ours.post(f"/v1/kb/sources/{source}/queue", {"when": "night"})
    with tables.superuser(ours.deployment) as connection:  # as the dispatcher does with a tenant that is off
        connection.execute("update kb_run_queue set next_at = 'infinity' where tenant_id = %s", (ours.id,))
    assert ours.post("/v1/kb/settings", {"enabled": False}).json["enabled"] is False
    assert ours.get("/v1/kb/sources").status == 409
    assert theirs.get("/v1/kb/sources").status == 200
    assert ours.post("/v1/kb/settings", {"enabled": True}).json["enabled"] is True
    assert [event["state"] for event in ours.get("/v1/kb/events").json["items"]] == ["pending"]
    with tables.superuser(ours.deployment) as connection:
        awake = connection.execute(
            "select next_at <= now() from kb_run_queue where tenant_id = %s", (ours.id,)
        ).fetchone()
    assert awake == (True,), "the dispatcher looks at it again"


def test_the_deployments_switch_is_not_the_tenants_to_turn(shared: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = shared.tenant("under a switch")
    outside = replace(shared.outside, settings=replace(shared.outside.settings, enable_kb=False))
    monkeypatch.setattr(bootstrap, "outside", lambda: outside)
    assert tenant.post("/v1/kb/settings", {"enabled": True}).json["enabled"] is True
    assert tenant.get("/v1/kb/status").json["enabled"] is False
    assert tenant.get("/v1/kb/sources").status == 409
