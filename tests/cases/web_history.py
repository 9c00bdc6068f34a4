"""Cases about system time: what was current when, and two writers whose clocks or transactions cross."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import psycopg

from chalicelib.services import enforcement, history, scheduling, search
from chalicelib.services.search import Question
from tests.cases.generator_words import Unreadable
from tests.cases.web_refreshes import sequence
from tests.cases.web_responses import each_run, label_of, response_of
from tests.cases.web_stage import Stage
from tests.cases.web_steps import LEASE_IS_OVER
from tests.cases.web_story import Story, new_story
from tests.cases.web_values import Given, instant
from tests.cases.web_workers import Worker
from tests.integration import rows

_HOUR = timedelta(hours=1)


def tell(stage: Stage, given: Given) -> Story:
    """Runs, an order of transactions, an instant to ask for, or a constraint."""
    if "runs" in given:
        return _runs(stage, given)
    if "order" in given or re.search(r"\bT1\b", str(given)):
        return _crossing(stage)
    if "as_of" in given or "v1" in given:
        return _as_of(stage, given)
    if re.search(r"exclu|constraint|overlap|unique|concurrent", str(given), re.I):
        return _constraint(stage)
    raise Unreadable(f"a case of {sorted(given)}")


def _runs(stage: Stage, given: Given) -> Story:
    """Texts one after the other, and what is read and found of each."""
    story = sequence(stage, {**given, "runs": [_text_run(run) for run in each_run(given["runs"])]})
    labels = [label_of(str(run)) for run in each_run(given["runs"])]
    versions = story.versions
    if len(versions) >= 2:
        switch = versions[-1]["system_time"].lower
        story.facts["as_of_before"] = text_at(story, switch - timedelta(microseconds=1))
        story.facts["as_of_switch"] = text_at(story, switch)
    story.facts["as_of_first"] = text_at(story, stage.now - timedelta(days=400))
    story.facts["chunks_of"] = {label: found_by_search(story, label) for label in labels}
    return story


def _text_run(run: Any) -> Any:
    return f"200 text {run}" if isinstance(run, str) and not re.match(r"\d{3}\b|<", run) else run


def text_at(story: Story, at: datetime) -> str | None:
    """The text as of an instant, as the history service tells it; None before the first version."""
    stage = story.stage
    who = rows.principal(stage.tenant)
    reading = enforcement.reading(stage.deployment.outside, who, role=None, purpose=None, trace_id="case")
    try:
        return history.text_at(stage.deployment.outside, who, reading, story.source.id, at, stage.now).text
    except Exception as error:
        if getattr(error, "code", "") == "no_version":
            return None
        raise


def found_by_search(story: Story, label: str) -> int:
    """How many chunks a search for the text of that label brings, of that text."""
    stage = story.stage
    who = rows.principal(stage.tenant)
    reading = enforcement.reading(stage.deployment.outside, who, role=None, purpose=None, trace_id="case")
    question = Question(f"Of {label} part", 50, "hybrid")
    answer = search.search(stage.deployment.outside, who, reading, question, stage.now)
    return sum(f"Of {label}," in hit.candidate.text for hit in answer.hits)


def _crossing(stage: Stage) -> Story:
    """The writer that began first writes last: its clock is behind, and its lease may be gone."""
    story = new_story(stage)
    story.refresh(response_of("text first"))
    stage.cycle.now += _HOUR
    story.mark()
    early = stage.now
    story.refresh(response_of("text T2"))
    stage.cycle.now = early - _HOUR / 2  # T1's transaction has the time at which it began
    story.refresh(response_of("text T1"))
    stage.cycle.now = early + _HOUR
    return story


def _as_of(stage: Stage, given: Given) -> Story:
    """Two versions, asked for at the instant that the case names: ``t1``, ``before t0``, ``t1 - 1 microsecond``."""
    story = new_story(stage)
    marks: dict[str, datetime] = {}
    named = sorted(key for key in given if re.fullmatch(r"v\d+", key)) or ["v1", "v2"]
    for number, name in enumerate(named):
        start = re.search(r"[\[(]\s*([^,\s]+)", str(given.get(name, "")))
        if start and re.match(r"\d{4}-", start[1]):
            stage.cycle.now = instant(start[1])
        marks[start[1] if start else f"t{number}"] = marks[f"t{number}"] = stage.now
        story.refresh(response_of(f"text {name}"))
        story.later(_HOUR)
    asked = str(given.get("as_of", "t1"))
    at = next((instant for name, instant in sorted(marks.items(), reverse=True) if name in asked), None)
    at = instant(asked) if at is None and re.match(r"\d{4}-", asked) else at
    if at is None and not re.search(r"now|future|before", asked, re.I):
        raise Unreadable(asked)
    at = at or (min(marks.values()) if re.search(r"before", asked, re.I) else stage.now + _HOUR)
    if re.search(r"before|just under|minus|-\s*1|- ?(1 )?(micro|µs|us)", re.sub(r"\d{4}-\S+", "", asked), re.I):
        at -= timedelta(microseconds=1)
    text = text_at(story, at)
    returned = [name for name in named if text and f"Of {name}," in text]
    found = stage.sql(
        "select version from kb_versions where source_id = %s and system_time @> %s::timestamptz", story.source.id, at
    )
    story.facts["returns"] = [f"v{row['version']}" for row in found] if len(found) > 1 else returned
    return story


def _constraint(stage: Stage) -> Story:
    """The database itself refuses a second version of an instant; of two writers at once one writes."""
    story = new_story(stage)
    story.refresh(response_of("text first"))
    try:
        stage.sql(
            "insert into kb_versions"
            " select (jsonb_populate_record(v, jsonb_build_object('version', 2, 'event_id', null))).*"
            " from kb_versions v"
        )
        story.facts["overlap"] = "accepted"
    except psycopg.errors.ExclusionViolation:
        story.facts["overlap"] = "refused"
    story.later(_HOUR)
    story.show(response_of("text second"))
    story.mark()
    rows.queue(stage.deployment, stage.tenant, story.source, "now", stage.now)
    scheduling.tick(stage.deployment.worker, now=stage.now)
    event_id = stage.deployment.queue.messages.pop().event_id
    writers = [Worker(stage, event_id)]
    writers[0].go("embedded")
    story.later(LEASE_IS_OVER)
    writers.append(Worker(stage, event_id))
    writers[1].go("embedded")
    for writer in writers:
        writer.go("done")
    story.facts["results"] = {str(number + 1): writer.result for number, writer in enumerate(writers)}
    return story
