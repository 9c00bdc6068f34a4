"""The doctor over HTTP: what it says when all is well, and of each thing that isn't."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.keys import Keyring
from chalicelib.queueing.messages import Depths
from chalicelib.services import scheduling
from tests.any_row import make_row
from tests.api import tables
from tests.integration import rows
from tests.tenants import Deployment, Tenant


def report(tenant: Tenant) -> dict[str, dict[str, Any]]:
    answer = tenant.get("/v1/doctor")
    assert answer.status == 200, answer.json
    return {check["name"]: check for check in answer.json["checks"]} | {"all": {"status": answer.json["status"]}}


def configure(deployment: Deployment, **environment: str) -> None:
    deployment.environment.update(environment)
    deployment.outside = deployment.build("larder_app")


def test_all_is_well_after_a_tick_and_with_an_allowlist(deployment: Deployment, acme: Tenant) -> None:
    configure(deployment, KB_ALLOWLIST_DOMAINS="example.com")
    scheduling.tick(deployment.worker, now=datetime.now(UTC))
    found = report(acme)
    assert {name: check["status"] for name, check in found.items() if check["status"] != "ok"} == {}
    assert found["migrations"]["facts"] == {"pending": []}
    assert found["embedding_model"]["facts"]["dimension"] == 384
    assert found["queue"]["facts"] == found["dead_letters"]["facts"] == {"depth": 0}


def test_a_fresh_deployment_warns_of_what_is_not_there_yet(deployment: Deployment, acme: Tenant) -> None:
    found = report(acme)
    warned = {name for name, check in found.items() if check["status"] == "warning"}
    assert warned == {"schedule", "queue", "dead_letters", "guard", "all"}


def test_a_schedule_that_stopped_and_a_queue_that_is_gone_are_failing(deployment: Deployment, acme: Tenant) -> None:
    class Gone:
        def depths(self) -> Depths:
            return Depths(None, 3)

    worker: Any = replace(deployment.worker, queue=Gone())  # type: ignore[arg-type]
    scheduling.tick(worker, now=datetime.now(UTC) - timedelta(minutes=9))
    found = report(acme)
    assert (found["schedule"]["status"], found["queue"]["status"], found["all"]["status"]) == ("failing",) * 3
    assert (found["dead_letters"]["status"], found["dead_letters"]["facts"]) == ("warning", {"depth": 3})


@pytest.mark.parametrize(
    ("environment", "check", "status"),
    [
        ({"KB_ALLOW_PRIVATE_NETWORKS": "true"}, "guard", "warning"),
        ({"LARDER_FIREWALL_MODE": "enforced"}, "firewall_modes", "failing"),
        ({"LARDER_FIREWALL_FLOOR": "strict"}, "firewall_modes", "failing"),
        ({"LARDER_FIREWALL_MODE": "off"}, "firewall_modes", "warning"),
        ({"LARDER_FIREWALL_MODE": " Enforce "}, "firewall_modes", "ok"),
        ({"LARDER_ALLOW_UNSCANNED_MEMORY": "1"}, "ingest_gates", "warning"),
    ],
)
def test_settings_that_weaken_are_told(
    deployment: Deployment, acme: Tenant, environment: dict[str, str], check: str, status: str
) -> None:
    configure(deployment, **environment)
    found = report(acme)[check]
    assert found["status"] == status, found
    if status == "failing":
        assert next(iter(environment)) in found["detail"]


def test_a_touched_record_is_failing_and_says_where(deployment: Deployment, acme: Tenant) -> None:
    source = acme.add("https://page.example/")["id"]
    with tables.superuser(deployment) as connection:
        make_row(connection, "kb_versions", tenant_id=acme.id, source_id=source, version=1)
        make_row(connection, "kb_chunks", tenant_id=acme.id, source_id=source, text="A few words.", overlap=0)
        connection.execute("update kb_sources set current_version = 1, last_checked_at = now()")
    assert len(acme.post("/v1/kb/search", {"query": "words"}).json["hits"]) == 1
    assert report(acme)["audit_chain"]["facts"] == {"segments": 1, "rows": 1, "rows_left_out": 0}
    rows.sql(deployment, "update policy_evaluations set reason = 'x'")
    found = report(acme)["audit_chain"]
    assert (found["status"], "edited" in found["detail"]) == ("failing", True)


def test_the_newest_of_a_long_record_is_walked(
    deployment: Deployment, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chalicelib.services import doctor_memory

    with tables.superuser(deployment) as connection:
        for day, count in (("2026-01-01", 7), ("2026-01-02", 0)):
            make_row(connection, "evaluation_segments", tenant_id=acme.id, day=day, kind="allow", row_count=count)
    assert report(acme)["audit_chain"]["status"] == "failing", "seven rows are missing"
    monkeypatch.setattr(doctor_memory, "AUDIT_ROWS", 5)
    assert report(acme)["audit_chain"]["facts"]["rows_left_out"] == 7


def test_a_damaged_text_is_counted_and_its_chunk_named(deployment: Deployment, acme: Tenant, other: Tenant) -> None:
    own, theirs = (tenant.add("https://page.example/")["id"] for tenant in (acme, other))
    with tables.superuser(deployment) as connection:
        for number, text in enumerate(["fine\ttext\n\f", "bad \x08 text", "\x7f\x85\ufffd let be"]):
            make_row(connection, "kb_chunks", tenant_id=acme.id, source_id=own, text=text, chunk_index=number)
        make_row(connection, "kb_chunks", tenant_id=other.id, source_id=theirs, text="theirs \x01", chunk_index=0)
    found = report(acme)["memory_text_damage"]
    assert found["status"] == "failing"
    assert (found["facts"]["examined"], found["facts"]["damaged"], len(found["facts"]["recallable"])) == (3, 1, 1)
    assert "bad" not in str(found)


def test_what_cannot_be_looked_at_keeps_nothing_else_from_it(deployment: Deployment, acme: Tenant) -> None:
    deployment.outside = replace(deployment.outside, keys=Keyring("/nowhere"))
    rows.sql(deployment, "revoke select on quarantine from larder_app")
    found = report(acme)
    assert found["keys"] == {
        "name": "keys", "status": "failing", "detail": "the list of keys can't be read", "facts": {},
    }  # fmt: skip
    assert (found["quarantine"]["status"], "InsufficientPrivilege" in found["quarantine"]["detail"]) == (
        "failing",
        True,
    )
    assert found["caches"]["status"] == "ok"


def test_migrations_that_are_missing_or_unknown_are_failing(deployment: Deployment, acme: Tenant) -> None:
    rows.sql(deployment, "delete from schema_migrations where number = 8")
    found = report(acme)["migrations"]
    assert (found["status"], found["facts"]["pending"]) == ("failing", ["0008_doctor"])
    rows.sql(deployment, "insert into schema_migrations values (9999, 'later', 'x')")
    assert report(acme)["migrations"]["status"] == "failing"


def test_an_invalid_index_is_failing(deployment: Deployment, acme: Tenant) -> None:
    rows.sql(
        deployment, "update pg_index set indisvalid = false where indexrelid = 'kb_chunks_open_embedding'::regclass"
    )
    assert report(acme)["pgvector"]["status"] == "failing"


def test_quarantine_is_counted_by_gate(deployment: Deployment, acme: Tenant, other: Tenant) -> None:
    with tables.superuser(deployment) as connection:
        for tenant, state in ((acme, "held"), (acme, "held"), (acme, "dropped"), (other, "held")):
            make_row(connection, "quarantine", tenant_id=tenant.id, gate="deny_patterns", state=state)
    assert report(acme)["quarantine"]["facts"] == {"held": {"deny_patterns": 2}}


def enable(tenant: Tenant) -> dict[str, dict[str, Any]]:
    answer = tenant.post("/v1/doctor/features", {"feature": "memory-rag"})
    assert answer.status == 200, answer.json
    return {check["name"]: check for check in answer.json["checks"]} | {"all": {"status": answer.json["status"]}}


def test_memory_rag_turns_on_what_is_off_and_proves_each_part_without_a_trace(
    deployment: Deployment, acme: Tenant
) -> None:
    configure(deployment, ENABLE_KB_RETRIEVAL="true")
    acme.post("/v1/memory/firewall/mode", {"mode": "off"})
    before = tables.dump(deployment)
    found = enable(acme)
    assert {name: check["status"] for name, check in found.items() if check["status"] != "ok"} == {}
    assert found["firewall"]["facts"] == {"mode": "advisory", "turned_on": True}
    assert acme.get("/v1/memory/firewall/mode").json["effective"] == "advisory"
    allowed = {"tenants", "admin_audit", "mutation_windows"}
    assert set(tables.changed(before, tables.dump(deployment))) <= allowed, "probes leave nothing behind"
    assert enable(acme)["firewall"]["facts"] == {"mode": "advisory", "turned_on": False}


@pytest.mark.parametrize(
    ("environment", "part", "status"),
    [
        ({"LARDER_ALLOW_UNSCANNED_MEMORY": "1"}, "secret_scan", "failing"),
        ({"ENABLE_KB_RETRIEVAL": "false"}, "retrieval", "warning"),
    ],
)
def test_what_the_deployment_turns_off_is_told(
    deployment: Deployment, acme: Tenant, environment: dict[str, str], part: str, status: str
) -> None:
    configure(deployment, **environment)
    found = enable(acme)[part]
    assert found["status"] == status
    assert next(iter(environment)) in found["detail"]


@pytest.mark.parametrize("mode", ["advisory", "enforce"])
def test_a_stricter_mode_is_left_as_it_is(deployment: Deployment, acme: Tenant, mode: str) -> None:
    acme.post("/v1/memory/firewall/mode", {"mode": mode})
    assert enable(acme)["firewall"]["facts"] == {"mode": mode, "turned_on": False}


def test_a_record_that_cannot_be_written_fails_its_proof(deployment: Deployment, acme: Tenant) -> None:
    rows.sql(deployment, "revoke insert on policy_evaluations from larder_app")
    found = enable(acme)
    assert (found["record"]["status"], found["firewall"]["status"]) == ("failing", "failing")
