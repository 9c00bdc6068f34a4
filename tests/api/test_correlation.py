"""One id goes with the work: from the request's answer to the event, the message, the worker's log and the record."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from chalice.local import LambdaEventConverter

from chalicelib import bootstrap
from chalicelib.queueing.messages import CORRELATION_ATTRIBUTE, body_of
from chalicelib.services import policies, scheduling
from chalicelib.telemetry import logger
from chalicelib.workers import refresh as worker
from tests.integration import rows
from tests.integration.cycle import Cycle
from tests.tenants import Answer, Deployment, Tenant

URL = "https://page.example/"
NOTE = {"text": "The kettle whistles at noon, every day of the week."}


@pytest.fixture
def cycle(deployment: Deployment) -> Cycle:
    """Requests reach what the API may; the worker what the worker may."""
    cycle = Cycle(deployment, datetime.now(UTC))
    cycle.web.page(URL, "The kettle whistles at noon, every day of the week, and twice on Sundays.")
    return cycle


@pytest.fixture(autouse=True)
def _numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each request gets an id, as API Gateway gives one."""
    create = LambdaEventConverter.create_lambda_event

    def numbered(self: LambdaEventConverter, **request: Any) -> Any:
        event = create(self, **request)
        event["requestContext"]["requestId"] = str(uuid4())
        return event

    monkeypatch.setattr(LambdaEventConverter, "create_lambda_event", numbered)


def id_of(answer: Answer) -> str:
    assert answer.status < 300, answer
    found = answer.headers["x-correlation-id"]
    assert found
    return found


def deliver(cycle: Cycle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tick, and hand each message to the worker as the queue would."""
    scheduling.tick(cycle.deployment.worker, now=datetime.now(UTC))
    with monkeypatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: cycle.outside)
        for number, message in enumerate(cycle.deployment.queue.messages):
            sent = {CORRELATION_ATTRIBUTE: {"stringValue": message.correlation_id}} if message.correlation_id else {}
            record = {"messageId": f"m-{number}", "body": body_of(message.event_id), "messageAttributes": sent}
            assert worker.handle([record]) == {"batchItemFailures": []}
    cycle.deployment.queue.messages.clear()


def test_a_request_is_followed_to_the_worker(
    cycle: Cycle, acme: Tenant, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source = acme.add(URL)["id"]
    asked = id_of(acme.post(f"/v1/kb/sources/{source}/queue", {"when": "now"}))
    assert [row["correlation_id"] for row in rows.sql(cycle.deployment, "select * from kb_events")] == [asked]
    scheduling.tick(cycle.deployment.worker, now=datetime.now(UTC))
    assert [message.correlation_id for message in cycle.deployment.queue.messages] == [asked]
    rows.sql(cycle.deployment, "update kb_events set state = 'pending', dispatched_at = null")
    cycle.deployment.queue.messages.clear()
    deliver(cycle, monkeypatch)
    (line,) = [record for record in caplog.records if record.getMessage() == "refreshed"]
    assert formatted(line)["correlation_id"] == asked


def formatted(record: Any) -> dict[str, Any]:
    """The line as it is written."""
    line: dict[str, Any] = json.loads(logger.registered_formatter.format(record))
    return line


def test_a_decision_bears_the_id_of_the_request_that_it_was_made_for(
    cycle: Cycle, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme.post(f"/v1/kb/sources/{acme.add(URL)['id']}/queue", {"when": "now"})
    deliver(cycle, monkeypatch)
    searched = id_of(acme.post("/v1/kb/search", {"query": "when does the kettle whistle"}))
    found = rows.sql(cycle.deployment, "select distinct trace_id from policy_evaluations")
    assert [row["trace_id"] for row in found] == [searched]


def test_the_ingest_log_bears_it_for_what_was_admitted_and_what_was_held(
    cycle: Cycle, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    admitted = id_of(acme.post("/v1/memory/notes", NOTE))
    acme.post("/v1/memory/deny-patterns", {"add": ["kettle"]})
    held = id_of(acme.post("/v1/memory/notes", NOTE))
    fetched = id_of(acme.post(f"/v1/kb/sources/{acme.add(URL)['id']}/queue", {"when": "now"}))
    deliver(cycle, monkeypatch)
    found = rows.sql(cycle.deployment, "select deposit, outcome, correlation_id from ingest_log order by at")
    assert [tuple(row.values()) for row in found] == [
        ("note", "admit", admitted),
        ("note", "quarantine", held),
        ("page", "quarantine", fetched),
    ]


def test_what_no_request_asked_for_bears_its_messages_id(
    cycle: Cycle, acme: Tenant, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    deliver(cycle, monkeypatch)
    (line,) = [record for record in caplog.records if record.getMessage() == "refreshed"]
    assert formatted(line)["correlation_id"] == "m-0"


def test_a_change_by_an_admin_bears_the_id_of_its_request_and_what_the_house_does_bears_none(
    cycle: Cycle, acme: Tenant
) -> None:
    source = acme.add(URL)["id"]
    policy = f"/v1/kb/sources/{source}/policy"
    fields = {"sensitivity": "internal"}
    headers = {**acme._headers(), "If-Match": acme.get(policy).headers["etag"]}
    done = [
        id_of(cycle.deployment.request("POST", policy, headers, fields)),
        id_of(acme.post("/v1/memory/deny-patterns", {"add": ["kettle"]})),
        id_of(acme.post("/v1/memory/firewall/mode", {"mode": "enforce"})),
    ]
    with cycle.deployment.worker.database.transaction(acme.id) as tx:
        policies.audit_of_house(tx, acme.id, "retention.expired", "tenant", {}, datetime.now(UTC))
    found = rows.sql(cycle.deployment, "select correlation_id from admin_audit order by at")
    assert [row["correlation_id"] for row in found] == [*done, None]
