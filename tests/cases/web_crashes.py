"""Cases in which something breaks or comes twice: crash, queue, failure, race."""

from __future__ import annotations

import json
import random
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from chalicelib import bootstrap
from chalicelib.domain.chunk_cuts import MAX_CHUNKS
from chalicelib.queueing.messages import body_of
from chalicelib.services import scheduling, sources
from chalicelib.services.sources import Wanted
from chalicelib.storage.connection import Database
from chalicelib.workers import refresh as worker
from tests.cases.generator_words import Unreadable
from tests.cases.web_responses import response_of
from tests.cases.web_stage import Stage
from tests.cases.web_steps import LEASE_IS_OVER, Steps
from tests.cases.web_story import Story, new_story
from tests.cases.web_texts import chunked_text, html_of
from tests.cases.web_values import Given, told
from tests.cases.web_workers import DyingIn, FailingEmbedder, FailingIn, Worker, dying, run_killed
from tests.integration import rows
from tests.integration.cycle import killed

INFRA = Path(__file__).parents[2] / "infra"
_TTL = timedelta(days=7)


def prepared(stage: Stage, new: str = "200 text new") -> Story:
    """A source with a version, stale by now, whose site says something new."""
    story = new_story(stage)
    story.refresh(response_of("text old"))
    story.later(_TTL)
    story.show(response_of(new))
    story.mark()
    return story


def race(stage: Stage, given: Given) -> Story:
    """The steps of people and workers in the order that the case tells."""
    order = told(given, "order", "steps", "events")
    if isinstance(order, str):
        order = [part for part in re.split(r"\s*(?:,|;|->|→)\s*", order) if part]
    if not order:
        raise Unreadable(f"no order in {sorted(given)}")
    story = prepared(stage)
    Steps(story).play(order)
    return story


def crash(stage: Stage, given: Given) -> Story:
    """A worker or a dispatcher that is killed at a point, and what recovers from it."""
    at = str(told(given, "at", "point", "when", default=" ".join(map(str, given.values()))))
    story = prepared(stage)
    rows.queue(stage.deployment, stage.tenant, story.source, "now", stage.now)
    if re.search(
        r"(before|between|after|during).*\b(send|sent|sqs|publish|notif|enqueue|outbox)|dispatch|\btick\b", at, re.I
    ):
        _kill_dispatcher(stage)
    else:
        scheduling.tick(stage.deployment.worker, now=stage.now)
        times = 5 if re.search(r"every time|always|each time|poison|again and again|repeatedly", at, re.I) else 1
        deaths = [_kill_worker(stage, story, at) for _ in range(times)]
        assert all(deaths), "a worker came through"
    story.facts["after_crash"] = (story.text == story.text_before, len(_open(story)))
    steps = Steps(story)
    steps.recover()
    story.facts["results"] = story.facts.get("results", {}) | steps.results
    return story


def _open(story: Story) -> list[dict[str, Any]]:
    return [version for version in story.versions if version["system_time"].upper is None]


def _kill_dispatcher(stage: Stage) -> None:
    class Dying:
        def send(self, messages: Any) -> Any:
            dying()

        def is_idle(self) -> bool:
            return True

    url = stage.deployment.server.url(stage.deployment.database_name, "larder_worker")
    outside = stage.worker(queue=Dying(), database=Database(url))
    if not killed(lambda: scheduling.tick(outside, now=stage.now)):
        raise AssertionError("the dispatcher had nothing to send")


def _kill_worker(stage: Stage, story: Story, at: str) -> bool:
    """Deliver to a worker that dies at that point; whether it did, or had nothing to do there."""
    queue = stage.deployment.queue
    if not queue.messages:
        story.later(LEASE_IS_OVER)
        scheduling.tick(stage.deployment.worker, now=stage.now)
    if not queue.messages:
        return False
    event_id = queue.messages.pop(0).event_id
    url = stage.deployment.server.url(stage.deployment.database_name, "larder_worker")
    if re.search(r"after (the )?commit|before (the )?(ack|delet)|\back\b|acknowledg|commit\w* but", at, re.I):
        for delivery in ("1", "again"):
            story.facts.setdefault("results", {})[delivery] = worker.run(
                stage.worker(), event_id, clock=lambda: stage.now
            )
        return True
    if re.search(r"embed", at, re.I) and not re.search(r"after (the )?embed", at, re.I):
        outside = stage.worker(embedder=_DyingEmbedder(stage.deployment.embedder))
    elif re.search(r"fetch|download|claim|lease|start|receiv", at, re.I) and not re.search(
        r"after (the )?fetch", at, re.I
    ):
        outside = stage.worker(fetch=dying)
    else:
        outside = stage.worker(database=DyingIn(url, "events.finish_refresh"))
    return run_killed(outside, stage, event_id)


class _DyingEmbedder:
    def __init__(self, embedder: Any) -> None:
        self.model_id, self.dimension, self.fits = embedder.model_id, embedder.dimension, embedder.fits

    embed = staticmethod(dying)


def queue(stage: Stage, given: Given) -> Story:
    """Messages that come late, twice, malformed or in numbers."""
    if isinstance(given.get("order"), list):
        return race(stage, given)
    story = prepared(stage)
    words = json.dumps(given)
    if "batch" in given:
        _batch(stage, story, given)
    elif "visibility_s" in given or "job_s" in given:
        _slow_job(stage, story, float(told(given, "visibility_s", default=30)), float(told(given, "job_s", default=45)))
    elif re.search(r"malformed|not json|garbage|invalid|unknown (event|id)|poison", words, re.I):
        _bad_messages(stage, story, given)
    else:
        _many(stage, story, given)
    return story


def _slow_job(stage: Stage, story: Story, visibility: float, job: float) -> None:
    """The message becomes visible again while its job is at work."""
    rows.queue(stage.deployment, stage.tenant, story.source, "now", stage.now)
    scheduling.tick(stage.deployment.worker, now=stage.now)
    event_id = stage.deployment.queue.messages.pop().event_id
    slow = Worker(stage, event_id)
    slow.go("fetched")
    duplicates: list[str | None] = []
    passed = visibility
    while passed < job and len(duplicates) < 5:
        story.later(timedelta(seconds=visibility))
        again = Worker(stage, event_id)
        again.go("done")
        duplicates.append(again.result)
        passed += visibility
    slow.go("done")
    story.facts["results"] = {"1": slow.result, **{str(n + 2): result for n, result in enumerate(duplicates)}}


def _bad_messages(stage: Stage, story: Story, given: Given) -> None:
    """Bodies that no tick wrote fail alone; SQS hands them to the dead-letter queue."""
    bodies = told(given, "messages", "bodies", default=[told(given, "body", default="not json")])
    records = [{"messageId": str(number), "body": str(body)} for number, body in enumerate(bodies)]
    answer = worker.handle(records)
    story.facts["failed_items"] = [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]
    story.facts["results"] = {"1": "internal_error" if story.facts["failed_items"] else "nothing_to_do"}


def _batch(stage: Stage, story: Story, given: Given) -> None:
    """A delivery of several messages of which some can't be done: those alone come again."""
    count = len(given["batch"]) if isinstance(given["batch"], list) else int(given["batch"])
    failing = {str(one) for one in told(given, "fails", "failing", "fails_at", "bad", default=[])}
    rows.queue(stage.deployment, stage.tenant, story.source, "now", stage.now)
    scheduling.tick(stage.deployment.worker, now=stage.now)
    body = body_of(stage.deployment.queue.messages.pop().event_id)
    names = [str(number + 1) for number in range(count)]
    records = [{"messageId": name, "body": "no event" if name in failing else body} for name in names]
    with mock.patch.object(bootstrap, "outside", return_value=stage.worker()):
        answer = worker.handle(records)
    story.facts["failed_items"] = [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def _many(stage: Stage, story: Story, given: Given) -> None:
    """Several sources, several workers, several deliveries of each message."""
    count = int(told(given, "sources", "events", "jobs", default=1))
    deliveries = int(told(given, "deliveries", "duplicates", "copies", default=2))
    workers = int(told(given, "workers", "consumers", default=2))
    others = [new_story(stage, f"http://src.example.com/{number}") for number in range(count - 1)]
    for one in (story, *others):
        one.show(response_of(f"text of {one.source.uri}"))
        rows.queue(stage.deployment, stage.tenant, one.source, "now", stage.now)
    scheduling.tick(stage.deployment.worker, now=stage.now)
    events = [message.event_id for message in stage.deployment.queue.messages] * deliveries
    stage.deployment.queue.messages.clear()

    def deliver(share: list[Any]) -> list[str]:
        outside = stage.worker()
        try:
            return [worker.run(outside, event_id, clock=lambda: stage.now) for event_id in share]
        finally:
            outside.database.close()

    with ThreadPoolExecutor(workers) as pool:
        results = [
            result for share in pool.map(deliver, [events[n::workers] for n in range(workers)]) for result in share
        ]
    story.facts["results"] = {str(number + 1): result for number, result in enumerate(results)}
    story.facts["others"] = others


def failure(stage: Stage, given: Given) -> Story:
    """One part that fails: the model, a query, the database at the commit, the queue, the site."""
    words = " ".join(f"{name} {value}" for name, value in given.items() if name != "kind")
    if re.search(r"quota|limit", words, re.I):
        return _quota_query_fails(stage)
    if "order" in given:
        return race(stage, given)
    if re.search(r"sqs|queue|send", words, re.I) and "chunks" not in given:
        return _queue_fails(stage)
    chunks = min(int(told(given, "chunks", default=4)), MAX_CHUNKS)
    story = prepared(stage)
    story.show(response_of(200, html_of(chunked_text(chunks))))
    if re.search(r"database|\bdb\b|postgres|commit|connection", words, re.I):
        url = stage.deployment.server.url(stage.deployment.database_name, "larder_worker")
        broken = stage.worker(database=FailingIn(url, "events.finish_refresh"))
    elif re.search(r"fetch|site|server|network", words, re.I) and "fails_at" not in given:
        story.refresh(response_of(words))
        return story
    else:
        broken = stage.worker(
            embedder=FailingEmbedder(stage.deployment.embedder, int(told(given, "fails_at", default=1)))
        )
    story.refresh(outside=broken)
    return story


def _quota_query_fails(stage: Stage) -> Story:
    """The count of sources can't be had: nobody may take that for none."""
    story = prepared(stage)
    url = stage.deployment.server.url(stage.deployment.database_name, "larder_app")
    decisions = []
    for name in ("sources.count_active", "tenants.source_limit"):
        outside = stage.worker(database=FailingIn(url, name))
        try:
            sources.upsert(outside, rows.principal(stage.tenant), Wanted(f"http://src.example.com/{name}"), stage.now)
            decisions.append("accept")
        except Exception:  # whatever it is: the caller gets an error and no source
            decisions.append("refuse")
        outside.database.close()
    if len(stage.sql("select id from kb_sources")) != 1:
        decisions.append("accept")
    story.facts["decision"] = "accept" if "accept" in decisions else "refuse"
    return story


def _queue_fails(stage: Stage) -> Story:
    story = prepared(stage)
    rows.queue(stage.deployment, stage.tenant, story.source, "now", stage.now)
    stage.deployment.queue.refuses = True
    scheduling.tick(stage.deployment.worker, now=stage.now)
    story.facts["event_after_failure"] = (story.open_event or {}).get("state")
    stage.deployment.queue.refuses = False
    story.later(timedelta(minutes=1))
    story.facts["results"] = {"1": stage.cycle.deliver()}
    return story


def any_sequence(stage: Stage, given: Given) -> Story:
    """Texts, failures, crashes and a clock that steps back, in an order that chance chose once and for all."""
    chance = random.Random(1)
    story = new_story(stage)
    for _ in range(12):
        what = chance.choice(["text", "text", "unchanged", "500", "404", "crash", "back"])
        story.later(timedelta(hours=-1 if what == "back" else 26))
        if what == "crash":
            story.show(response_of(f"text {chance.randint(0, 3)}"))
            if story.open_event is None:
                rows.queue(stage.deployment, stage.tenant, story.source, "now", stage.now)
            scheduling.tick(stage.deployment.worker, now=stage.now)
            _kill_worker(stage, story, chance.choice(["fetch", "embed", "transaction"]))
            Steps(story).recover()
        else:
            said = {"500": 500, "404": 404, "unchanged": "same"}.get(what, f"text {chance.randint(0, 3)}")
            story.refresh(response_of(said, story.page))
    return story
