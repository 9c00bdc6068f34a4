"""What a case expects of the clocks of a source, of retries and of suggestions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from chalicelib.domain.retry import RETRY_DELAY, parse_retry_after
from tests.cases.generator_words import Unreadable
from tests.cases.web_checks import Check, is_yes
from tests.cases.web_refreshes import move, serve
from tests.cases.web_responses import response_of
from tests.cases.web_steps import Steps
from tests.cases.web_story import Story
from tests.cases.web_values import duration, instant
from tests.integration import rows

_COLUMNS = {"last_success_at": "last_checked_at", "last_success": "last_checked_at", "fetched_at": "last_checked_at",
            "last_attempted_at": "last_attempt_at", "error": "last_error", "status": "last_status",
            "last_new_version_at": "last_changed_at", "stored_url": "uri", "url": "uri"}  # fmt: skip


def moved(column: str) -> Check:
    """Whether a clock of the source moved in the case; or to which run, or to which instant."""

    def check(story: Story, value: Any) -> Iterator[str]:
        now, before = story.row[column], story.before.get(column)
        run = re.search(r"\brun #?(\d+)", str(value))
        if run:
            wanted = story.runs[int(run[1]) - 1].at
            if now != wanted:
                yield f"{column} is {now}, run {run[1]} was at {wanted}"
        elif isinstance(value, str) and re.match(r"\d{4}-", value):
            if now != instant(value):
                yield f"{column} is {now} instead of {value}"
        elif value is None:
            if now is not None:
                yield f"{column} is {now}"
        else:
            wants = not re.search(r"\b(not|un|kept|same|old)|unmoved|unchanged|unaffected", str(value)) and is_yes(
                value
            )
            if wants != (now != before):
                yield f"{column} was {before} and is {now}"

    return check


def fields(story: Story, value: Any) -> Iterator[str]:
    """Facts that are kept apart: each has a column of its own."""
    columns = [_COLUMNS.get(name, name) for name in value]
    yield from (f"there is no {name}" for name in columns if name not in story.row)


# --- retries


def next_try(compare: str) -> Check:
    """The instant of the next try: not before, not after, or exactly this."""

    def check(story: Story, value: Any) -> Iterator[str]:
        if value is None or re.fullmatch(r"none|never", str(value), re.I):
            if story.runs[-1].next_try is not None:
                yield f"the next try is at {story.runs[-1].next_try}"
            return
        found = story.runs[-1].next_try or story.next_night(story.runs[-1].at)
        told = str(value)
        at = instant(told) if re.match(r"\d{4}-", told) else story.runs[-1].at + _delay(story, told)
        if not {"from": found >= at, "until": found <= at, "": found == at}[compare]:
            yield f"the next try is at {found}, not {compare} {at}"

    return check


def _delay(story: Story, told: str) -> timedelta:
    if re.search(r"next night|night", told, re.I):
        return story.next_night(story.runs[-1].at) - story.runs[-1].at
    if re.search(r"default", told, re.I):
        return RETRY_DELAY
    if re.search(r"retry-?after|as told|server", told, re.I):
        header = story.stage.site.responses[story.source.uri].header("retry-after")
        return parse_retry_after(header, now=story.runs[-1].at) or RETRY_DELAY
    return duration(float(told) if re.fullmatch(r"[\d.]+", told) else told)


def retry_delay(story: Story, value: Any) -> Iterator[str]:
    """How long until the next try; ``default`` is ten minutes."""
    found = story.runs[-1].next_try
    wanted = _delay(story, str(value))
    if found is None or found - story.runs[-1].at != wanted:
        yield f"the next try is {found and found - story.runs[-1].at} later instead of {wanted}"


def retry(story: Story, value: Any) -> Iterator[str]:
    """``ten minutes, then nightly``, ``nightly, not every ten minutes``, ``none``. Goes on failing where it must."""
    if isinstance(value, bool | int | float):
        value = "yes" if value else "none"
    words = re.sub(r"\b(not|never|no longer)\b[^,;]*|instead of [^,;]*", "", str(value), flags=re.I).strip(" ,;")
    if re.match(r"(none|no\b|final|never|stop)", str(value).strip(), re.I) and not re.search(r"night", words, re.I):
        if story.runs[-1].next_try is not None:
            yield f"it is tried again at {story.runs[-1].next_try}"
        return
    if re.fullmatch(r"yes|retried|again|later", words, re.I):
        if story.runs[-1].next_try is None:
            yield "it is not tried again"
        return
    for number, part in enumerate(re.split(r",|;|\bthen\b", words)):
        if part.strip():
            yield from _retries(story, part.strip(), is_first=number == 0)


def _retries(story: Story, words: str, *, is_first: bool) -> Iterator[str]:
    if not is_first:  # the same failure again, until the short retries are used up
        for _ in range(6):
            if story.runs[-1].next_try is None or _is_night(story, len(story.runs) - 1):
                break
            story.refresh()
    numbers = [number for number, run in enumerate(story.runs) if run.next_try is not None]
    if re.search(r"night", words, re.I):
        # An event that ended leaves the next try to the next stale suggestion, which runs at night.
        if is_first and not numbers:
            yield "there is no next try"
        late = [number for number in (numbers if is_first else numbers[-1:]) if not _is_night(story, number)]
        if late and story.runs[-1].next_try is not None:
            yield f"run {late[0] + 1} is tried again at {story.runs[late[0]].next_try}"
        return
    attempts = re.search(r"(\d+|two|three|four|five) (attempts?|tries|times)", words, re.I)
    if attempts:
        wanted = {"two": 2, "three": 3, "four": 4, "five": 5}.get(attempts[1].lower()) or int(attempts[1])
        yield from attempts_are(story, wanted)
        return
    if re.search(r"back-?off|later|again", words, re.I) and not re.search(r"\d|ten", words):
        if not numbers:
            yield "it is not tried again"
        return
    wanted_delay = _delay(story, words)
    run = story.runs[0]
    if run.next_try is None or run.next_try - run.at != wanted_delay:
        yield f"the first retry is at {run.next_try}, {wanted_delay} after {run.at} was expected"


def _is_night(story: Story, number: int) -> bool:
    run = story.runs[number]
    return run.next_try is not None and run.next_try >= story.next_night(run.at)


def attempts_are(story: Story, value: Any) -> Iterator[str]:
    """So many attempts an event has. Goes on failing until it ends."""
    while story.runs[-1].next_try is not None and len(story.runs) < 12:
        story.refresh()
    if len(story.runs) != int(value):
        yield f"{len(story.runs)} attempts"


def host_waits(story: Story) -> Iterator[str]:
    """What a server asks for holds for its host: another source of it waits as well."""
    stage = story.stage
    other = rows.add(stage.deployment, stage.tenant, "http://src.example.com/other", stage.now)
    rows.queue(stage.deployment, stage.tenant, other, "now", stage.now)
    outcome = stage.cycle.deliver()
    event = stage.cycle.open_event(other)
    if outcome != "postponed" or event is None or event["available_at"] < (story.runs[-1].next_try or stage.now):
        yield f"another source of the host was not held back: {outcome}"


# --- suggestions

_KINDS = (
    (r"merge|duplicate", "merge"),
    (r"review|suspicious|approve the change", "review_change"),
    (r"change[_ ]ur[il]|new ur[il]|ur[il] change|permanent|moved|update .*ur[il]|redirect", "change_uri"),
    (r"gone|deactivat|remove|dead", "gone"),
    (r"refresh|stale|again", "refresh"),
)  # fmt: skip


def suggestion(story: Story, value: Any) -> Iterator[str]:
    """A kind of suggestion that is open, or that there is none."""
    for words in value if isinstance(value, list) else [str(value)]:
        found = story.suggested()
        if words is None or re.match(r"(no|none|not|never|null|false)\b", str(words), re.I):
            left = [kind for kind in found if kind != "refresh"]
            if left:
                yield f"{left} is suggested"
            continue
        kind = next((kind for pattern, kind in _KINDS if re.search(pattern, str(words), re.I)), None)
        if kind is None:
            raise Unreadable(str(words))
        if kind == "refresh" and kind not in found:
            _until_stale(story)
            found = story.suggested()
        if kind not in found:
            yield f"{kind} is not suggested, {found} is"


def suggestion_after(story: Story, value: Any) -> Iterator[str]:
    """``same target seen for 7 days``: none before, one after; every day is a check. ``n`` runs: after that many."""
    days = re.search(r"(\d+|seven) days?", str(value), re.I)
    if days is None:
        yield from suggestion(story, value)
        return
    wanted = 7 if days[1] == "seven" else int(days[1])
    begin = story.row["redirect_since"]
    if begin is None:
        raise Unreadable(str(value))
    while story.stage.now < begin + timedelta(days=wanted):
        if "change_uri" in story.suggested():
            yield f"suggested after {story.stage.now - begin}"
            return
        story.stage.cycle.now = min(story.stage.now + timedelta(days=1), begin + timedelta(days=wanted))
        story.refresh()
    if "change_uri" not in story.suggested():
        yield f"not suggested after {wanted} days"


def https_upgrade(story: Story, value: Any) -> Iterator[str]:
    """The same address by https is suggested at once (spec 1.7)."""
    move(story, "http://src.example.com/insecure")
    serve(story, response_of("301 -> https://src.example.com/insecure"))
    story.later(timedelta(hours=1))
    story.refresh()
    if "change_uri" not in story.suggested():
        yield f"an upgrade to https is not suggested: {story.runs[-1].outcome}"


def merge(story: Story) -> Iterator[str]:
    """Two sources of one page: merging is suggested, and done it leaves one of them active."""
    found = "select id from kb_suggestions where kind = 'merge' and state = 'open'"
    if not story.stage.sql(found):
        _move_to_the_common_target(story)
    suggested = story.stage.sql(found)
    if len(suggested) != 1:
        yield f"merging is suggested {len(suggested)} times"
        return
    Steps(story).approve_this(suggested[0]["id"])
    active = story.stage.sql("select id from kb_sources where active")
    if len(active) != 1:
        yield f"{len(active)} sources are active after the merge"


def _move_to_the_common_target(story: Story) -> None:
    """Two sources lead to a third address: one takes it after seven days, and then the other is the duplicate."""
    others = story.stage.sql(
        "select uri from kb_sources where redirect_to = %s and id <> %s", story.row["redirect_to"], story.source.id
    )
    story.later(timedelta(days=7))
    story.refresh()
    [change] = story.stage.sql(
        "select id from kb_suggestions where kind = 'change_uri' and source_id = %s", story.source.id
    )
    Steps(story).approve_this(change["id"])
    for other in others:
        Story(
            story.stage, rows.add(story.stage.deployment, story.stage.tenant, other["uri"], story.stage.now)
        ).refresh()


def available_at(story: Story, value: Any) -> Iterator[str]:
    """When an approved event may start."""
    found: datetime | None = story.facts.get("available_at")
    if found is None:
        event = story.open_event
        found = event["available_at"] if event else None
    if found != instant(str(value)):
        yield f"it may start at {found}"


def _until_stale(story: Story) -> None:
    checked, ttl = story.row["last_checked_at"] or story.stage.now, timedelta(seconds=story.row["refresh_ttl_seconds"])
    story.stage.cycle.now = max(story.stage.now, checked + ttl)


def stale_reason(story: Story, value: Any) -> Iterator[str]:
    """The reason of the open suggestion to refresh."""
    _until_stale(story)
    story.suggested()
    found = story.stage.sql(
        "select reason from kb_suggestions where source_id = %s and kind = 'refresh' and state = 'open'",
        story.source.id,
    )
    if [row["reason"] for row in found] != [value]:
        yield f"the reason is {found}"
