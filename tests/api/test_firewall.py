"""The firewall over HTTP: what is served in each mode, what is written down, and how it is proven."""

from __future__ import annotations

import csv
import io
import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from chalicelib.services import enforcement, evaluations, search, tenancy
from chalicelib.telemetry import logger
from tests.integration import rows
from tests.integration.cycle import Cycle
from tests.tenants import Deployment, Tenant

URL = "http://docs.example.com/page"
TEXT = "\n".join(
    f"Section {name} {part}. The {name} {part} procedure has rules {part} of {name}, people {part} of {name} and "
    f"papers {part} of {name}; whoever follows {name} {part} writes {part} and {name} on page {part} of {name}."
    for name in ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")
    for part in ("one", "two", "three", "four")
)


@pytest.fixture
def filled(deployment: Deployment, acme: Tenant) -> dict[str, Any]:
    """A tenant with one page of several chunks; the source's id and the chunk ids by their text's word."""
    cycle = Cycle(deployment, datetime.now(UTC))
    source = acme.add(URL)
    cycle.web.page(URL, TEXT)
    acme.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
    cycle.now = datetime.now(UTC)
    assert cycle.deliver() == "new_version"
    hits = ask(acme, "procedure", limit=50)
    assert len(hits) >= 4
    return {"source_id": source["id"], "hits": hits, "cycle": cycle}


def ask(tenant: Tenant, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = tenant.read_only("POST", "/v1/kb/search", {"query": query, **more})
    assert answer.status == 200, answer.json
    return list(answer.json["hits"])


def recorded(deployment: Deployment) -> list[dict[str, Any]]:
    return rows.sql(deployment, "select * from policy_evaluations order by kind, day, number")


def restrict(tenant: Tenant, chunk_id: str, **fields: Any) -> Any:
    return tenant.post(f"/v1/memory/chunks/{chunk_id}/policy", fields or {"sensitivity": "restricted"})


def test_advisory_serves_with_a_warning_and_enforce_drops(acme: Tenant, filled: dict[str, Any]) -> None:
    chunk = filled["hits"][0]["chunk_id"]
    assert restrict(acme, chunk).status == 200
    served = {hit["chunk_id"]: hit for hit in ask(acme, "procedure", limit=50)}
    assert served[chunk]["policy_warning"].startswith("block_sensitivity_tier: ")
    assert acme.post("/v1/memory/firewall/mode", {"mode": " Enforce "}).json["effective"] == "enforce"
    assert chunk not in {hit["chunk_id"] for hit in ask(acme, "procedure", limit=50)}
    assert acme.post("/v1/memory/firewall/mode", {"mode": "off"}).status == 200
    served = {hit["chunk_id"]: hit for hit in ask(acme, "procedure", limit=50)}
    assert served[chunk]["policy_warning"] is None


def test_refuted_text_is_read_by_nobody_in_any_mode(acme: Tenant, filled: dict[str, Any]) -> None:
    chunk = filled["hits"][0]["chunk_id"]
    path = f"/v1/memory/chunks/{chunk}/validation"
    assert acme.post(path, {"status": "refuted", "why": "it was never so"}).status == 200
    for mode in ("off", "advisory", "enforce"):
        acme.post("/v1/memory/firewall/mode", {"mode": mode})
        assert chunk not in {hit["chunk_id"] for hit in ask(acme, "procedure", limit=50)}, mode
        text = acme.get(f"/v1/kb/sources/{filled['source_id']}/text").json
        assert text["withheld"] == 1, mode
        assert "[withheld by policy]" in text["text"], mode


def test_withheld_text_is_neither_in_texts_nor_in_diffs_nor_repeated_by_the_next_chunk(
    acme: Tenant, filled: dict[str, Any]
) -> None:
    acme.post("/v1/memory/firewall/mode", {"mode": "enforce"})
    hits = sorted(filled["hits"], key=lambda hit: hit["chunk_index"])
    secret = hits[1]["text"]
    restrict(acme, hits[1]["chunk_id"])
    filled["cycle"].web.page(URL, TEXT + "\nOne more paragraph about the golf procedure, which is new and harmless.")
    acme.post(f"/v1/kb/sources/{filled['source_id']}/queue", {"when": "now"})
    filled["cycle"].now = datetime.now(UTC)
    assert filled["cycle"].deliver() == "new_version"
    shown = [
        acme.read_only("GET", f"/v1/kb/sources/{filled['source_id']}/text").json["text"],
        acme.read_only("GET", f"/v1/kb/sources/{filled['source_id']}/diff").json["unified"],
        *(hit["text"] for hit in ask(acme, "procedure", limit=50)),
    ]
    for text in shown:
        assert not any(secret[start : start + 60] in text for start in range(0, len(secret) - 60, 30))


def test_every_decision_is_one_row_in_a_chain_that_verifies(deployment: Deployment, acme: Tenant, filled: Any) -> None:
    restrict(acme, filled["hits"][0]["chunk_id"])
    before = len(recorded(deployment))
    hits = ask(acme, "procedure", limit=50)
    new = recorded(deployment)
    assert len(new) - before == len(hits)
    assert {row["decision"] for row in new} == {"allow", "block_sensitivity_tier"}
    verdict = acme.get("/v1/memory/firewall/verify").json
    assert (verdict["ok"], verdict["rows"]) == (True, len(new))


@pytest.mark.parametrize(
    ("what", "statement"),
    [("edited", "update policy_evaluations set reason = 'none' where kind = 'allow' and number = 2"),
     ("missing", "delete from policy_evaluations where kind = 'allow' and number = 2"),
     ("edited", "update policy_evaluations set id = gen_random_uuid() where kind = 'allow' and number = 2"),
     ("edited", "update policy_evaluations set operator = 'x\"' where kind = 'allow' and number = 2"),
     ("edited", "update policy_evaluations e set (id, chunk_id, row_hash) = (o.id, o.chunk_id, o.row_hash)"
      " from policy_evaluations o where e.kind = 'allow' and o.kind = 'allow' and e.number in (2, 3)"
      " and o.number = 5 - e.number"),  # the two change places
     ("cut off", "delete from policy_evaluations e where kind = 'allow'"
      " and number = (select max(number) from policy_evaluations where kind = 'allow')")],
)  # fmt: skip
def test_a_row_that_was_touched_is_found(
    deployment: Deployment, acme: Tenant, filled: dict[str, Any], what: str, statement: str
) -> None:
    rows.sql(deployment, statement)
    verdict = acme.get("/v1/memory/firewall/verify").json
    assert verdict["ok"] is False
    assert [fault["what"] for fault in verdict["faults"]] == [what]


def test_sealed_heads_show_what_happened_also_after_retention(
    deployment: Deployment, acme: Tenant, filled: Any
) -> None:
    for table in ("policy_evaluations", "evaluation_segments"):
        rows.sql(deployment, "set session_replication_role = replica")
        rows.sql(deployment, f"update {table} set day = day - 40 where kind = 'allow'")
    outside = deployment.worker
    now = datetime.now(UTC)
    # The first hash is over the day's name, so a segment that was moved in time is a fault of its own.
    assert [fault.what for fault in evaluations.verify(deployment.outside, rows.principal(acme)).faults] == ["edited"]
    assert evaluations.seal(outside, now=now) == 1
    assert evaluations.retain(outside, now=now) > 0
    assert recorded(deployment) == []
    assert evaluations.verify(deployment.outside, rows.principal(acme)).faults == []
    rows.sql(deployment, "update evaluation_segments set row_count = row_count - 1")
    faults = evaluations.verify(deployment.outside, rows.principal(acme)).faults
    assert [fault.what for fault in faults] == ["head changed after it was sealed"]


@pytest.mark.parametrize("when", ["now()", "now() + interval '99 days'"])
def test_a_day_whose_decisions_went_before_their_time_is_found(
    deployment: Deployment, acme: Tenant, filled: Any, when: str
) -> None:
    assert evaluations.seal(deployment.worker, now=datetime.now(UTC) + timedelta(days=1)) == 1
    assert evaluations.verify(deployment.outside, rows.principal(acme)).faults == []
    rows.sql(deployment, f"update evaluation_segments set dropped_at = {when} where kind = 'allow'")
    rows.sql(deployment, "delete from policy_evaluations where kind = 'allow'")
    faults = evaluations.verify(deployment.outside, rows.principal(acme)).faults
    assert [fault.what for fault in faults] == ["dropped before its time"]


def test_each_sealed_head_is_logged_once_as_verify_shows_it(
    deployment: Deployment, acme: Tenant, filled: Any, caplog: pytest.LogCaptureFixture
) -> None:
    rows.sql(deployment, "set session_replication_role = replica")
    rows.sql(deployment, "update evaluation_segments set day = day - 40, row_count = 0, last_hash = 'zq'")
    rows.sql(deployment, "delete from policy_evaluations")
    caplog.clear()
    assert evaluations.seal(deployment.worker, now=datetime.now(UTC)) == 1
    assert evaluations.seal(deployment.worker, now=datetime.now(UTC)) == 0
    [told] = [json.loads(logger.registered_formatter.format(record)) for record in caplog.records]
    verdict = acme.get("/v1/memory/firewall/verify").json
    [head] = verdict["heads"]
    assert (head["kind"], head["row_count"], head["last_hash"]) == ("allow", 0, b"zq".hex())
    assert {"message": evaluations.SEALED, "tenant_id": verdict["tenant_id"], **head}.items() <= told.items()
    assert verdict["tenant_id"] == str(acme.id)


def test_a_seal_is_over_the_one_before_also_where_a_tick_stops_between_them(
    deployment: Deployment, acme: Tenant, filled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows.sql(
        deployment,
        "insert into evaluation_segments (tenant_id, day, kind, row_count, last_hash, dropped_at) "
        "select tenant_id, day - 40 - past, kind, row_count, last_hash, now() from evaluation_segments, "
        "generate_series(1, 3) past",
    )
    monkeypatch.setattr(evaluations, "SEALS_A_TICK", 2)
    assert [evaluations.seal(deployment.worker, now=datetime.now(UTC)) for _ in range(3)] == [2, 1, 0]
    found = evaluations.verify(deployment.outside, rows.principal(acme))
    assert (len(found.heads), found.faults) == (3, [])


def test_the_edge_adds_to_the_record_and_changes_nothing_of_it(
    deployment: Deployment, acme: Tenant, filled: Any
) -> None:
    before = recorded(deployment)
    for statement in (
        "update policy_evaluations set reason = 'x'",
        "delete from policy_evaluations",
        "truncate policy_evaluations",
        "delete from evaluation_segments",
    ):
        for role in ("larder_app", "larder_public", "larder_internal"):
            with psycopg.connect(deployment.server.url(deployment.database_name, "larder_app")) as connection:
                connection.execute(f"set local role {role}".encode())
                connection.execute("select set_config('larder.tenant_id', %s, true)", (str(acme.id),))
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement.encode())
    assert recorded(deployment) == before


def test_a_tenant_that_goes_takes_its_decisions_along_and_nobody_elses(
    deployment: Deployment, acme: Tenant, other: Tenant, filled: Any
) -> None:
    source = other.add(URL)
    other.post(f"/v1/kb/sources/{source['id']}/queue", {"when": "now"})
    filled["cycle"].now = datetime.now(UTC)
    assert filled["cycle"].deliver() == "new_version"
    theirs = len(ask(other, "procedure", limit=50))
    assert theirs
    restrict(acme, filled["hits"][0]["chunk_id"])
    ask(acme, "procedure", limit=50)
    assert {row["kind"] for row in recorded(deployment) if row["tenant_id"] == acme.id} == {"allow", "block"}
    tenancy.delete(deployment.owner, name=acme.name)
    assert [row["tenant_id"] for row in recorded(deployment)] == [other.id] * theirs
    assert other.get("/v1/memory/firewall/verify").json["ok"] is True


def test_a_recall_whose_audit_cannot_be_written_fails(deployment: Deployment, acme: Tenant, filled: Any) -> None:
    rows.sql(deployment, "revoke insert on policy_evaluations from larder_app")
    answer = acme.post("/v1/kb/search", {"query": "procedure"})
    assert answer.status == 500
    assert "hits" not in answer.json


def test_sixteen_readers_at_once_leave_exactly_their_rows(deployment: Deployment, acme: Tenant, filled: Any) -> None:
    before = len(recorded(deployment))
    counts: list[int] = []

    def read() -> None:
        outside = deployment.build("larder_app")
        who = replace(rows.principal(acme), operator_name=None)
        reading = enforcement.reading(outside, who, role=None, purpose=None, trace_id="t")
        question = search.Question("procedure", 50, "hybrid")
        for _ in range(20):
            counts.append(len(search.search(outside, who, reading, question, datetime.now(UTC)).hits))
        outside.database.close()

    threads = [threading.Thread(target=read) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counts) == 320
    assert len(recorded(deployment)) - before == sum(counts)
    assert acme.get("/v1/memory/firewall/verify").json["ok"] is True


def test_a_proof_verifies_until_it_is_touched_and_for_its_tenant_alone(
    acme: Tenant, other: Tenant, filled: dict[str, Any]
) -> None:
    proof = filled["hits"][0]["proof"]
    path = "/v1/memory/firewall/proofs/verify"
    assert acme.post(path, proof).json == {"valid": True}
    assert other.post(path, proof).json == {"valid": False}
    for change in ({"decision": "block_expired"}, {"mac": "0" * 64}, {"key_id": "9"}, {"policy_digest": "x"}):
        assert acme.post(path, {**proof, **change}).json == {"valid": False}


def test_a_policy_write_asks_for_the_policy_that_was_read(acme: Tenant, filled: dict[str, Any]) -> None:
    path = f"/v1/memory/chunks/{filled['hits'][0]['chunk_id']}/policy"
    read = acme.get(path)
    stale = read.headers["etag"]
    deployment = acme.deployment
    headers = {**acme._headers(), "If-Match": stale}
    assert deployment.request("POST", path, headers, {"sensitivity": "confidential"}).status == 200
    answer = deployment.request("POST", path, headers, {"sensitivity": "public"})
    assert (answer.status, answer.json["code"]) == (412, "precondition_failed")
    assert acme.get(path).json["policy"]["sensitivity"] == "confidential"
    audited = rows.sql(deployment, "select * from admin_audit where action = 'chunk.policy'")
    assert len(audited) == 1
    assert audited[0]["before"]["sensitivity"] == "public"
    assert audited[0]["after"]["allowed_purposes"] == ["audit_review", "operational"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"sensitivity": "secret"}, "sensitivity"), ({"allowed_purposes": ["fun"]}, "allowed_purposes"),
     ({"expires_at": "tomorrow"}, "expires_at"), ({"permitted_roles": [""]}, "permitted_roles"),
     ({"tier": "x"}, "tier")],
)  # fmt: skip
def test_a_bad_policy_is_refused_by_field(acme: Tenant, filled: Any, fields: dict[str, Any], field: str) -> None:
    for path in (
        f"/v1/memory/chunks/{filled['hits'][0]['chunk_id']}/policy",
        f"/v1/kb/sources/{filled['source_id']}/policy",
    ):
        answer = acme.post(path, fields)
        assert (answer.status, answer.json["field"]) == (422, field)


def test_an_operator_reads_what_is_restricted_and_nobody_claims_to_be_one(
    deployment: Deployment, acme: Tenant, filled: dict[str, Any]
) -> None:
    acme.post("/v1/memory/firewall/mode", {"mode": "enforce"})
    acme.post(f"/v1/kb/sources/{filled['source_id']}/policy", {"sensitivity": "restricted"})
    assert ask(acme, "procedure") == []
    assert acme.post("/v1/kb/search", {"query": "procedure"}).json["hits"] == [], "this admin token names nobody"
    rows.sql(deployment, "update api_tokens set operator_name = 'Ada' where class = 'admin'")
    assert acme.post("/v1/kb/search", {"query": "procedure"}).json["hits"]
    assert acme.post("/v1/kb/search", {"query": "procedure", "operator": "Ada"}).status == 422
    assert acme.post("/v1/kb/search", {"query": "procedure", "role": "boss"}).json["code"] == "role_not_held"


def test_a_block_never_shortens_the_answer(deployment: Deployment, acme: Tenant, filled: dict[str, Any]) -> None:
    acme.post("/v1/memory/firewall/mode", {"mode": "enforce"})
    best = ask(acme, "procedure", limit=2)
    for hit in best:
        restrict(acme, hit["chunk_id"])
    again = ask(acme, "procedure", limit=2)
    assert len(again) == 2
    assert not {hit["chunk_id"] for hit in again} & {hit["chunk_id"] for hit in best}
    blocked = [row for row in recorded(deployment) if row["kind"] == "block"]
    assert {str(row["chunk_id"]) for row in blocked} == {hit["chunk_id"] for hit in best}


def test_the_export_is_csv_that_no_spreadsheet_runs(deployment: Deployment, acme: Tenant, filled: Any) -> None:
    rows.sql(deployment, "update policy_evaluations set reason = '=HYPERLINK(1)' where number = 1")
    from chalice.test import Client

    from app import app

    with Client(app) as client:
        answer = client.http.get("/v1/memory/firewall/evaluations.csv", headers=acme._headers())
    text = answer.body.decode()
    assert text.count("\r\n") == len(recorded(deployment)) + 1
    table = list(csv.DictReader(io.StringIO(text)))
    assert "'=HYPERLINK(1)" in {row["reason"] for row in table}


def test_roles_and_purposes_are_held_to_the_token(deployment: Deployment, acme: Tenant, filled: dict[str, Any]) -> None:
    acme.post("/v1/memory/firewall/mode", {"mode": "enforce"})
    acme.post(f"/v1/kb/sources/{filled['source_id']}/policy", {"permitted_roles": ["editor"]})
    assert ask(acme, "procedure") == []
    rows.sql(deployment, "update api_tokens set roles = '{editor,reader}' where class = 'api'")
    assert ask(acme, "procedure") == [], "two roles and none named"
    assert ask(acme, "procedure", role="editor")
    rows.sql(deployment, "update api_tokens set purposes = '{audit_review}' where class = 'api'")
    assert acme.read_only("POST", "/v1/kb/search", {"query": "x"}).json["code"] == "purpose_not_held"
    assert ask(acme, "procedure", role="editor", purpose="audit_review")


def test_python_and_sql_agree_on_what_is_stricter(deployment: Deployment) -> None:
    from hypothesis import given, settings
    from hypothesis import strategies as st

    from chalicelib.domain import policy

    sets = st.none() | st.frozensets(st.sampled_from(["a", "b", "c"]), max_size=3)
    moments = st.none() | st.sampled_from([datetime(2027, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)])
    made = st.builds(
        policy.Policy,
        tenant_id=st.just("t"),
        sensitivity=st.sampled_from(["public", "internal", "confidential", "restricted"]),
        expires_at=moments,
        permitted_roles=sets,
        allowed_purposes=sets,
        content_class=st.sampled_from(["", "credentials"]),
        validation_status=st.sampled_from(["", "confirmed", "unverified", "refuted"]),
    )
    columns = "sensitivity, expires_at, permitted_roles, allowed_purposes, content_class, validation_status"

    def parameters(one: policy.Policy) -> tuple[Any, ...]:
        listed = [None if value is None else sorted(value) for value in (one.permitted_roles, one.allowed_purposes)]
        return (one.sensitivity, one.expires_at, *listed, one.content_class, one.validation_status)

    record = (
        "row(gen_random_uuid(), 'h', gen_random_uuid(), %s, %s::timestamptz, %s::text[], %s::text[], %s, %s, now())"
    )
    url = deployment.server.url(deployment.database_name, "postgres")
    with psycopg.connect(url) as connection:

        @given(made, made)
        @settings(max_examples=100, deadline=None)
        def agree(one: policy.Policy, other: policy.Policy) -> None:
            row = connection.execute(
                f"select {columns} from stricter_v1({record}::chunk_policies, {record}::chunk_policies)".encode(),
                (*parameters(one), *parameters(other)),
            ).fetchone()
            assert row is not None
            merged = policy.strictest(one, other)
            if merged.tier == "restricted" and policy.CREDENTIALS in (one.content_class, other.content_class):
                row = ("restricted", *row[1:])  # credentials are restricted whatever the tier says
            found = (*row[:2], *(None if value is None else sorted(value) for value in row[2:4]), *row[4:])
            assert found == parameters(merged)

        agree()


def test_a_context_pack_is_empty_by_default_and_says_so(acme: Tenant, filled: Any) -> None:
    answer = acme.post("/v1/context-pack", {"query": "procedure", "max_chars": 4000})
    assert (answer.status, answer.json["text"], answer.json["manifest"]) == (200, "", [])
    assert answer.json["left_out"] == "kb_retrieval_disabled"


def test_a_context_pack_holds_fenced_extracts_and_their_manifest(
    deployment: Deployment, acme: Tenant, filled: Any
) -> None:
    deployment.environment["ENABLE_KB_RETRIEVAL"] = "true"
    deployment.outside = deployment.build("larder_app")
    restrict(acme, filled["hits"][0]["chunk_id"])
    acme.post("/v1/memory/firewall/mode", {"mode": "enforce"})
    pack = acme.read_only("POST", "/v1/context-pack", {"query": "procedure", "max_chars": 6000}).json
    assert len(pack["text"]) <= 6000
    assert [entry["extract"] for entry in pack["manifest"]] == list(range(1, len(pack["manifest"]) + 1))
    assert {entry["trust"] for entry in pack["manifest"]} == {0.66}
    assert {entry["provenance_trust"] for entry in pack["manifest"]} == {30}
    assert filled["hits"][0]["chunk_id"] not in {entry["chunk_id"] for entry in pack["manifest"]}


@pytest.mark.parametrize("max_chars", [500, 1500, 6000])
def test_a_context_pack_decides_about_what_it_has_room_for_alone(
    deployment: Deployment, acme: Tenant, filled: Any, max_chars: int
) -> None:
    """What was allowed counts as used, so nothing is allowed that nobody is shown (spec 2.3, 2.5)."""
    deployment.environment["ENABLE_KB_RETRIEVAL"] = "true"
    deployment.outside = deployment.build("larder_app")
    decided = "select chunk_id::text from policy_evaluations order by evaluated_at"
    before = len(rows.sql(deployment, decided))
    pack = acme.read_only("POST", "/v1/context-pack", {"query": "procedure", "max_chars": max_chars}).json
    shown = [entry["chunk_id"] for entry in pack["manifest"]]
    assert {row["chunk_id"] for row in rows.sql(deployment, decided)[before:]} == {*shown}
    assert (pack["left_out"], bool(pack["text"])) == (None if shown else "no_room", bool(shown))
    assert bool(shown) == (max_chars > 500)


def test_what_stands_beside_a_guarded_text_is_withheld_too(deployment: Deployment, acme: Tenant, filled: Any) -> None:
    """A title or a description may say what the text says."""
    rows.sql(deployment, "update kb_versions set title = 'zebra title', description = 'zebra description'")
    source, path = filled["source_id"], f"/v1/kb/sources/{filled['source_id']}"
    everywhere = [f"{path}/versions", f"{path}/text"]
    assert all("zebra title" in str(acme.read_only("GET", one).json) for one in everywhere)
    acme.post("/v1/memory/firewall/mode", {"mode": "enforce"})
    acme.post(f"/v1/kb/sources/{source}/policy", {"permitted_roles": []})
    assert not any("zebra" in str(acme.read_only("GET", one).json) for one in everywhere)
    acme.post(f"/v1/kb/sources/{source}/policy", {"permitted_roles": None})
    acme.post(f"/v1/memory/chunks/{filled['hits'][0]['chunk_id']}/validation", {"status": "refuted"})
    assert not any("zebra" in str(acme.read_only("GET", one).json) for one in everywhere)
    assert not any(hit["title"] for hit in ask(acme, "procedure"))
