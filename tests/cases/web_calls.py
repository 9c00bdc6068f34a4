"""Cases that are calls of the HTTP API: a method and a path, or what somebody does in words."""

from __future__ import annotations

import re
from typing import Any

from tests.cases.generator_words import Unreadable
from tests.cases.web_crashes import prepared
from tests.cases.web_stage import Stage
from tests.cases.web_steps import Steps
from tests.cases.web_story import Story
from tests.cases.web_values import Given, told

_CALL = re.compile(r"\s*(GET|POST|PUT|DELETE|PATCH)\s+(/\S*)\s*(.*)", re.S)


def api(stage: Stage, given: Given) -> Story:
    """Every call in order; ``{id}`` is the source, and ``{suggestion}`` and ``{event}`` what is open of it."""
    story = prepared(stage)
    listed = told(given, "calls", "requests", "order", "steps", "call", "request")
    if listed is None and "path" in given:
        listed = f"{told(given, 'method', default='GET')} {given['path']}"
    calls = listed if isinstance(listed, list) else [listed]
    if not calls or calls == [None]:
        raise Unreadable(f"no call in {sorted(given)}")
    steps = Steps(story)
    for call in calls * int(told(given, "times", "repeat", default=1)):
        spoken = f"{call.get('method', 'GET')} {call.get('path', '')}" if isinstance(call, dict) else str(call)
        body = call.get("body") if isinstance(call, dict) else told(given, "body", "json")
        http = _CALL.match(spoken)
        if http is None:
            steps.do(spoken)
            continue
        answer = _send(story, http[1], _path(story, http[2]), body)
        steps.answers.append(answer.status)
        story.facts |= {"status_code": answer.status, "body": answer.json, "headers": answer.headers}
    steps.finish()
    return story


def _send(story: Story, method: str, path: str, body: Any) -> Any:
    tenant = story.stage.tenant
    headers = {"Authorization": f"Bearer {tenant.api_token}", "X-Admin-Token": tenant.admin_token}
    return story.stage.deployment.request(method, path, headers, body)


def _path(story: Story, path: str) -> str:
    stage = story.stage
    event = story.open_event or {}
    if re.search(r"[{<:]suggestion", path) or "/suggestions/{id}" in path:
        story.suggested()
        [row, *_] = stage.sql("select id from kb_suggestions where source_id = %s and state = 'open'", story.source.id)
        return re.sub(r"[{<:]\w*(id|suggestion)\w*[}>]?", str(row["id"]), path)
    path = re.sub(r"[{<]event\w*[}>]", str(event.get("id")), path)
    return re.sub(r"[{<]\w*[}>]|:id\b|:source\w*", str(story.source.id), path)
