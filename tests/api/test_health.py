"""Alive without a look at anything; ready if four things are in order, and else which of them are not."""

from __future__ import annotations

import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.queueing.messages import Depths
from chalicelib.services import scheduling
from chalicelib.storage.connection import Database
from tests.integration import rows
from tests.tenants import Answer, Deployment

SECRETS = ("larder_app", "postgres", "host", "Operational", "relation", "permission")


class Unreachable:
    def depths(self) -> Depths:
        return Depths(None, None)


def ready(deployment: Deployment) -> Answer:
    return deployment.request("GET", "/readyz", {})


def failing(answer: Answer) -> set[str]:
    """What fails; the rest is listed and ok, and nothing is told beyond names and words."""
    assert [set(check) for check in answer.json["checks"]] == [{"name", "status"}] * 4
    assert {check["name"] for check in answer.json["checks"]} == {"database", "schema", "queue", "schedule"}
    assert {check["status"] for check in answer.json["checks"]} <= {"ok", "failing"}
    assert not [word for word in SECRETS if word in str(answer.json)]
    found = {check["name"] for check in answer.json["checks"] if check["status"] == "failing"}
    assert (answer.status, answer.json["status"]) == ((503, 503) if found else (200, "ok"))
    return found


def ticked(deployment: Deployment, *, ago: float = 0.0, **more: Any) -> None:
    scheduling.tick(replace(deployment.worker, **more), now=datetime.now(UTC) - timedelta(minutes=ago))


def test_it_lives_whatever_else_is_down(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("no I/O")

    deployment.outside = replace(deployment.outside, database=Database("postgresql://nowhere.invalid/none"))
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(Database, "transaction", refuse)
    answer = deployment.request("GET", "/livez", {})
    assert (answer.status, answer.json) == (200, {"status": "ok"})


def test_all_in_order_is_ready(deployment: Deployment) -> None:
    ticked(deployment)
    assert failing(ready(deployment)) == set()


def test_before_the_first_tick_it_is_not_ready(deployment: Deployment) -> None:
    answer = ready(deployment)
    assert failing(answer) == {"queue", "schedule"}
    assert answer.json["code"] == "not_ready"


def test_a_schedule_that_stopped_is_not_ready(deployment: Deployment) -> None:
    ticked(deployment, ago=5)
    assert failing(ready(deployment)) == {"schedule"}


def test_a_queue_that_the_last_tick_did_not_reach_is_not_ready(deployment: Deployment) -> None:
    ticked(deployment, queue=Unreachable())
    assert failing(ready(deployment)) == {"queue"}


def test_a_schema_that_lacks_a_migration_is_not_ready_and_a_newer_one_is(deployment: Deployment) -> None:
    ticked(deployment)
    rows.sql(deployment, "insert into schema_migrations (number, name, checksum) values (9999, 'later', 'x')")
    assert failing(ready(deployment)) == set()
    last = "select max(number) from schema_migrations where number < 9999"
    rows.sql(deployment, f"update schema_migrations set checksum = 'edited' where number = ({last})")
    assert failing(ready(deployment)) == {"schema"}


def test_a_database_without_a_schema_answers_and_is_not_ready(deployment: Deployment) -> None:
    ticked(deployment)
    rows.sql(deployment, "alter table schema_migrations rename to elsewhere")
    assert failing(ready(deployment)) == {"schema", "queue", "schedule"}


def test_a_silent_database_makes_nothing_ready(deployment: Deployment) -> None:
    deployment.outside = replace(deployment.outside, database=Database("postgresql://larder_app@127.0.0.1:1/larder"))
    assert failing(ready(deployment)) == {"database", "schema", "queue", "schedule"}


def test_a_look_is_one_statement_in_one_transaction(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    ticked(deployment)
    ready(deployment)
    begun = []
    transaction = Database.transaction

    def counted(self: Database, *args: Any) -> Any:
        begun.append(self)
        return transaction(self, *args)

    monkeypatch.setattr(Database, "transaction", counted)
    for _ in range(3):
        ready(deployment)
    assert len(begun) == 3
