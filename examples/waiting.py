"""Waiting for the system to do its work, and saying so."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime

from chalicelib.client.answers import Event
from examples.playing import Play

TICK_SECONDS = 60
PATIENCE_SECONDS = 150.0  # a tick a minute, and then the work


def wait_until_done(play: Play, event_ids: Collection[str]) -> dict[str, Event]:
    """Wait until these events are over; each by its source's id, as it is then or when patience ends.

    An event whose first attempt failed waits ten minutes for its next: the reader's own page may do that, and is not
    waited for.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    before = ""
    while True:
        listed = play.stage.client.list_events(limit=200)["items"]
        events = [event for event in listed if event["event_id"] in event_ids]
        states = Counter(event["state"] for event in events)
        now = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        if now != before:
            play.telling.say(f"events: {now}")
            before = now
        is_over = all(event["finished_at"] or event["attempts"] for event in events)
        if is_over or time.monotonic() > deadline:
            return {event["source_id"]: event for event in events}
        play.telling.still(f"still waiting; {_next_tick(play)}")
        time.sleep(1.0)


def _next_tick(play: Play) -> str:
    last = play.stage.client.show_status()["last_tick_at"]
    if last is None:
        return "no tick yet"
    ago = (datetime.now(UTC) - datetime.fromisoformat(last)).total_seconds()
    return f"the last tick was {ago:.0f} s ago, the next one is due in {max(0.0, TICK_SECONDS - ago):.0f} s"
