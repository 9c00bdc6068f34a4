"""Retention over HTTP and by the tick: what goes, what is asked about first, and what an answer does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from chalicelib.domain.chunking import content_hash
from chalicelib.services import enforcement, evaluations, retention, scheduling, search
from tests.integration import rows
from tests.security import marked
from tests.tenants import Deployment, Tenant

NOW = datetime.now(UTC)


@pytest.fixture
def source(acme: Tenant) -> UUID:
    made = UUID(acme.add("https://page.example/")["id"])
    marked.write_version(acme, made, 1, NOW - timedelta(days=900), None)
    return made


def text(name: str) -> str:
    return marked.sentence(f"zq{name}")


def keep(tenant: Tenant, source: UUID, name: str, *, came: float, expires: float | None) -> UUID:
    """A text that came so many days ago and ends so many days from now."""
    index = rows.sql(tenant.deployment, "select count(*) from kb_chunks")[0]["count"]
    chunk = marked.write_chunk(tenant, source, index, text(name), NOW - timedelta(days=came), None)
    if expires is not None:
        marked.set_policy(tenant, source, text(name), sensitivity="", expires_at=NOW + timedelta(days=expires))
    return chunk


def recall(tenant: Tenant, days_ago: float, query: str = marked.WORD) -> None:
    """Somebody searches, so many days ago."""
    deployment, who = tenant.deployment, replace(rows.principal(tenant), operator_name=None)
    reading = enforcement.reading(deployment.outside, who, role=None, purpose=None, trace_id="t")
    question = search.Question(query, 50, "keyword")
    search.search(deployment.outside, who, reading, question, NOW - timedelta(days=days_ago))


def require_approval(tenant: Tenant) -> None:
    assert tenant.post("/v1/kb/settings", {"memory_require_approval": True}).json["memory_require_approval"] is True


def preview(tenant: Tenant) -> Any:
    answer = tenant.get("/v1/memory/retention")
    assert answer.status == 200, answer.json
    return answer.json


def sweep(tenant: Tenant) -> Any:
    return tenant.post("/v1/memory/retention").json


def requests(tenant: Tenant, state: str = "open") -> list[dict[str, Any]]:
    return list(tenant.get(f"/v1/memory/deletion-requests?state={state}&limit=200").json["items"])


def stored(deployment: Deployment) -> set[str]:
    return {row["text"] for row in rows.sql(deployment, "select text from kb_chunks")}


def test_without_the_setting_texts_go_when_they_end(deployment: Deployment, acme: Tenant, source: UUID) -> None:
    gone = keep(acme, source, "gone", came=9, expires=-0.001)
    keep(acme, source, "later", came=9, expires=0.1)
    keep(acme, source, "endless", came=999, expires=None)
    assert [one["chunk_id"] for one in preview(acme)["to_erase"]] == [str(gone)]
    assert text("gone") in stored(deployment), "a preview does nothing"
    assert sweep(acme) == {"erased": 1, "asked": 0, "lapsed": 0}
    assert stored(deployment) == {"[forgotten]", text("later"), text("endless")}
    assert rows.sql(deployment, "select content_hash from tombstones") == [{"content_hash": content_hash(text("gone"))}]
    assert rows.sql(deployment, "select action, after->'chunks' as chunks from admin_audit") == [
        {"action": "retention.expired", "chunks": [str(gone)]}
    ]
    assert sweep(acme) == {"erased": 0, "asked": 0, "lapsed": 0}


def test_a_source_that_ends_takes_all_its_texts_with_it(deployment: Deployment, acme: Tenant, source: UUID) -> None:
    for name in ("one", "two"):
        keep(acme, source, name, came=9, expires=None)
    rows.sql(deployment, "update kb_sources set expires_at = now() - interval '1 second'")
    assert sweep(acme)["erased"] == 2


def test_the_tick_sweeps_every_tenant_once_an_hour(
    deployment: Deployment, acme: Tenant, other: Tenant, source: UUID
) -> None:
    theirs = UUID(other.add("https://page.example/")["id"])
    keep(acme, source, "ours", came=9, expires=-1)
    keep(other, theirs, "theirs", came=9, expires=-1)
    minute = datetime.now(UTC).replace(minute=scheduling.HOUSEKEEPING_MINUTE)
    scheduling.tick(deployment.worker, now=minute.replace(minute=scheduling.HOUSEKEEPING_MINUTE + 1))
    assert len(stored(deployment)) == 2
    scheduling.tick(deployment.worker, now=minute)
    assert stored(deployment) == {"[forgotten]"}


@pytest.mark.parametrize(
    ("came", "expires", "recalled", "asked"),
    [
        (400, -370, None, True),  # it lived 30 days, and nobody has ever used it
        (400, -370, 364, False),
        (400, -370, 366, True),
        (364, -300, None, False),
        (800, -100, 400, False),  # its own life of 700 days is longer than the window
        (800, -100, 701, True),
        (800, 10, 799, False),
        (800, None, None, False),
    ],
)
def test_with_the_setting_it_is_asked_about_texts_that_nobody_uses(
    deployment: Deployment, acme: Tenant, source: UUID, came: float, expires: float | None, recalled: float | None,
    asked: bool,
) -> None:  # fmt: skip
    require_approval(acme)
    keep(acme, source, "one", came=came, expires=expires)
    if recalled is not None:
        recall(acme, recalled)
    assert len(preview(acme)["to_ask"]) == asked
    assert sweep(acme) == {"erased": 0, "asked": int(asked), "lapsed": 0}
    assert stored(deployment) == {text("one")}, "while it is asked about it stays"
    assert len(acme.post("/v1/kb/search", {"query": marked.WORD}).json["hits"]) == 1


def test_an_approved_text_goes_and_a_refused_one_stays(deployment: Deployment, acme: Tenant, source: UUID) -> None:
    require_approval(acme)
    for name in ("goes", "stays"):
        keep(acme, source, name, came=500, expires=-400)
    sweep(acme)
    by_hash = {row["id"]: row["content_hash"] for row in rows.sql(deployment, "select * from deletion_requests")}
    goes, stays = sorted(requests(acme), key=lambda one: by_hash[UUID(one["id"])] != content_hash(text("goes")))
    approved = acme.post(f"/v1/memory/deletion-requests/{goes['id']}/approve")
    assert (approved.status, approved.json["state"]) == (200, "approved")
    refused = acme.post(f"/v1/memory/deletion-requests/{stays['id']}/refuse")
    assert (refused.status, refused.json["state"]) == (200, "refused")
    assert stored(deployment) == {"[forgotten]", text("stays")}
    again = acme.post(f"/v1/memory/deletion-requests/{stays['id']}/approve")
    assert (again.status, again.json["code"]) == (409, "request_decided")
    assert sweep(acme)["asked"] == 0, "no question is repeated within 30 days of its answer"
    rows.sql(deployment, "update deletion_requests set decided_at = decided_at - interval '31 days'")
    assert sweep(acme)["asked"] == 1
    actions = {row["action"] for row in rows.sql(deployment, "select action from admin_audit")}
    assert {"deletion_request.approved", "deletion_request.refused"} <= actions


@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        ("update chunk_policies set sensitivity = 'restricted'", ["policy"]),
        ("update chunk_policies set expires_at = expires_at + interval '1 day'", ["policy", "expires_at"]),
        ("update kb_sources set sensitivity = 'confidential'", ["policy"]),
        ("update kb_chunks set system_time = tstzrange(lower(system_time), now())", ["text"]),
        ("update chunk_policies set expires_at = null", ["text"]),
    ],
)
def test_an_approval_deletes_only_what_is_as_it_was(
    deployment: Deployment, acme: Tenant, source: UUID, statement: str, changed: list[str]
) -> None:
    require_approval(acme)
    keep(acme, source, "one", came=500, expires=-400)
    sweep(acme)
    rows.sql(deployment, statement)
    answer = acme.post(f"/v1/memory/deletion-requests/{requests(acme)[0]['id']}/approve")
    assert (answer.status, answer.json["code"], answer.json["changed"]) == (409, "text_changed", changed)
    assert stored(deployment) == {text("one")}


def test_a_use_since_the_question_keeps_the_text(deployment: Deployment, acme: Tenant, source: UUID) -> None:
    require_approval(acme)
    keep(acme, source, "one", came=500, expires=-400)
    sweep(acme)
    request = requests(acme)[0]
    assert len(acme.post("/v1/kb/search", {"query": marked.WORD}).json["hits"]) == 1
    answer = acme.post(f"/v1/memory/deletion-requests/{request['id']}/approve")
    assert (answer.status, answer.json["changed"]) == (409, ["last_recalled_at"])
    assert sweep(acme) == {"erased": 0, "asked": 0, "lapsed": 1}
    assert stored(deployment) == {text("one")}


def test_a_look_that_was_blocked_is_no_use(deployment: Deployment, acme: Tenant, source: UUID) -> None:
    require_approval(acme)
    keep(acme, source, "one", came=500, expires=-400)
    acme.post("/v1/memory/firewall/mode", {"mode": "enforce"})
    assert acme.post("/v1/kb/search", {"query": marked.WORD}).json["hits"] == []
    assert preview(acme)["to_ask"][0]["last_recalled_at"] is None


def test_the_last_use_outlives_the_decision_that_told_it(deployment: Deployment, acme: Tenant, source: UUID) -> None:
    require_approval(acme)
    keep(acme, source, "one", came=500, expires=40)
    recall(acme, 40)
    rows.sql(deployment, "update chunk_policies set expires_at = now() - interval '450 days'")
    sweep(acme)
    evaluations.seal(deployment.worker, now=NOW)
    assert evaluations.retain(deployment.worker, now=NOW) == 1
    assert sweep(acme)["asked"] == 0
    rows.sql(deployment, "update chunk_recalls set last_recalled_at = last_recalled_at - interval '330 days'")
    assert sweep(acme)["asked"] == 1


def test_at_most_twenty_questions_are_open_and_they_lapse_after_a_week(
    deployment: Deployment, acme: Tenant, source: UUID
) -> None:
    require_approval(acme)
    for number in range(23):
        keep(acme, source, f"text{chr(97 + number)}", came=500 + number, expires=-400)
    assert sweep(acme)["asked"] == 20
    assert preview(acme)["open_requests"] == 20
    assert sweep(acme)["asked"] == 0
    rows.sql(deployment, "update deletion_requests set lapses_at = now() - interval '1 s' where id in"
                         " (select id from deletion_requests limit 5)")  # fmt: skip
    lapsed = next(one for one in requests(acme) if datetime.fromisoformat(one["lapses_at"]) <= datetime.now(UTC))
    answer = acme.post(f"/v1/memory/deletion-requests/{lapsed['id']}/approve")
    assert (answer.status, answer.json["code"]) == (409, "request_lapsed")
    assert sweep(acme) == {"erased": 0, "asked": 3, "lapsed": 5}
    assert len(requests(acme, "lapsed")) == 5
    assert len(stored(deployment)) == 23


def test_another_tenants_question_is_not_there(
    deployment: Deployment, acme: Tenant, other: Tenant, source: UUID
) -> None:
    require_approval(acme)
    keep(acme, source, "one", came=500, expires=-400)
    sweep(acme)
    [request] = requests(acme)
    assert (preview(other)["to_ask"], requests(other), sweep(other)["asked"]) == ([], [], 0)
    for answer in ("approve", "refuse"):
        for ident in (request["id"], str(uuid4())):
            assert other.post(f"/v1/memory/deletion-requests/{ident}/{answer}").status == 404


def test_a_tenant_that_fails_keeps_no_other_from_its_sweep(
    deployment: Deployment, acme: Tenant, other: Tenant, source: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(acme, source, "ours", came=9, expires=-1)
    keep(other, UUID(other.add("https://page.example/")["id"]), "theirs", came=9, expires=-1)
    real = retention.sweep

    def failing(outside: Any, tenant_id: UUID, now: datetime) -> Any:
        if tenant_id == acme.id:
            raise RuntimeError
        return real(outside, tenant_id, now)

    monkeypatch.setattr(retention, "sweep", failing)
    retention.sweep_all(deployment.worker, now=NOW)
    assert stored(deployment) == {text("ours"), "[forgotten]"}
