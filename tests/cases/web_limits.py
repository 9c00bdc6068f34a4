"""Cases about how much and when: quotas, the night's cap, schedules, fairness."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from chalicelib.domain.night_window import NightSettings, current_night
from chalicelib.errors import Problem, QuotaExceeded, RateLimited
from chalicelib.services import scheduling, sources
from chalicelib.services.sources import Wanted
from tests.cases.generator_words import Unreadable
from tests.cases.web_responses import response_of
from tests.cases.web_stage import Stage
from tests.cases.web_story import Story, new_story
from tests.cases.web_texts import chunked_text, html_of
from tests.cases.web_values import Given, told
from tests.integration import rows

_CALLERS = ("concurrent", "parallel", "callers", "at_once", "requests", "creates", "attempts", "add", "adds", "adding")
_USED = ("used", "existing", "have", "active", "current", "sources", "count")


def quota(stage: Stage, given: Given) -> Story:
    """A limit of the plan, of the night, or of the hour, and what wants to go beyond it."""
    words = str(given)
    if "old" in given and "new" in given:
        return _larger_version(stage, int(given["old"]), int(given["new"]))
    if re.search(r"night|\bcap\b|nightly", words, re.I):
        return schedule(stage, given)
    limit = told(given, "limit", "quota", "max", "per_hour")
    if limit is None:
        raise Unreadable(f"no limit in {sorted(given)}")
    callers = int(told(given, *_CALLERS, default=1))
    if re.search(r"mutation|per_hour|per hour|rate", words, re.I):
        stage.sql("update tenants set mutations_per_hour = %s where id = %s", limit, stage.tenant.id)
    else:
        stage.sql("insert into plans values (%s, %s)", name := f"case-{stage.tenant.name}", limit)
        stage.sql("update tenants set plan = %s where id = %s", name, stage.tenant.id)
    for number in range(int(told(given, *_USED, default=0))):
        _add(stage, f"used-{number}")
    stage.sql(
        "update kb_sources set active = false where id in (select id from kb_sources limit %s)",
        int(told(given, "deactivate", "deactivated", "toggled_off", default=0)),
    )
    with ThreadPoolExecutor(max(1, min(callers, 16))) as pool:
        made = list(pool.map(lambda number: _add(stage, f"new-{number}"), range(callers)))
    story = Story(stage, _any_source(stage))
    story.facts |= {
        "created": made.count("accept"),
        "refused": callers - made.count("accept"),
        "decision": made[-1] if callers == 1 else None,
        "status_code": next((answer for answer in made if answer != "accept"), None),
        "total": len(stage.sql("select id from kb_sources where active")),
    }
    return story


def _add(stage: Stage, name: str) -> str:
    outside = stage.deployment.build("larder_app")
    try:
        sources.upsert(outside, rows.principal(stage.tenant), Wanted(f"http://src.example.com/{name}"), stage.now)
    except (QuotaExceeded, RateLimited) as refused:
        return str(refused.status)
    except Problem as problem:
        return f"refused {problem.status}"
    finally:
        outside.database.close()
    return "accept"


def _any_source(stage: Stage) -> Any:
    if not stage.sql("select id from kb_sources"):
        stage.sql("update tenants set plan = 'scale', mutations_per_hour = null where id = %s", stage.tenant.id)
        return new_story(stage).source
    [row] = stage.sql("select uri from kb_sources limit 1")
    stage.sql("update tenants set mutations_per_hour = null where id = %s", stage.tenant.id)
    return rows.add(stage.deployment, stage.tenant, row["uri"], stage.now)


def _larger_version(stage: Stage, old: int, new: int) -> Story:
    """A source that grows. History is kept beside the quota, which counts sources and nothing else."""
    scale = max(1, max(old, new) // 200)
    story = new_story(stage)
    story.refresh(response_of(200, html_of(chunked_text(max(1, old // scale)))))
    story.later(timedelta(days=1))
    story.mark()
    run = story.refresh(response_of(200, html_of(chunked_text(max(1, new // scale)).replace("Of chunk", "Of piece"))))
    story.facts["decision"] = "accept" if run.outcome == "new_version" else "refuse"
    return story


def schedule(stage: Stage, given: Given) -> Story:
    """Approvals and the nights in which they are dispatched, up to three nights on."""
    cap = told(given, "cap", "nightly_job_cap", "limit", default=50)
    start, _, end = str(given.get("window", "22:00-06:00")).partition("-")
    rows.set_window(stage.deployment, stage.tenant, start, end, given.get("tz", "UTC"), int(cap))
    count = told(given, "approved", "events", "jobs", "queued", "sources", "stale", "count", default=1)
    count = len(count) if isinstance(count, list) else int(count)
    stories = [new_story(stage, f"http://src.example.com/{number}") for number in range(count)]
    for number, story in enumerate(stories):
        rows.queue(stage.deployment, stage.tenant, story.source, "night", stage.now + timedelta(seconds=number))
    event = stories[0].open_event
    assert event is not None
    first = event["available_at"]
    early = _sent(stage, [stage.now]) if current_night(_window(stage), stage.now) is None else 0
    nights = [first + timedelta(days=day) for day in range(3)]
    ticks = int(given.get("ticks", 1))
    sent = [_sent(stage, [night + timedelta(minutes=minute) for minute in range(max(4, ticks))]) for night in nights]
    story = stories[0]
    story.facts |= {
        "available_at": first,
        "dispatched": sent[0],
        "dispatched_early": early,
        "next_night": sent[1],
        "left": count - sent[0],
        "nights": sent,
    }
    return story


def _window(stage: Stage) -> NightSettings:
    [row] = stage.sql("select night_start, night_end, timezone from tenants where id = %s", stage.tenant.id)
    return NightSettings(row["night_start"], row["night_end"], row["timezone"])


def _sent(stage: Stage, instants: list[Any]) -> int:
    """How many events the ticks at these instants sent."""
    before = len(stage.deployment.queue.messages)
    for now in instants:
        scheduling.tick(stage.deployment.worker, now=now)
    stage.sql("update kb_events set state = 'done' where state = 'dispatched'")
    return len(stage.deployment.queue.messages) - before


def fairness(stage: Stage, given: Given) -> Story:
    """Tenants with many events and tenants with few: in one tick every one of them is served."""
    listed = told(given, "tenants", "events", "queued")
    if isinstance(listed, dict):
        counts = [
            int(count) if not isinstance(count, dict) else int(next(iter(count.values()))) for count in listed.values()
        ]
    elif isinstance(listed, list):
        counts = [
            int(re.sub(r"\D", "", str(one.get("jobs", one.get("events", one)) if isinstance(one, dict) else one)))
            for one in listed
        ]
    else:
        counts = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", str(given))]
    if len(counts) < 2:
        counts = [*counts, 1] if counts else [1000, 1]
    tenants = [stage.deployment.tenant(f"{stage.tenant.name}-{number}") for number in range(len(counts))]
    for tenant, count in zip(tenants, counts, strict=True):
        stage.sql(
            """with s as (insert into kb_sources (tenant_id, uri, name, created_at, updated_at)
                          select %s, 'http://' || gen_random_uuid() || '.example.com/', 'n', %s, %s
                            from generate_series(1, %s) returning id)
               insert into kb_events
                 (tenant_id, source_id, night, available_at, approved_at, source_generation, created_at)
               select %s, id, false, %s, %s, 1, %s from s""",
            *(tenant.id, stage.now, stage.now, min(count, 2000), tenant.id, stage.now, stage.now, stage.now),
        )  # fmt: skip
    scheduling.tick(stage.deployment.worker, now=stage.now)
    served = {
        row["tenant_id"]: row["n"]
        for row in stage.sql("select tenant_id, count(*) as n from kb_events where state = 'dispatched' group by 1")
    }
    shares = [served.get(tenant.id, 0) for tenant in tenants]
    story = new_story(stage)
    story.facts |= {"shares": shares, "starved": shares.count(0), "dispatched": sum(shares)}
    return story
