"""Cases that are refreshes in a row: a past, what the site answers, one refresh or several, edits between."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urljoin, urlsplit

from chalicelib.storage.sources import Source
from tests.cases.generator_words import Unreadable
from tests.cases.web_responses import FIRST, content_of, each_run, response_of
from tests.cases.web_site import Response
from tests.cases.web_stage import Stage
from tests.cases.web_story import URL, Story, new_story
from tests.cases.web_texts import html_of, text_of
from tests.cases.web_values import NIGHT, Given, duration, instant, told
from tests.integration import rows

_DAY = timedelta(days=1)
_TOLD_RESPONSE = ("status", "headers", "page", "body", "body_b64", "html", "text", "etag", "last_modified", "generator")


def refresh(stage: Stage, given: Given) -> Story:
    """One refresh over what is stored, or as many as ``attempt`` says."""
    if isinstance(given.get("response"), list):
        return sequence(stage, {**given, "runs": given["response"]})
    story = with_past(stage, given)
    response = _response(given, story)
    if story.when == "night":
        _wait_since_yesterday(story)
    for _ in range(int(told(given, "attempt", "attempts", default=1))):
        story.refresh(response)
    return story


def first_fetch(stage: Stage, given: Given) -> Story:
    """A page that was never fetched."""
    story = new_story(stage, given.get("url", URL))
    _response(given, story)
    story.refresh()
    return story


def sequence(stage: Stage, given: Given) -> Story:
    """Run by run; a day lies between two of them where neither the case nor a retry says when the next one is."""
    listed = told(given, "runs", "responses", "answers", "steps", "sequence")
    if listed is None:
        raise Unreadable(f"no runs in {sorted(given)}")
    runs = list(each_run(listed))
    needs_past = "stored" in given or "previous_text_len" in given or not any(_is_page(run) for run in runs)
    story = with_past(stage, given) if needs_past else new_story(stage, given.get("url", URL))
    gap = duration(told(given, "gap", "interval", "every", default="1 day"))
    for number, run in enumerate(runs):
        at = told(run, "at", "now", "t") if isinstance(run, dict) else None
        if at is not None:
            stage.cycle.now = instant(at) if isinstance(at, str) and "T" in at else NIGHT + duration(at)
        elif number and story.open_event is None:
            story.later(gap)
        said = run.get("response", run) if isinstance(run, dict) else run
        serve(story, response_of(said, story.page))
        story.refresh()
    return story


def _is_page(run: Any) -> bool:
    """Whether a run can make a first version."""
    response = response_of(run.get("response", run) if isinstance(run, dict) else run)
    return response.status == 200 and not response.fault


def redirect(stage: Stage, given: Given) -> Story:
    """Sources of which one leads to the other, or a redirect told like a response; seen again on as many ``days``."""
    leading = [str(value) for name, value in given.items() if re.match(r"source|from|a$|b$", name)]
    target = told(given, "to", "target", "location", "new_url")
    if target is not None:
        leading = [f"{leading[0] if leading else URL} -> {target} {told(given, 'status', default=301)}"]
    if not leading or not any("->" in one for one in leading):
        many = told(given, "runs", "hops", "chain")
        story = sequence(stage, {**given, "runs": many}) if isinstance(many, list) else refresh(stage, given)
    else:
        stories = [_leading_source(stage, one) for one in leading]
        for story in reversed(stories):
            story.refresh()
            story.later(timedelta(minutes=1))
        story = next((story for story in stories if story.row.get("redirect_to")), stories[0])
    for _ in range(int(told(given, "days", "nights", "seen_days", default=0))):
        story.later(_DAY)
        story.refresh()
    return story


def _leading_source(stage: Stage, words: str) -> Story:
    """``http://src.example.com/a -> /b (308)``, or a source that leads nowhere else."""
    uri, _, target = words.partition("->")
    code = re.search(r"\b30[12378]\b", target)
    story = new_story(stage, urljoin(URL, uri.split()[0]))
    if target:
        serve(story, Response(int(code[0]) if code else 301, (("Location", target.split()[0]),)))
    else:
        story.show(response_of(200))
    return story


def request(stage: Stage, given: Given) -> Story:
    """What an ordinary refresh sends, in its night, and what a forced one does."""
    story = with_past(stage, {**given, "stored": told(given, "stored", default={"etag": '"v1"'})})
    story.show(_honest(story))
    story.when = "night"
    story.facts["ordinary"] = story.refresh().requests[0]
    story.later(timedelta(hours=1))
    story.when = "now"
    story.facts["forced"] = story.refresh().requests[0]
    return story


def edit(stage: Stage, given: Given) -> Story:
    """A source that is edited between two refreshes."""
    story = with_past(stage, {**given, "stored": told(given, "stored", default={"etag": '"v1"'})})
    words = " ".join(f"{name} {value}" for name, value in given.items() if name not in ("kind", "stored", "response"))
    uri = next((str(given[key]) for key in ("new_url", "to", "url", "new_uri", "uri") if key in given), "/moved")
    story.show(_honest(story))
    if re.search(r"ttl", words, re.I):
        answer = stage.tenant.post("/v1/kb/sources", {"uri": story.source.uri, "refresh_ttl_seconds": 300})
        assert answer.status == 200, answer.json
    elif re.search(r"hidden", words, re.I):
        answer = stage.tenant.post("/v1/kb/sources", {"uri": story.source.uri, "keep_hidden_text": True})
        assert answer.status == 200, answer.json
    elif re.search(r"ur[li]|address|path|host|https?:", words, re.I):
        move(story, urljoin(story.source.uri, uri))
    else:
        raise Unreadable(words)
    story.facts["edited"] = story.row
    if "response" in given:
        serve(story, response_of(given["response"], story.page))
    story.facts["next"] = story.refresh().requests[0]
    return story


def move(story: Story, uri: str) -> None:
    """The source gets another uri, where the same site answers."""
    page = story.stage.site.responses.get(story.source.uri, response_of(200))
    with story.stage.deployment.worker.database.transaction(story.stage.tenant.id) as tx:
        changed = tx.one(
            "sources.change_uri",
            Source,
            id=story.source.id,
            tenant_id=story.stage.tenant.id,
            uri=uri,
            now=story.stage.now,
        )
    assert changed is not None
    story.source = changed
    story.show(page)


def deploy(stage: Stage, given: Given) -> Story:
    """A release reads the same bytes in another way: the version before was made by the one before."""
    story = with_past(stage, {**given, "stored": {"etag": '"v1"', **(given.get("stored") or {})}})
    words = str(given)
    stage.sql("update kb_sources set pipeline = 'extractor 0, chunker 0, secrets 0' where id = %s", story.source.id)
    if not re.search(r"same text|text (?:is |stays )?(?:the )?(?:same|equal|identical)|chunker", words, re.I):
        stage.sql("update kb_versions set content_hash = 'of another text' where source_id = %s", story.source.id)
    story.show(_honest(story) if "response" not in given else response_of(given["response"], story.page))
    story.facts["next"] = story.refresh().requests[0]
    return story


def clock(stage: Stage, given: Given) -> Story:
    """Refreshes with a new text each while the clock goes its own way."""
    times = [instant(str(now)) for now in told(given, "now_sequence", "times", "nows", default=[])]
    if not times:
        back = next(
            (duration(value) for value in given.values() if re.search(r"\d+ ?(s|m|h|d)", str(value))), _DAY / 24
        )
        forward = re.search(r"forward|ahead|jump", str(given), re.I) and not re.search(r"back", str(given), re.I)
        times = [stage.now, stage.now + (back if forward else -back), stage.now + 2 * back]
    stage.cycle.now = times[0]
    story = new_story(stage)
    for number, now in enumerate(times):
        stage.cycle.now = now
        story.refresh(response_of(f"text {number}"))
        story.suggested()
    stage.cycle.now = max(times)
    return story


def metadata(stage: Stage, given: Given) -> Story:
    """What a page says about itself: one fetch, or one before and one after."""
    both = [
        given[name] for name in ("before", "after", "old", "new", "page1", "page2", "first", "second") if name in given
    ]
    if "stored" in given or "response" in given:
        return refresh(stage, given)
    if "runs" in given or len(both) == 2:
        return sequence(stage, {**given, "runs": told(given, "runs", default=both)})
    return first_fetch(stage, given)


# --- the past


def with_past(stage: Stage, given: Given) -> Story:
    """A source with a version, checked a day ago, and just those validators that the case says are stored."""
    now = stage.now
    window = str(given.get("window", ""))
    if "-" in window or "night_end" in given or "window_end" in given:
        start, _, end = window.partition("-")
        end = end or str(told(given, "night_end", "window_end"))
        rows.set_window(stage.deployment, stage.tenant, start or "22:00", end[-5:], given.get("tz", "UTC"))
    stored = told(given, "stored", default={})
    has_past = stored is not None and not re.match(r"nothing|none|never", str(stored))
    stored = dict(stored) if isinstance(stored, dict) else {}
    if not {"etag", "last_modified"} & set(stored) and re.search(
        r"'status': 304|^304|: '?304", str(given.get("response"))
    ):
        stored["etag"] = '"v1"'  # or else nobody would have asked for a 304
    checked = told(stored, "checked_at", "last_checked_at", "last_checked")
    stage.cycle.now = instant(checked) if isinstance(checked, str) else now - _DAY
    ttl = {"refresh_ttl_seconds": int(given["ttl_s"])} if "ttl_s" in given else {}
    uri = URL if given.get("kind") == "edit" else told(given, "url", "source", default=URL)
    story = new_story(stage, uri, **ttl)
    if has_past:
        validators = {name: stored.get(name) for name in ("etag", "last_modified")}
        story.refresh(response_of(200, _past_page(given, stored)).with_headers(**validators))
        _override(story, stored)
        # When a check last went without validators is a matter of its own: it is not yet time for the next one.
        stage.sql("update kb_sources set last_unconditional_at = %s where id = %s", now - _DAY, story.source.id)
    stage.cycle.now = now
    if "-" in window or re.search(r"\bnight", str({key: value for key, value in given.items() if key != "why"}), re.I):
        story.when = "night"
    story.mark()
    return story


def _past_page(given: Given, stored: Given) -> str:
    words = told(stored, "text", "body", "page", "hash") or told(given, "previous_text")
    if words:
        return content_of(str(words), FIRST)
    length = told(given, "previous_text_len", "old_text_len")
    return html_of(text_of("the page", int(length))) if length else FIRST


def _override(story: Story, stored: Given) -> None:
    """Rows as the case says they are, also such as the code of today would not write."""
    columns = {
        name: stored[name] for name in ("etag", "last_modified", "gone_in_a_row", "last_status") if name in stored
    }
    for name, value in columns.items():
        story.stage.sql(f"update kb_sources set {name} = %s where id = %s", value, story.source.id)
    if "current_version" in stored and stored["current_version"] is None:
        for table in ("kb_chunks", "kb_versions"):
            story.stage.sql(f"delete from {table} where source_id = %s", story.source.id)
        story.stage.sql("update kb_sources set current_version = null where id = %s", story.source.id)


# --- what the site says


def _response(given: Given, story: Story) -> Response:
    for key in ("response", "answer", "server", "reply"):
        if key in given:
            response = response_of(given[key], story.page)
            break
    else:
        fields = {
            key: value for key, value in given.items() if key in _TOLD_RESPONSE or key in ("retry_after", "location")
        }
        if set(fields) == {"page"} or set(fields) == {"text"}:
            response = response_of(next(iter(fields.values())), story.page)
        elif fields:
            response = response_of(fields, story.page)
        else:
            response = _honest(story)
    return serve(story, response)


def _honest(story: Story) -> Response:
    """A server that answers its own validators with 304."""
    row = story.row
    response = response_of(200, story.page).with_headers(etag=row["etag"], last_modified=row["last_modified"])
    return Response(response.status, response.headers, response.body, conditional=True)


def serve(story: Story, response: Response) -> Response:
    """Show the response, and where it leads, a page."""
    story.show(response)
    location = response.header("location")
    if location and 300 <= response.status < 400:
        target = urljoin(story.source.uri, location)
        is_elsewhere = urlsplit(target).hostname != urlsplit(story.source.uri).hostname
        page = content_of(location, "") if is_elsewhere else story.page
        story.stage.site.responses.setdefault(target, response_of(200, page))
    return response


def _wait_since_yesterday(story: Story) -> None:
    """The event was approved a day ago, so that it may run in the night that contains the case's instant."""
    now = story.stage.now
    rows.queue(story.stage.deployment, story.stage.tenant, story.source, "night", now - _DAY)
    story.stage.cycle.now = now
