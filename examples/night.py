"""Steps 1 to 4: from sources to a night that was approved for."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from examples.playing import OWN_PAGE, PAGES, TRAP_NAMES, Play
from examples.telling import Row
from examples.waiting import wait_until_done

TTL_SECONDS = 300  # the shortest that there is
LEAD_SECONDS = 20  # so long the night is ahead at least when it is approved for


def add_sources(play: Play) -> None:
    """Three pages, three traps and the reader's own page: all stale, since nobody has looked yet."""
    play.telling.step("1. Sources, each with a clock of its own")
    site = play.stage.site.url
    uris = {name: f"{site}{path}" for paths in (PAGES, TRAP_NAMES) for name, path in paths.items()}
    if play.own_url:
        uris[OWN_PAGE] = play.own_url
    wanted = [{"uri": uri, "name": name, "refresh_ttl_seconds": TTL_SECONDS} for name, uri in uris.items()]
    rows: list[Row] = []
    for name, result in zip(uris, play.stage.client.put_sources(wanted)["results"], strict=True):
        source, problem = result["source"], result["problem"] or {}
        if source is None:
            rows.append((play.judged(name, False), (name, uris[name], problem["detail"])))
            continue
        play.ids[name] = source["id"]
        is_stale = source["stale"] and source["stale_reason"] == "never_fetched"
        rows.append((is_stale, (name, source["uri"], f"stale: {source['stale_reason']}")))
    play.telling.table(("source", "address", "freshness"), rows)


def list_suggestions(play: Play) -> None:
    """Asking generates them, and asking again makes no more."""
    play.telling.step("2. The system suggests, it does not act")
    first = {one["source_id"]: one for one in play.stage.client.iter_suggestions()}
    again = {one["source_id"]: one for one in play.stage.client.iter_suggestions()}
    rows: list[Row] = []
    for name, ident in play.ids.items():
        suggestion = first.get(ident)
        same = suggestion is not None and again[ident]["id"] == suggestion["id"]
        rows.append((same, (name, suggestion["kind"], suggestion["reason"]) if suggestion else (name, None, None)))
    rows.append((not play.stage.site.requests, ("the site", "was asked", f"{len(play.stage.site.requests)} times")))
    play.telling.table(("source", "suggestion", "reason"), rows)


def approve(play: Play) -> None:
    """Approving schedules for the night's start, which is put a little ahead."""
    play.telling.step("3. Approval schedules, it does not run")
    client, now = play.stage.client, datetime.now(UTC)
    start = (now + timedelta(seconds=LEAD_SECONDS + 60)).replace(second=0, microsecond=0)
    zone = next(name for name in ("Europe/Berlin", "UTC") if start.astimezone(ZoneInfo(name)).fold == 0)
    wall = start.astimezone(ZoneInfo(zone))
    night_start, night_end = f"{wall:%H:%M}", f"{wall + timedelta(hours=6):%H:%M}"
    client.change_settings(timezone=zone, night_start=night_start, night_end=night_end)
    play.telling.say(f"the night is {night_start} to {night_end}, {zone}")
    approved = client.approve_suggestions()["results"]
    events = {result["event"]["source_id"]: result["event"] for result in approved if result["event"]}
    rows: list[Row] = []
    for name, ident in play.ids.items():
        event = events.get(ident)
        at = datetime.fromisoformat(event["available_at"]) if event else None
        waits = event is not None and event["state"] == "pending" and at == start
        rows.append((waits, (name, event["state"] if event else None, at and at.astimezone(ZoneInfo(zone)))))
    rows.append((not play.stage.site.requests, ("the site", f"asked {len(play.stage.site.requests)} times", None)))
    play.telling.table(("source", "event", "not before"), rows)
    play.night_start, play.night_events = start, [event["event_id"] for event in events.values()]


def wait_for(play: Play) -> None:
    """The minute's schedule dispatches, the queue delivers, the worker fetches; nobody helps."""
    play.telling.step("4. The night: schedule, queue, worker")
    start = play.night_start
    while (left := (start - datetime.now(UTC)).total_seconds()) > 0:
        play.telling.still(f"the night begins in {left:.0f} s; nothing is fetched before")
        time.sleep(min(left, 1.0))
    play.telling.say("the night has begun; the schedule ticks once a minute")
    events = wait_until_done(play, play.night_events)
    earliest = min((request.at for request in play.stage.site.requests), default=None)
    rows: list[Row] = []
    for name, ident in play.ids.items():
        source, event = play.source(name), events.get(ident)
        trap = name in TRAP_NAMES
        status = source["last_status"]
        good = status == "refused" if trap else source["current_version"] == 1 and not source["stale"]
        told = (name, event["state"] if event else None, status, source["current_version"])
        rows.append((play.judged(name, good), told))
    rows.append((earliest is not None and earliest >= start, ("the site", "was asked first at", earliest, None)))
    play.telling.table(("source", "event", "outcome", "version"), rows)
