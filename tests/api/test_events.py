"""Events: one open a source, now or in the night, cancelled while they are not finished."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api import tables
from tests.api.crowd import Crowd
from tests.api.furniture import update
from tests.tenants import Answer, Tenant


def queue(tenant: Tenant, source: str, when: str) -> Answer:
    return tenant.post(f"/v1/kb/sources/{source}/queue", {"when": when})


def listed(tenant: Tenant, query: str = "") -> list[dict[str, Any]]:
    return list(tenant.get(f"/v1/kb/events{query}").json["items"])


@pytest.fixture
def source(ours: Tenant) -> str:
    return str(ours.add("https://a.example")["id"])


def test_now_is_available_at_once(ours: Tenant, source: str) -> None:
    before = datetime.now(UTC)
    answer = queue(ours, source, "now")
    assert (answer.status, answer.json["when"], answer.json["state"]) == (202, "now", "pending")
    assert before <= datetime.fromisoformat(answer.json["available_at"]) <= datetime.now(UTC)
    assert listed(ours) == [answer.json]


def test_night_is_available_when_the_night_starts(ours: Tenant, source: str) -> None:
    now = datetime.now(UTC)
    start = (now + timedelta(hours=2)).replace(second=0, microsecond=0)
    ours.post("/v1/kb/settings", {"night_start": f"{start:%H:%M}", "night_end": f"{start + timedelta(hours=1):%H:%M}"})
    answer = queue(ours, source, "night")
    assert (answer.status, answer.json["when"]) == (202, "night")
    assert datetime.fromisoformat(answer.json["available_at"]) == start
    assert ours.get("/v1/kb/status").json["cap"]["waiting"] == 1


@pytest.mark.parametrize("when", ["now", "night"])
def test_an_open_event_is_returned_and_not_doubled(when: str, ours: Tenant, source: str) -> None:
    first = queue(ours, source, when)
    again = queue(ours, source, "night")
    assert (first.status, again.status) == (202, 200)
    assert again.json == first.json
    assert listed(ours) == [first.json]


def test_now_brings_an_event_forward_that_waits_for_the_night(ours: Tenant, source: str) -> None:
    night = queue(ours, source, "night").json
    answer = queue(ours, source, "now")
    assert (answer.status, answer.json["event_id"], answer.json["when"]) == (200, night["event_id"], "now")
    assert datetime.fromisoformat(answer.json["available_at"]) <= datetime.now(UTC)
    assert answer.json["approved_at"] == night["approved_at"]
    assert ours.get("/v1/kb/status").json["cap"]["waiting"] == 0


@pytest.mark.parametrize("state", ["dispatched", "running"])
def test_an_event_under_way_is_returned_as_it_is(state: str, ours: Tenant, source: str) -> None:
    event = queue(ours, source, "night").json
    update(ours, "kb_events", event["event_id"], state=state)
    answer = queue(ours, source, "now")
    assert (answer.status, answer.json) == (200, {**event, "state": state})


@pytest.mark.parametrize("state", ["done", "failed", "skipped", "cancelled"])
def test_a_finished_event_makes_room_for_the_next(state: str, ours: Tenant, source: str) -> None:
    event = queue(ours, source, "night").json
    update(ours, "kb_events", event["event_id"], state=state, finished_at=datetime.now(UTC))
    answer = queue(ours, source, "now")
    assert answer.status == 202
    assert answer.json["event_id"] != event["event_id"]


@pytest.mark.parametrize("when", ["now", "night"])
def test_a_source_that_is_off_is_not_queued(when: str, ours: Tenant, source: str) -> None:
    ours.post(f"/v1/kb/sources/{source}/toggle", {"active": False})
    before = tables.dump(ours.deployment)
    answer = queue(ours, source, when)
    assert (answer.status, answer.json["code"]) == (409, "source_inactive")
    assert tables.changed(before, tables.dump(ours.deployment)) == []


def test_sixteen_callers_at_once_make_one_event(crowd: Crowd, ours: Tenant, source: str) -> None:
    answers = crowd.rush(lambda number: queue(ours, source, ("now", "night")[number % 2]))
    assert sorted(answer.status for answer in answers) == [200] * 15 + [202]
    assert len({answer.json["event_id"] for answer in answers}) == 1
    (event,) = listed(ours)
    assert event["when"] == "now", "whoever asked for now gets it now"


def test_whatever_waits_wakes_the_dispatcher_in_time(ours: Tenant, source: str) -> None:
    def next_at() -> datetime:
        with tables.superuser(ours.deployment) as connection:
            row = connection.execute("select next_at from kb_run_queue where tenant_id = %s", (ours.id,)).fetchone()
            assert row is not None
            moment: datetime = row[0]
            return moment

    night = queue(ours, source, "night").json
    assert next_at() == datetime.fromisoformat(night["available_at"])
    now = queue(ours, source, "now").json
    assert next_at() == datetime.fromisoformat(now["available_at"])


@pytest.mark.parametrize("state", ["pending", "dispatched", "running"])
def test_what_is_not_finished_can_be_cancelled(state: str, ours: Tenant, source: str) -> None:
    event = queue(ours, source, "now").json["event_id"]
    update(ours, "kb_events", event, state=state)
    answer = ours.post(f"/v1/kb/events/{event}/cancel")
    assert (answer.status, answer.json["state"]) == (200, "cancelled")
    assert answer.json["finished_at"] is not None
    assert queue(ours, source, "now").status == 202


@pytest.mark.parametrize("state", ["done", "failed", "skipped", "cancelled"])
def test_what_is_finished_cannot(state: str, ours: Tenant, source: str) -> None:
    event = queue(ours, source, "now").json["event_id"]
    update(ours, "kb_events", event, state=state, finished_at=datetime.now(UTC))
    before = tables.dump(ours.deployment)
    answer = ours.post(f"/v1/kb/events/{event}/cancel")
    assert (answer.status, answer.json["code"], answer.json["state"]) == (409, "event_finished", state)
    assert tables.changed(before, tables.dump(ours.deployment)) == []


def test_sixteen_cancellations_at_once_cancel_once(crowd: Crowd, ours: Tenant, source: str) -> None:
    event = queue(ours, source, "now").json["event_id"]
    answers = crowd.rush(lambda _: ours.post(f"/v1/kb/events/{event}/cancel"))
    assert sorted(answer.status for answer in answers) == [200] + [409] * 15


def test_events_are_listed_newest_first_and_each_once(ours: Tenant) -> None:
    made = [ours.add(f"https://{number}.example")["id"] for number in range(7)]
    ids = [queue(ours, source, "now").json["event_id"] for source in made]
    seen, cursor = [], ""
    while True:
        page = ours.get(f"/v1/kb/events?limit=3{cursor}").json
        seen += [event["event_id"] for event in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == ids[::-1]


def test_events_are_filtered_by_state_and_source(ours: Tenant, source: str, theirs: Tenant) -> None:
    other = ours.add("https://b.example")["id"]
    old = queue(ours, source, "now").json["event_id"]
    ours.post(f"/v1/kb/events/{old}/cancel")
    new, elsewhere = (queue(ours, one, "night").json["event_id"] for one in (source, other))

    def ids(query: str) -> list[str]:
        return [event["event_id"] for event in listed(ours, query)]

    assert ids("?state=cancelled") == [old]
    assert ids("?state=pending") == [elsewhere, new]
    assert ids(f"?source_id={source}") == [new, old]
    assert ids(f"?source_id={source.upper()}&state=pending") == [new]
    assert ids("?state=done") == []
    assert ids(f"?source_id={theirs.add('https://a.example')['id']}") == []
