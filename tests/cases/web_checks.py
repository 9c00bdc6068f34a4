"""What a case expects, key by key, held against the story: outcomes, jobs, counts and decisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from tests.cases.generator_words import Unreadable
from tests.cases.web_invariants import broken
from tests.cases.web_outcomes import meant_by
from tests.cases.web_story import Run, Story

Check = Callable[[Story, Any], Iterator[str]]


def is_yes(value: Any) -> bool:
    """A flag, also as a word: ``no``, ``none``, ``not moved`` are False."""
    return bool(value) and not re.match(r"(no|none|never|not|false|0)\b", str(value), re.I)


def number(value: Any) -> int:
    """A count, also as a word. Raises Unreadable."""
    words = {"none": 0, "no": 0, "zero": 0, "one": 1, "exactly one": 1, "two": 2, "three": 3}
    if isinstance(value, int):
        return value
    spoken = re.match(r"(exactly one|none|no|zero|one|two|three|\d+)\b", str(value), re.I)
    if spoken is None:
        raise Unreadable(str(value))
    return words[spoken[1].lower()] if spoken[1].lower() in words else int(spoken[1])


def last_outcome(story: Story) -> str | None:
    """How the last attempt ended."""
    if story.runs:
        return story.runs[-1].outcome
    results = story.facts.get("results") or {}
    if results:
        return str(results.get("recovery") or list(results.values())[-1])
    ended = [event["outcome"] for event in _events(story) if event["outcome"]]
    return ended[-1] if ended else story.row.get("last_status")


def status(story: Story, value: Any) -> Iterator[str]:
    if isinstance(value, int) and "status_code" in story.facts:
        if story.facts["status_code"] not in (value, str(value)):
            yield f"status {story.facts['status_code']} instead of {value}"
    elif re.fullmatch(r"off|inactive|disabled|deactivated|toggled off", str(value), re.I):
        if story.row.get("active"):
            yield "the source is active"
    elif re.fullmatch(r"pending|queued|waiting|retry(ing)?|scheduled", str(value), re.I):
        if story.open_event is None:
            yield "no event waits"
    else:
        outcome = last_outcome(story)
        if outcome not in meant_by(str(value)):
            yield f"status {outcome} instead of {value}"


def run_status(place: int) -> Check:
    """The outcome of one run; -1 is the last."""

    def check(story: Story, value: Any) -> Iterator[str]:
        outcomes = [run.outcome for run in story.runs] or list((story.facts.get("results") or {}).values())
        if not -len(outcomes) <= place < len(outcomes):
            raise Unreadable(f"run {place} of {len(outcomes)}")
        if isinstance(value, dict):
            yield from _run_is(story.runs[place], value)
        elif outcomes[place] not in meant_by(str(value)):
            yield f"run {place} ended as {outcomes[place]} instead of {value}"

    return check


def _run_is(run: Run, wanted: dict[str, Any]) -> Iterator[str]:
    for key, value in wanted.items():
        if key in ("status", "outcome", "result"):
            if run.outcome not in meant_by(str(value)):
                yield f"the run ended as {run.outcome}"
        elif key == "new_version":
            if bool(run.new_versions) != is_yes(value):
                yield f"the run made {run.new_versions} versions"
        elif key in ("embedding_calls", "embeddings"):
            if len(run.embedded) != value:
                yield f"the run embedded {len(run.embedded)} texts"
        else:
            raise Unreadable(key)


def outcomes(story: Story, value: Any) -> Iterator[str]:
    """A word for each run."""
    for place, word in enumerate(value if isinstance(value, list) else re.split(r"\s*,\s*", str(value))):
        yield from run_status(place)(story, word)


# --- jobs, people, numbers


def job(name: str | None = None) -> Check:
    """What became of a job; without a name, of the last."""

    def check(story: Story, value: Any) -> Iterator[str]:
        results: dict[str, str] = story.facts.get("results") or {}
        if name is not None and name not in results:
            raise Unreadable(f"there is no job {name}")
        told = [results[name]] if name else list(results.values())[-1:]
        if re.search(r"\b(lost|retried|recover)", str(value), re.I):
            yield from broken(story)
            return
        if re.search(r"\b(waits?|waiting|pending|stays|kept|queued)\b", str(value), re.I):
            if story.open_event is None:
                yield "no event waits"
            return
        if not told:
            told = [str(row["outcome"]) for row in _events(story)][-1:]
        wanted = meant_by(str(value).split(",")[0]) | (meant_by(str(value)) if "," in str(value) else frozenset())
        if not told or not set(told) <= wanted:
            yield f"the job ended as {', '.join(told) or 'nothing'}"

    return check


def _events(story: Story) -> list[dict[str, Any]]:
    return story.stage.sql("select * from kb_events where source_id = %s order by created_at, id", story.source.id)


def events(story: Story, value: Any) -> Iterator[str]:
    made = len(_events(story)) - story.events_before
    if made != number(value):
        yield f"{made} events instead of {value}"


def fetches(story: Story, value: Any) -> Iterator[str]:
    made = len(story.stage.site.contacts) - story.contacts_before
    asked = len(story.requests)
    if max(made, asked) != number(value):
        yield f"{max(made, asked)} fetches instead of {value}"


def rows_written(story: Story, value: Any) -> Iterator[str]:
    """New versions; of a source or tenant that is gone, every row that is left of the tenant."""
    written = len(story.versions) - story.versions_before
    if not story.row:
        tables = ("kb_versions", "kb_chunks", "kb_held_texts", "kb_suggestions", "kb_events", "kb_sources")
        counts = [
            story.stage.sql(f"select count(*) as n from {table} where tenant_id = %s", story.stage.tenant.id)[0]["n"]
            for table in tables
        ]
        written = sum(counts)
    if written != number(value):
        yield f"{written} rows were written"


def decision(story: Story, value: Any) -> Iterator[str]:
    """Accepted or refused: of a sentence with conditions the first word holds, as its condition is Larder's choice."""
    found = story.facts.get("decision")
    if found is None:
        raise Unreadable(str(value))
    wanted = re.search(r"accept|allow|permit|refus|reject|den[iy]|block", str(value), re.I)
    if wanted is None:
        raise Unreadable(str(value))
    accepts = bool(re.match(r"accept|allow|permit", wanted[0], re.I))
    if accepts != (found == "accept"):
        yield f"the decision is {found}"


def failed_items(story: Story, value: Any) -> Iterator[str]:
    """Which messages of a delivery come again."""
    found = [str(item) for item in story.facts.get("failed_items", [])]
    if sorted(found) != sorted(str(item) for item in value):
        yield f"{found} come again"


def stale(story: Story, value: Any) -> Iterator[str]:
    """Whether the source is past its time to live by now."""
    checked = story.row["last_checked_at"]
    found = checked is None or checked + timedelta(seconds=story.row["refresh_ttl_seconds"]) <= story.stage.now
    if found != is_yes(value):
        yield f"stale: {found}"


_FACTS = {
    **dict.fromkeys(("accepted", "succeeded", "allowed", "admitted", "ok"), "created"),
    **dict.fromkeys(("rejected", "denied", "failed", "conflicts", "blocked"), "refused"),
    **dict.fromkeys(
        ("run_tonight", "dispatched_tonight", "tonight", "runs", "ran", "started", "fetched"), "dispatched"
    ),
    **dict.fromkeys(("deferred", "postponed", "waiting", "carried_over", "remaining", "left_over"), "left"),
    **dict.fromkeys(("used", "sources", "sources_after", "total_sources"), "total"),
}
"""Other names of what the tellers count."""


def lost(story: Story, value: Any) -> Iterator[str]:
    """No event may be lost: each has ended or waits, and so many are a number of events that nobody finds."""
    if number(value or 0) != 0:
        raise Unreadable(f"{value} lost")
    if not _events(story):
        yield "there is no event"
    yield from broken(story)


def fact(name: str) -> Check:
    """A number or an instant that the teller kept."""

    def check(story: Story, value: Any) -> Iterator[str]:
        own = next((one for one in (name, _FACTS.get(name, name)) if one in story.facts), None)
        if own is None:
            raise Unreadable(name)
        if story.facts[own] != value:
            yield f"{name} is {story.facts[own]} instead of {value}"

    return check


def answers(story: Story, value: Any) -> Iterator[str]:
    """The HTTP statuses that people got, in whatever order where they asked at once."""
    told = value if isinstance(value, list) else re.findall(r"\b[2-5]\d\d\b", str(value))
    if not told:
        raise Unreadable(str(value))
    found = story.facts.get("answers", [])[-len(told) :]
    if sorted(map(int, told)) != sorted(found):
        yield f"the answers are {found}"


def must_not(story: Story, value: Any) -> Iterator[str]:
    """Nothing crashed and no invariant is broken; some words name a thing of their own."""
    words = value if isinstance(value, str) else ", ".join(map(str, value))
    if re.search(r"if-none-match|if-modified", words, re.I):
        sent = story.requests[-1].headers if story.requests else {}
        yield from (
            f"{name} was sent"
            for name in ("if-none-match", "if-modified-since")
            if name in words.lower() and name in sent
        )
    if last_outcome(story) == "internal_error":
        yield "an unexpected error"
    yield from broken(story)


def concurrent(story: Story, value: Any) -> Iterator[str]:
    """Of two writers at once one writes and the other writes nothing; the database refuses an overlap by itself."""
    written = list(story.facts.get("results", {}).values()).count("new_version")
    if written != 1:
        yield f"{written} of them wrote"
    if story.facts.get("overlap", "refused") != "refused":
        yield "the database takes an overlapping version"
    yield from broken(story)


def embedded(run: int | None, compare: str) -> Check:
    """How many texts were embedded, in one run (counted from 1) or in the whole case."""

    def check(story: Story, value: Any) -> Iterator[str]:
        if run is not None and run > len(story.runs):
            raise Unreadable(f"run {run} of {len(story.runs)}")
        texts = story.stage.embedded[story.embedded_before :] if run is None else story.runs[run - 1].embedded
        if run is not None and story.runs[run - 1].outcome not in meant_by("success"):
            yield f"run {run} ended as {story.runs[run - 1].outcome}"
        count = len(texts)
        if not {"max": count <= number(value), "min": count >= number(value), "": count == number(value)}[compare]:
            yield f"{count} texts were embedded"

    return check
