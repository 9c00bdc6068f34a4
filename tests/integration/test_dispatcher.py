"""The dispatcher: nothing before its time, nothing over the cap, nobody starved, nothing lost."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

import pytest

from chalicelib.services import scheduling, sources, suggestions, tenancy, tenant_settings, work
from tests.integration import rows
from tests.tenants import Deployment, Tenant

DAY = rows.instant("2026-11-29T12:00:00")
NIGHT = rows.instant("2026-11-29T22:00:00")


def tick(deployment: Deployment, now: datetime) -> list[str]:
    """One tick; the ids that it sent."""
    before = len(deployment.queue.messages)
    scheduling.tick(deployment.worker, now=now)
    return [str(message.event_id) for message in deployment.queue.messages[before:]]


def test_an_approved_event_is_dispatched_at_the_nights_start_and_not_before(deployment: Deployment) -> None:
    acme = deployment.tenant()
    event = rows.queue(deployment, acme, rows.add(deployment, acme, "http://a.example.com/", DAY), "night", DAY)
    assert event.available_at == NIGHT
    assert tick(deployment, DAY) == []
    assert tick(deployment, NIGHT - timedelta(microseconds=1)) == []
    assert tick(deployment, NIGHT) == [str(event.id)]
    assert tick(deployment, NIGHT) == []


def test_now_goes_at_once_outside_the_window_and_uses_no_cap(deployment: Deployment) -> None:
    acme = deployment.tenant()
    event = rows.queue(deployment, acme, rows.add(deployment, acme, "http://a.example.com/", DAY), "now", DAY)
    assert tick(deployment, DAY) == [str(event.id)]
    assert rows.sql(deployment, "select * from kb_night_use where used > 0") == []


def test_the_cap_bounds_a_night_and_the_rest_waits_in_order_of_approval(deployment: Deployment) -> None:
    acme = deployment.tenant()
    rows.set_window(deployment, acme, "22:00", "06:00", cap=3)
    events = [
        rows.queue(deployment, acme, source, "night", DAY + timedelta(seconds=number))
        for number, source in enumerate(rows.add_many(deployment, acme, 5, DAY))
    ]
    assert tick(deployment, NIGHT) == [str(event.id) for event in events[:3]]
    assert tick(deployment, NIGHT + timedelta(hours=1)) == []
    assert [rows.event(deployment, event.id)["available_at"] for event in events[3:]] == [NIGHT + timedelta(days=1)] * 2
    assert tick(deployment, NIGHT + timedelta(days=1)) == [str(event.id) for event in events[3:]]


def test_an_event_counts_once_a_night_whatever_is_retried_or_recovered(deployment: Deployment) -> None:
    acme = deployment.tenant()
    rows.set_window(deployment, acme, "22:00", "06:00", cap=1)
    source = rows.add(deployment, acme, "http://a.example.com/", DAY)
    event = rows.queue(deployment, acme, source, "night", DAY)
    for minute in range(3):
        assert tick(deployment, NIGHT + timedelta(minutes=minute)) == [str(event.id)]
        rows.sql(deployment, "update kb_events set state = 'pending', dispatched_at = null where id = %s", event.id)
    assert rows.sql(deployment, "select used from kb_night_use") == [{"used": 1}]


def test_eight_ticks_at_once_neither_overrun_the_cap_nor_send_twice(deployment: Deployment) -> None:
    acme = deployment.tenant()
    rows.set_window(deployment, acme, "22:00", "06:00", cap=17)
    for source in rows.add_many(deployment, acme, 40, DAY):
        rows.queue(deployment, acme, source, "night", DAY)
    workers = [deployment.build("larder_worker") for _ in range(8)]
    for minute in range(3):
        threads = [
            threading.Thread(target=scheduling.tick, args=(worker,), kwargs={"now": NIGHT + timedelta(minutes=minute)})
            for worker in workers
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    sent = [message.event_id for message in deployment.queue.messages]
    assert len(sent) == len(set(sent)) == 17
    assert rows.sql(deployment, "select used from kb_night_use") == [{"used": 17}]
    for worker in workers:
        worker.database.close()


def test_one_tenants_thousand_events_do_not_starve_anothers_one(deployment: Deployment) -> None:
    big, small = deployment.tenant("big"), deployment.tenant("small")
    rows.sql(
        deployment,
        """with s as (insert into kb_sources (tenant_id, uri, name, created_at, updated_at)
                      select %s, 'http://big.example.com/' || n, 'n', %s, %s from generate_series(1, 1000) n
                      returning id)
           insert into kb_events (tenant_id, source_id, night, available_at, approved_at, source_generation, created_at)
           select %s, id, false, %s, %s, 1, %s from s""",
        *(big.id, DAY, DAY, big.id, DAY, DAY, DAY),
    )
    event = rows.queue(
        deployment, small, rows.add(deployment, small, "http://s.example.com/", DAY), "now", DAY + timedelta(seconds=1)
    )
    sent = tick(deployment, DAY + timedelta(seconds=2))
    assert str(event.id) in sent
    assert len(sent) == deployment.worker.settings.dispatch_per_tenant + 1


def test_events_left_when_the_window_closes_wait_for_the_next_night(deployment: Deployment) -> None:
    acme = deployment.tenant()
    event = rows.queue(deployment, acme, rows.add(deployment, acme, "http://a.example.com/", DAY), "night", DAY)
    morning = rows.instant("2026-11-30T06:00:00")  # the end is exclusive
    assert tick(deployment, morning) == []
    assert rows.event(deployment, event.id)["available_at"] == NIGHT + timedelta(days=1)


def test_changed_settings_move_what_waits(deployment: Deployment) -> None:
    acme = deployment.tenant()
    event = rows.queue(deployment, acme, rows.add(deployment, acme, "http://a.example.com/", DAY), "night", DAY)
    changes = tenant_settings.Changes(timezone="America/New_York")
    tenant_settings.update(deployment.outside, rows.principal(acme), changes, DAY)
    assert rows.event(deployment, event.id)["available_at"] == rows.instant("2026-11-30T03:00:00")
    assert tick(deployment, NIGHT) == []
    assert tick(deployment, rows.instant("2026-11-30T03:00:00")) == [str(event.id)]


def test_a_raised_cap_lets_in_tonight_what_had_no_room(deployment: Deployment) -> None:
    acme = deployment.tenant()
    rows.set_window(deployment, acme, "22:00", "06:00", cap=1)
    first, second, later = rows.add_many(deployment, acme, 3, DAY)
    events = [rows.queue(deployment, acme, source, "night", DAY) for source in (first, second)]
    assert len(tick(deployment, NIGHT)) == 1
    tomorrows = rows.queue(deployment, acme, later, "night", NIGHT + timedelta(minutes=1))
    tenant_settings.update(
        deployment.outside,
        rows.principal(acme),
        tenant_settings.Changes(nightly_job_cap=50),
        NIGHT + timedelta(minutes=2),
    )
    sent = tick(deployment, NIGHT + timedelta(minutes=3))
    assert len(sent) == 1
    assert set(sent) <= {str(event.id) for event in events}
    assert rows.event(deployment, tomorrows.id)["available_at"] == NIGHT + timedelta(days=1), "approved for that one"


def test_a_disabled_tenants_events_wait_until_it_is_enabled(deployment: Deployment) -> None:
    acme = deployment.tenant()
    event = rows.queue(deployment, acme, rows.add(deployment, acme, "http://a.example.com/", DAY), "now", DAY)
    who = rows.principal(acme)
    tenant_settings.update(deployment.outside, who, tenant_settings.Changes(enabled=False), DAY)
    assert tick(deployment, DAY) == []
    assert tick(deployment, DAY + timedelta(days=1)) == []
    tenant_settings.update(deployment.outside, who, tenant_settings.Changes(enabled=True), DAY)
    assert tick(deployment, DAY + timedelta(days=1)) == [str(event.id)]


def test_an_inactive_sources_event_is_skipped_and_not_sent(deployment: Deployment) -> None:
    acme = deployment.tenant()
    source = rows.add(deployment, acme, "http://a.example.com/", DAY)
    event = rows.queue(deployment, acme, source, "now", DAY)
    rows.sql(deployment, "update kb_sources set active = false")
    assert tick(deployment, DAY) == []
    assert (rows.event(deployment, event.id)["state"], rows.event(deployment, event.id)["outcome"]) == (
        "skipped",
        "skipped_inactive",
    )


@pytest.mark.parametrize("end", ["skipped", "failed", "cancelled"])
def test_an_approved_suggestion_is_closed_however_its_work_ends(deployment: Deployment, end: str) -> None:
    acme = deployment.tenant()
    who = rows.principal(acme)
    source = rows.add(deployment, acme, "http://a.example.com/", DAY)
    [asked] = suggestions.list_page(deployment.outside, who, after=None, limit=10, now=DAY)
    done, _ = suggestions.approve(deployment.outside, who, asked.id, correlation_id=None, now=DAY)
    assert done.event is not None
    if end == "skipped":
        sources.set_active(deployment.outside, who, source.id, False, DAY)
        tick(deployment, NIGHT)
    elif end == "failed":
        rows.sql(deployment, "update kb_events set state = 'running', leases = 5, lease_until = %s", DAY)
        tick(deployment, NIGHT)
    else:
        work.cancel(deployment.outside, who, done.event.id, DAY)
    assert rows.event(deployment, done.event.id)["state"] == end
    assert rows.sql(deployment, "select state from kb_suggestions where id = %s", asked.id) == [{"state": "closed"}]


def test_what_sqs_does_not_take_goes_back_and_is_sent_later(deployment: Deployment) -> None:
    acme = deployment.tenant()
    event = rows.queue(deployment, acme, rows.add(deployment, acme, "http://a.example.com/", DAY), "now", DAY)
    deployment.queue.refuses = True
    assert tick(deployment, DAY) == []
    assert rows.event(deployment, event.id)["state"] == "pending"
    deployment.queue.refuses = False
    assert tick(deployment, DAY + timedelta(minutes=1)) == [str(event.id)]


def test_a_lost_message_is_sent_again_after_fifteen_minutes_if_the_queue_is_idle(deployment: Deployment) -> None:
    acme = deployment.tenant()
    event = rows.queue(deployment, acme, rows.add(deployment, acme, "http://a.example.com/", DAY), "now", DAY)
    assert tick(deployment, DAY) == [str(event.id)]
    deployment.queue.messages.clear()  # a crash between commit and send
    assert tick(deployment, DAY + timedelta(minutes=14)) == []
    deployment.queue.idle = False
    assert tick(deployment, DAY + timedelta(minutes=16)) == []
    deployment.queue.idle = True
    assert tick(deployment, DAY + timedelta(minutes=17)) == [str(event.id)]


def test_a_lease_that_ran_out_comes_back_and_ends_after_five(deployment: Deployment) -> None:
    acme = deployment.tenant()
    event = rows.queue(deployment, acme, rows.add(deployment, acme, "http://a.example.com/", DAY), "now", DAY)
    now = DAY
    for lease in range(1, 6):
        assert tick(deployment, now) == [str(event.id)], f"lease {lease}"
        rows.sql(
            deployment,
            "update kb_events set state = 'running', leases = leases + 1, lease_token = gen_random_uuid(),"
            " lease_until = %s",
            now + timedelta(seconds=150),
        )
        assert tick(deployment, now + timedelta(seconds=149)) == []
        now += timedelta(seconds=150)
    assert tick(deployment, now) == []
    ended = rows.event(deployment, event.id)
    assert (ended["state"], ended["outcome"]) == ("failed", "internal_error")


def test_dispatched_events_that_nobody_leases_are_bounded(deployment: Deployment) -> None:
    deployment.environment["LARDER_DISPATCH_IN_FLIGHT"] = "2"
    worker = deployment.build("larder_worker")
    acme = deployment.tenant()
    for source in rows.add_many(deployment, acme, 3, DAY)[:2]:
        rows.queue(deployment, acme, source, "now", DAY)
    scheduling.tick(worker, now=DAY)
    assert len(deployment.queue.messages) == 2
    rows.queue(deployment, acme, rows.add(deployment, acme, "http://late.example.com/", DAY), "now", DAY)
    scheduling.tick(worker, now=DAY + timedelta(minutes=1))
    assert len(deployment.queue.messages) == 2
    worker.database.close()


def simulate(deployment: Deployment, tenant: Tenant, start: datetime, minutes: int, step: int = 15) -> dict[str, int]:
    """Tick every ``step`` minutes, every message done at once; events sent by local night id."""
    from chalicelib.domain.night_window import NightSettings, current_night

    settings_row = rows.sql(deployment, "select night_start, night_end, timezone from tenants where id = %s", tenant.id)
    settings = NightSettings(settings_row[0]["night_start"], settings_row[0]["night_end"], settings_row[0]["timezone"])
    nights: dict[str, int] = {}
    for minute in range(0, minutes, step):
        now = start + timedelta(minutes=minute)
        sent = tick(deployment, now)
        if sent:
            night = current_night(settings, now)
            assert night is not None, f"sent outside the window at {now}"
            nights[str(night.id)] = nights.get(str(night.id), 0) + len(sent)
            rows.sql(deployment, "update kb_events set state = 'done' where state = 'dispatched'")
    return nights


def test_a_week_with_a_clock_change_keeps_every_night_under_its_cap(deployment: Deployment) -> None:
    acme = deployment.tenant()
    rows.set_window(deployment, acme, "22:00", "06:00", "Europe/Berlin", cap=4)
    start = rows.instant("2026-10-21T12:00:00")  # Berlin's clocks go back on the 25th
    for source in rows.add_many(deployment, acme, 26, start):
        rows.queue(deployment, acme, source, "night", start)
    nights = simulate(deployment, acme, start, 7 * 24 * 60)
    assert nights == {
        "2026-10-21": 4, "2026-10-22": 4, "2026-10-23": 4, "2026-10-24": 4, "2026-10-25": 4, "2026-10-26": 4,
        "2026-10-27": 2,
    }  # fmt: skip


def test_a_tenant_that_operations_switch_on_again_is_served_within_minutes(deployment: Deployment) -> None:
    acme = deployment.tenant()
    event = rows.queue(deployment, acme, rows.add(deployment, acme, "http://a.example.com/", DAY), "now", DAY)
    tenancy.set_enabled(deployment.owner, name="acme", enabled=False)
    assert tick(deployment, DAY) == []
    tenancy.set_enabled(deployment.owner, name="acme", enabled=True)
    assert tick(deployment, DAY + timedelta(minutes=5)) == [str(event.id)]


def test_the_hourly_tidying_works_with_the_ticks_own_rights(deployment: Deployment) -> None:
    acme = deployment.tenant()
    rows.sql(
        deployment,
        "insert into host_leases (host, lease_until, not_before) values ('old.example.com', %s, %s)",
        *(DAY - timedelta(days=9), DAY - timedelta(days=9)),
    )
    rows.sql(deployment, "insert into kb_night_use (tenant_id, night_id) values (%s, '2026-01-01')", acme.id)
    rows.sql(
        deployment,
        "insert into evaluation_segments (tenant_id, day, kind, last_hash) values (%s, '2026-11-01', 'allow', 'x')",
        acme.id,
    )
    tick(deployment, DAY.replace(minute=scheduling.HOUSEKEEPING_MINUTE))
    assert rows.sql(deployment, "select * from host_leases") == []
    assert rows.sql(deployment, "select * from kb_night_use") == []
    sealed = rows.sql(deployment, "select sealed_at is not null as sealed from evaluation_segments")
    assert sealed == [{"sealed": True}]
