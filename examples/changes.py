"""Steps 5 to 7: what is found, what a second edition changes, what was said before it."""

from __future__ import annotations

from datetime import datetime, timedelta

from examples.playing import PAGES, TRAP_NAMES, Play
from examples.telling import Row
from examples.waiting import wait_until_done

QUESTION = "What does a jar of heather honey cost?"
OLD_PRICE, NEW_PRICE = "8.90", "9.80"
OLD_RULE, NEW_RULE = "within fourteen days", "within thirty days"


def search(play: Play) -> None:
    """The price is found, and where it comes from."""
    play.telling.step("5. Search")
    found = play.stage.client.search_kb(QUESTION, limit=3)
    play.telling.say(f"{QUESTION!r}")
    rows: list[Row] = []
    for number, hit in enumerate(found["hits"], 1):
        priced = _line_with(hit["text"], "Heather honey")
        rows.append((None, (number, hit["source_name"], f"version {hit['version']}", priced)))
    best = found["hits"][0] if found["hits"] else None
    line = _line_with(best["text"], "Heather honey") if best else ""
    rows.append((OLD_PRICE in line, ("best", best["source_name"] if best else None, "has the price", line)))
    rows.append((found["degraded"] is None, ("mode", "hybrid", "degraded", found["degraded"])))
    play.telling.table(("hit", "source", "", "line"), rows)


def refresh_now(play: Play) -> None:
    """The second edition: two pages say something new, the third answers 304."""
    play.telling.step("6. The site changes: a second edition, queued for now")
    play.stage.site.edition = "two"
    checked_before = {name: play.source(name)["last_checked_at"] for name in PAGES}
    wanted = {name: ident for name, ident in play.ids.items() if name not in TRAP_NAMES}
    events = [play.stage.client.queue_source(ident, "now")["event_id"] for ident in wanted.values()]
    play.telling.say(f"{len(events)} sources queued; the next tick takes them")
    wait_until_done(play, events)
    rows: list[Row] = []
    for name in wanted:
        source = play.source(name)
        answers = [request.status for request in play.stage.site.asked_for(PAGES.get(name, ""))]
        version, status = (1, 304) if name == "changelog" else (2, 200)
        good = source["current_version"] == version and answers[-1:] == [status]
        moved = source["last_checked_at"] != checked_before.get(name)
        rows.append((play.judged(name, good and moved), (name, source["current_version"], answers[-1:] or None)))
    for name in TRAP_NAMES:
        asked = len(play.stage.site.asked_for(TRAP_NAMES[name]))
        rows.append((asked == 1, (name, None, f"asked once, and never again: {asked}")))
    play.telling.table(("source", "version", "the site's answer"), rows)


def look_back(play: Play) -> None:
    """The new wording now, the old wording as of then, and what lies between."""
    play.telling.step("7. Old wording stays readable")
    client = play.stage.client
    switch = {
        name: datetime.fromisoformat(client.list_versions(play.ids[name])["items"][0]["valid_from"])
        for name in ("prices", "handbook")
    }
    just_before = {name: at - timedelta(microseconds=1) for name, at in switch.items()}

    def answer(at: datetime | None) -> str:
        hits = client.search_kb(QUESTION, limit=1, at=at)["hits"]
        return _line_with(hits[0]["text"], "Heather honey") if hits else ""

    def rule(at: datetime | None) -> str:
        return _line_with(client.show_text(play.ids["handbook"], at)["text"], "not opened")

    diff = client.show_diff(play.ids["prices"])
    rows: list[Row] = [
        (NEW_PRICE in answer(None), ("search", "now", answer(None))),
        (OLD_PRICE in answer(just_before["prices"]), ("search", "then", answer(just_before["prices"]))),
        (NEW_PRICE in answer(switch["prices"]), ("search", "at the very switch", answer(switch["prices"]))),
        (NEW_RULE in rule(None), ("handbook", "now", _around(rule(None), NEW_RULE))),
        (
            OLD_RULE in rule(just_before["handbook"]),
            ("handbook", "then", _around(rule(just_before["handbook"]), OLD_RULE)),
        ),
        (
            OLD_PRICE in diff["unified"] and NEW_PRICE in diff["unified"],
            ("prices", "difference", f"{diff['deleted']} lines gone, {diff['inserted']} new"),
        ),
    ]
    play.telling.table(("what", "when", "wording"), rows)
    play.telling.text("".join(line for line in diff["unified"].splitlines(keepends=True) if line[:1] in "+-"))


def _line_with(text: str, word: str) -> str:
    return next((line for line in text.splitlines() if word in line), "")


def _around(text: str, word: str) -> str:
    """A few words on each side."""
    at = text.find(word)
    return f"… {text[max(0, at - 24) : at + len(word) + 24].strip()} …" if at >= 0 else text[:60]
