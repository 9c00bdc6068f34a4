"""Metrics of the system at work, read from what it writes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from chalicelib import bootstrap, metrics
from chalicelib.fetching.errors import Reason
from chalicelib.queueing import messages
from chalicelib.services import scheduling
from chalicelib.workers import refresh as worker
from chalicelib.workers import tick
from tests import emf
from tests.integration import rows
from tests.integration.cycle import Cycle
from tests.integration.test_refresh import DAY, URL
from tests.tenants import Deployment, Tenant

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def cycle(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Cycle:
    cycle = Cycle(deployment, DAY)
    monkeypatch.setattr(bootstrap, "outside", lambda: cycle.outside)
    return cycle


def totals(capsys: Capture) -> dict[tuple[str, str | None], float]:
    """What was sent since the last look, summed by name and word."""
    found: dict[tuple[str, str | None], float] = {}
    for point in emf.read(capsys.readouterr().out):
        found[point.name, point.word] = found.get((point.name, point.word), 0.0) + point.value
    return found


def record(body: str, **more: Any) -> dict[str, Any]:
    return {"messageId": "m-1", "body": body, "messageAttributes": {}, **more}


def test_a_new_version_is_counted_with_its_chunks_and_its_times(
    cycle: Cycle, deployment: Deployment, capsys: Capture
) -> None:
    acme = deployment.tenant()
    source = rows.add(deployment, acme, URL, DAY)
    paragraphs = [f"Paragraph {number}: " + f"jar {number} holds plums. " * 30 for number in range(8)]
    cycle.web.page(URL, "\n".join(paragraphs))
    capsys.readouterr()
    assert cycle.refresh(acme, source) == "new_version"
    first = totals(capsys)
    chunks = rows.sql(deployment, "select chunk_count from kb_versions")[0]["chunk_count"]
    assert first["Refreshes", "new_version"] == first["VersionsWritten", None] == 1
    assert (first["ChunksEmbedded", None], first["ChunksReused", None]) == (chunks, 0)
    assert first["FetchTime", None] > 0
    assert first["EmbedTime", None] > 0
    assert not [name for name, _ in first if name == "GuardRefusals"]

    cycle.later(days=1)
    cycle.web.page(URL, "\n".join([*paragraphs, "One more line about quinces, which are hard and sour and keep well."]))
    assert cycle.refresh(acme, source) == "new_version"
    second = totals(capsys)
    chunks = rows.sql(deployment, "select max(chunk_count) as most from kb_versions")[0]["most"]
    assert second["ChunksEmbedded", None] + second["ChunksReused", None] == chunks
    assert second["ChunksReused", None] > second["ChunksEmbedded", None] > 0

    cycle.later(days=1)
    assert cycle.refresh(acme, source) == "unchanged"
    third = totals(capsys)
    assert (third["Refreshes", "unchanged"], third["VersionsWritten", None]) == (1, 0)
    assert not {"ChunksEmbedded", "EmbedTime"} & {name for name, _ in third}


def test_a_refusal_is_counted_by_the_guards_reason(cycle: Cycle, deployment: Deployment, capsys: Capture) -> None:
    acme = deployment.tenant()
    source = rows.add(deployment, acme, URL, DAY)
    cycle.web.fails(URL, Reason.ADDRESS)
    assert cycle.refresh(acme, source) == "refused"
    found = totals(capsys)
    assert found["Refreshes", "refused"] == found["GuardRefusals", "address"] == 1
    cycle.web.fails(URL, Reason.TOO_LARGE)
    cycle.later(days=1)
    assert cycle.refresh(acme, source) == "too_large"
    found = totals(capsys)
    assert found["Refreshes", "too_large"] == 1
    assert not [name for name, _ in found if name == "GuardRefusals"]


def test_a_tick_tells_what_was_due_what_went_out_and_whose_cap_is_reached(
    cycle: Cycle, deployment: Deployment, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme, other = deployment.tenant(), deployment.tenant("other")
    rows.set_window(deployment, acme, "22:00", "06:00", cap=2)
    for source in rows.add_many(deployment, acme, 5, DAY):
        rows.queue(deployment, acme, source, "night", DAY)
    rows.queue(deployment, other, rows.add(deployment, other, URL, DAY), "night", DAY)
    at(monkeypatch, rows.instant("2026-11-29T22:00:00"))
    capsys.readouterr()
    assert tick.run("request-1") == {
        "due": 6, "dispatched": 3, "unsent": 0, "caps_reached": 1, "leases_swept": 0, "lost_swept": 0,
        "dropped": {"events": 0, "suggestions": 0, "held_texts": 0},
    }  # fmt: skip
    found = totals(capsys)
    assert (found["TicksDone", None], found["SourcesDue", None], found["EventsDispatched", None]) == (1, 6, 3)
    assert (found["CapsReached", None], found["EventsUnsent", None], found["EventsSwept", None]) == (1, 0, 0)


def test_a_backlog_is_counted_to_a_bound(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    acme = deployment.tenant()
    for source in rows.add_many(deployment, acme, 4, DAY):
        rows.queue(deployment, acme, source, "now", DAY)
    monkeypatch.setattr(scheduling, "DUE_COUNTED", 3)
    assert scheduling.tick(deployment.worker, now=DAY).due == 3


def at(monkeypatch: pytest.MonkeyPatch, now: datetime) -> None:
    """What the tick's clock says."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return now

    monkeypatch.setattr(tick, "datetime", Clock)


def test_a_tick_that_fails_is_not_counted_as_done(
    cycle: Cycle, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(scheduling, "tick", fail)
    with pytest.raises(RuntimeError):
        tick.run()
    assert totals(capsys) == {}


def test_a_message_tells_its_age_and_a_failed_one_that_it_failed(cycle: Cycle, capsys: Capture) -> None:
    sent = {"SentTimestamp": str(int((datetime.now(UTC).timestamp() - 60) * 1000))}
    failures = worker.handle([record("no event", attributes=sent)])["batchItemFailures"]
    assert failures == [{"itemIdentifier": "m-1"}]
    found = totals(capsys)
    assert found["MessagesFailed", None] == 1
    assert found["QueueAge", None] >= 60_000
    done = worker.handle([record(messages.body_of(uuid4()), attributes=sent)])
    assert done == {"batchItemFailures": []}
    assert ("MessagesFailed", None) not in totals(capsys)


def test_a_used_up_limit_is_counted_and_a_request_that_was_served_writes_no_metric(
    deployment: Deployment, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "outside", lambda: deployment.outside)
    acme = deployment.tenant()
    made = acme.post("/v1/widgets", {"name": "page", "origins": ["https://www.example.com"]}).json
    rows.sql(deployment, "update tenants set mutations_per_hour = 1")
    assert acme.get("/v1/kb/status").status == 200
    assert totals(capsys) == {}
    assert acme.post("/v1/kb/settings", {}).status == 429
    assert totals(capsys) == {("RateLimited", "mutations"): 1}
    small = replace(deployment.outside, settings=replace(deployment.outside.settings, widget_per_token=1))
    monkeypatch.setattr(bootstrap, "outside", lambda: small)
    headers = {"Authorization": f"Bearer {made['token']}", "Origin": "https://www.example.com"}
    for _ in range(2):
        deployment.request("POST", "/v1/widget/search", headers, {"query": "plums"})
    assert totals(capsys) == {("RateLimited", "widget"): 1}


def test_what_one_tenant_does_stands_under_no_name_of_its_own(
    cycle: Cycle, deployment: Deployment, capsys: Capture
) -> None:
    acme: Tenant = deployment.tenant("acme")
    source = rows.add(deployment, acme, URL, DAY)
    cycle.web.page(URL, "Plums keep for a year.")
    cycle.refresh(acme, source)
    cycle.now += timedelta(minutes=1)
    tick.run()
    written = [line for line in capsys.readouterr().out.splitlines() if line.startswith('{"_aws"')]
    assert written
    for word in ("acme", "example.com", str(acme.id), str(source.id), "lums"):
        assert not [line for line in written if word in line]
    names = {name for line in written for point in emf.read(line) for name, _ in point.dimensions}
    assert names <= {"service", *(m.dimension.name for m in metrics.CATALOGUE if m.dimension)}
