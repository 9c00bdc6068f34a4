"""A text that a model writes for two near-duplicates: what leaves, what comes back, and what is kept (spec 2.6)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from chalicelib import bootstrap
from chalicelib.services import scheduling, summary_writing
from chalicelib.workers import refresh as worker
from tests.api.twins import decide, found, page, proposals, scan, state_of, text
from tests.cases.provider_stage import log
from tests.integration import rows
from tests.postgres import TestServer
from tests.scripted_provider import Asked, Says, ScriptedProvider, serving
from tests.tenants import Deployment, Tenant

KEY = "sk-model-zq0123456789"
WRITTEN = (
    "The office in Delft opens at nine and closes at five on weekdays, and at ten on the first Saturday of a month; "
    "bicycles stand behind the gate, say alpha and bravo."
)


def says(content: Any, **more: Any) -> Says:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop", **more}
    return Says(body=json.dumps({"id": "x", "object": "chat.completion", "choices": [choice]}).encode())


@pytest.fixture
def model() -> Iterator[ScriptedProvider]:
    with serving(says(WRITTEN)) as (one,):
        yield one


@pytest.fixture
def deployment(
    server: TestServer, database: str, model: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployment]:
    key = tmp_path / "key"
    key.write_text(f"{KEY}\n")
    key.chmod(0o600)
    environment = {
        "LARDER_LLM_ENDPOINT": f"{model.url}/v1/",
        "LARDER_LLM_MODEL": "small-writer",
        "LARDER_LLM_KEY": str(key),
        "KB_ALLOW_PRIVATE_NETWORKS": "true",
    }
    deployment = Deployment(server, database, environment)
    monkeypatch.setattr(bootstrap, "outside", lambda: deployment.outside)
    yield deployment
    deployment.close()


@pytest.fixture
def acme(deployment: Deployment) -> Tenant:
    return deployment.tenant("acme").as_operator()


@pytest.fixture
def pair(acme: Tenant) -> tuple[UUID, UUID]:
    return page(acme, "older", [text("alpha")], days_ago=20), page(acme, "newer", [text("bravo")])


@pytest.fixture
def proposal(acme: Tenant, pair: tuple[UUID, UUID]) -> dict[str, Any]:
    scan(acme)
    [one] = proposals(acme)
    return one


def ask(tenant: Tenant, proposal: dict[str, Any]) -> dict[str, Any]:
    answer = decide(tenant, proposal, "write")
    assert (answer.status, answer.json["state"], answer.json["kind"]) == (202, "writing", "written"), answer.json
    return dict(answer.json)


def work(tenant: Tenant) -> list[str]:
    """One tick, and everything that it sent; how each piece of work ended."""
    deployment = tenant.deployment
    scheduling.tick(deployment.worker, now=datetime.now(UTC))
    sent, deployment.queue.messages = deployment.queue.messages, []
    return [worker.run(deployment.worker, one.event_id, clock=lambda: datetime.now(UTC)) for one in sent]


def ended(tenant: Tenant, asked: dict[str, Any]) -> tuple[str, str | None]:
    query = "select state, reason from consolidation_proposals where id = %s"
    [row] = rows.sql(tenant.deployment, query, asked["id"])
    assert rows.sql(tenant.deployment, "select * from consolidation_work") == []
    return row["state"], row["reason"]


# --- From asking to a document


def test_what_a_model_wrote_is_proposed_and_once_accepted_a_document(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider
) -> None:
    asked = ask(acme, proposal)
    assert model.asked == [], "no request of the API waits for a model"
    assert work(acme) == ["proposed"]
    assert len(model.asked) == 1
    shown = acme.get(f"/v1/memory/consolidation/{asked['id']}").json
    assert (shown["state"], shown["written"]["text"], shown["model"]) == ("open", WRITTEN, "small-writer")
    assert "alpha and bravo" not in " ".join(found(acme)), "what is only proposed is not found"
    done = decide(acme, asked, "accept").json
    assert (done["state"], done["quarantine_id"]) == ("accepted", None)
    assert work(acme) == ["new_version"]
    source = acme.get(f"/v1/kb/sources/{done['deposited_source_id']}").json
    assert source["type"] == "document"
    [row] = rows.sql(
        acme.deployment,
        "select provenance, trust, producer, sensitivity, published from kb_sources where id = %s",
        done["deposited_source_id"],
    )
    assert row == {
        "provenance": "consolidated",
        "trust": 50,
        "producer": "Robin",
        "sensitivity": "public",
        "published": False,
    }
    assert WRITTEN in acme.get(f"/v1/kb/sources/{source['id']}/text").json["text"]
    assert found(acme) >= {"alpha", "bravo"}, "its inputs are left as they are"
    [kept] = rows.sql(acme.deployment, "select text from consolidation_proposals where id = %s", asked["id"])
    assert kept == {"text": None}
    logged = rows.sql(acme.deployment, "select deposit, outcome from ingest_log")
    assert logged == [{"deposit": "consolidated", "outcome": "admit"}]


def test_the_question_holds_the_passages_as_data_and_the_key_in_its_header(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider
) -> None:
    ask(acme, proposal)
    work(acme)
    [asked] = model.asked
    assert (asked.path, asked.headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert (asked.json["model"], asked.json["stream"], asked.json["temperature"]) == ("small-writer", False, 0)
    system, user = asked.json["messages"]
    assert "Delft" not in system["content"]
    fenced = user["content"].split("\n")
    assert [json.loads(line) for line in fenced[1::3]] == [text("bravo"), text("alpha")]
    fence = fenced[0].removeprefix("<passage ").removesuffix(">")
    assert fence in system["content"]
    assert len(fence) == 16


def test_it_bears_the_strictest_policy_of_its_inputs(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    rows.sql(
        acme.deployment,
        "update kb_sources set sensitivity = 'confidential', permitted_roles = '{editor,reader}',"
        " allowed_purposes = '{operational}', expires_at = '2031-01-01T00:00:00.5Z'",
    )
    rows.sql(acme.deployment, "update api_tokens set roles = '{editor}'")
    scan(acme)
    asked = ask(acme, proposals(acme)[0])
    work(acme)
    done = decide(acme, asked, "accept").json
    [row] = rows.sql(
        acme.deployment,
        "select sensitivity, permitted_roles, allowed_purposes, expires_at from kb_sources where id = %s",
        done["deposited_source_id"],
    )
    assert (row["sensitivity"], row["permitted_roles"], row["allowed_purposes"]) == (
        "confidential",
        ["editor", "reader"],
        ["operational"],
    )
    assert row["expires_at"] == datetime(2031, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC)


def test_a_rejected_text_is_kept_nowhere(acme: Tenant, proposal: dict[str, Any]) -> None:
    asked = ask(acme, proposal)
    work(acme)
    assert decide(acme, asked, "reject").json["state"] == "rejected"
    assert rows.sql(acme.deployment, "select text from consolidation_proposals where text is not null") == []
    assert rows.sql(acme.deployment, "select * from kb_sources where type = 'document'") == []
    ask(acme, proposal)  # an operator may want another try


def test_what_was_written_cannot_be_undone_as_a_superseded_text(acme: Tenant, proposal: dict[str, Any]) -> None:
    asked = ask(acme, proposal)
    work(acme)
    decide(acme, asked, "accept")
    assert decide(acme, asked, "undo").json["code"] == "not_reversible"


# --- What may leave


@pytest.mark.parametrize("mode", ["off", "advisory", "enforce"])
@pytest.mark.parametrize(
    "statement", ["sensitivity = 'restricted'", "permitted_roles = '{editor}'", "allowed_purposes = '{audit_review}'"]
)
def test_in_no_mode_a_text_leaves_that_its_policy_keeps_from_any_reader(
    acme: Tenant, pair: tuple[UUID, UUID], model: ScriptedProvider, statement: str, mode: str
) -> None:
    acme.post("/v1/memory/firewall/mode", {"mode": mode})
    rows.sql(acme.deployment, f"update kb_sources set {statement}")
    scan(acme)
    answer = decide(acme, proposals(acme)[0], "write")
    assert (answer.status, answer.json["code"]) == (403, "withheld_from_model")
    decisions = rows.sql(acme.deployment, "select decision, operator from policy_evaluations")
    assert [row["operator"] for row in decisions] == ["", ""]
    assert all(row["decision"].startswith("block_") for row in decisions), "what was refused is written down"
    assert work(acme) == []
    assert model.asked == []


def test_what_leaves_is_written_down(acme: Tenant, proposal: dict[str, Any]) -> None:
    ask(acme, proposal)
    decisions = rows.sql(acme.deployment, "select chunk_id, decision from policy_evaluations")
    assert {(str(row["chunk_id"]), row["decision"]) for row in decisions} == {
        (proposal["kept_chunk_id"], "allow"),
        (proposal["other_chunk_id"], "allow"),
    }


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("update kb_sources set sensitivity = 'restricted'", "policy_changed"),
        ("update kb_sources set active = false", "text_changed"),
        ("update kb_chunks set system_time = tstzrange(lower(system_time), now())", "text_changed"),
    ],
)
def test_nothing_leaves_that_changed_since_it_was_asked_for(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider, statement: str, reason: str
) -> None:
    asked = ask(acme, proposal)
    rows.sql(acme.deployment, statement)
    assert work(acme) == ["nothing_to_do"]
    assert ended(acme, asked) == ("lapsed", reason)
    assert model.asked == []


@pytest.mark.parametrize("change", ["policy", "forget"])
def test_what_changes_while_the_model_writes_ends_it(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider, change: str
) -> None:
    def meanwhile(_: Asked) -> Says:
        if change == "policy":
            rows.sql(acme.deployment, "update kb_sources set sensitivity = 'confidential'")
        else:
            acme.post(f"/v1/memory/chunks/{proposal['other_chunk_id']}/forget", {})
        return says(WRITTEN)

    asked = ask(acme, proposal)
    model.behave = meanwhile
    assert work(acme) == ["policy_changed" if change == "policy" else "lost_lease"]
    assert ended(acme, asked) == ("lapsed", "policy_changed" if change == "policy" else "forgotten")
    assert rows.sql(acme.deployment, "select text from consolidation_proposals where text is not null") == []


def test_forgetting_an_input_takes_the_proposed_text_along(acme: Tenant, proposal: dict[str, Any]) -> None:
    asked = ask(acme, proposal)
    work(acme)
    acme.post(f"/v1/memory/chunks/{proposal['kept_chunk_id']}/forget", {})
    assert rows.sql(acme.deployment, "select text from consolidation_proposals where text is not null") == []
    assert acme.get(f"/v1/memory/consolidation/{asked['id']}").json["written"] is None
    assert decide(acme, asked, "accept").json["code"] == "proposal_decided"


def test_a_changed_input_lapses_what_was_written(acme: Tenant, proposal: dict[str, Any]) -> None:
    asked = ask(acme, proposal)
    work(acme)
    rows.sql(acme.deployment, "update kb_chunks set system_time = tstzrange(lower(system_time), now())")
    assert decide(acme, asked, "accept").json["reason"] == "text_changed"
    assert rows.sql(acme.deployment, "select * from kb_sources where type = 'document'") == []


# --- Hostile and broken models

AWS = "AKIA" + "QYLPMN5HHHFPZAM2"
MOSTLY = f"{AWS} " * 12


UNUSABLE = [
    (Says(body=b"<html>busy</html>"), "not_json"),
    (Says(body=b'{"choices": [' * 5000), "not_json"),
    (Says(body=b"\xff\xfe{}"), "not_json"),
    (Says(body=b'{"choices": [], "choices": []}'), "not_json"),
    (Says(body=b""), "not_json"),
    (Says(body=b"[]"), "no_text"),
    (Says(body=b'{"choices": []}'), "no_text"),
    (Says(body=b'{"choices": {"0": 1}}'), "no_text"),
    (Says(body=b'{"choices": ["text"]}'), "no_text"),
    (says(None), "no_text"),
    (says(["text"]), "no_text"),
    (says(""), "no_text"),
    (says(" \n\t "), "no_text"),
    (says("\u200b\u200d\ufeff"), "no_text"),
    (says(WRITTEN, finish_reason="length"), "cut_off"),
    (says(WRITTEN, finish_reason="content_filter"), "not_finished"),
    (says(WRITTEN, finish_reason="tool_calls"), "not_finished"),
    (says(WRITTEN, finish_reason=7), "not_finished"),
    (says("word " * 300), "too_long"),
    (says("too short"), "too_short"),
    (says("A NUL \x00 in it. " + WRITTEN), "damaged_text"),
    (says("A surrogate \ud800 alone. " + WRITTEN), "damaged_text"),
    (says(MOSTLY), "mostly_secret"),
    (says(f"Denied by house rules. {WRITTEN}"), "deny_pattern"),
    (Says(body=b" " * 70_000), "too_large"),
    (Says(status=401), "http_401"),
    (Says(status=500, body=b"x" * 100), "http_500"),
    (Says(status=302, headers={"Location": "http://127.0.0.1:9/"}), "http_302"),
    (Says(reset=True), "unreachable"),
]


@pytest.mark.parametrize(
    ("behaviour", "reason"), UNUSABLE, ids=[f"{n}-{reason}" for n, (_, reason) in enumerate(UNUSABLE)]
)
def test_an_answer_that_is_no_summary_ends_in_a_clear_state(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider, behaviour: Says, reason: str
) -> None:
    acme.post("/v1/memory/deny-patterns", {"add": ["house rules"], "remove": []})
    asked = ask(acme, proposal)
    model.behave = behaviour
    assert work(acme) == [reason]
    assert ended(acme, asked) == ("failed", reason)
    assert len(model.asked) == 1, "a model that failed is not asked again"
    assert work(acme) == []
    assert rows.sql(acme.deployment, "select text from consolidation_proposals where text is not null") == []
    assert state_of(acme, proposal) == "open", "the two may still be consolidated, or asked about again"
    gates = rows.sql(acme.deployment, "select gate, reason from ingest_log where outcome = 'refuse'")
    by_a_gate = {"too_short", "damaged_text", "mostly_secret", "deny_pattern"}
    assert [row["reason"] for row in gates] == ([reason] if reason in by_a_gate else [])


def test_a_secret_in_the_answer_is_redacted_before_anybody_sees_it(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider
) -> None:
    asked = ask(acme, proposal)
    model.behave = says(f"{WRITTEN} The key is {AWS}.")
    assert work(acme) == ["proposed"]
    shown = acme.get(f"/v1/memory/consolidation/{asked['id']}").json
    assert AWS not in shown["written"]["text"]
    assert "[REDACTED:" in shown["written"]["text"]
    assert shown["redactions"] == 1
    assert AWS not in json.dumps(rows.sql(acme.deployment, "select * from consolidation_proposals"), default=str)


def test_a_text_that_a_gate_stops_by_now_has_failed_and_is_kept_nowhere(acme: Tenant, proposal: dict[str, Any]) -> None:
    """Least of all in quarantine, where nothing would tie it to its inputs, whoever may read those by then."""
    asked = ask(acme, proposal)
    work(acme)
    acme.post("/v1/memory/deny-patterns", {"add": ["behind the gate"], "remove": []})
    answer = decide(acme, asked, "accept")
    assert (answer.status, answer.json["code"], answer.json["reason"]) == (409, "proposal_failed", "deny_pattern")
    assert ended(acme, asked) == ("failed", "deny_pattern")
    for query in ("consolidation_proposals where text is not null", "quarantine", "kb_held_texts"):
        assert rows.sql(acme.deployment, f"select * from {query}") == []
    assert rows.sql(acme.deployment, "select * from kb_sources where type = 'document'") == []
    logged = rows.sql(acme.deployment, "select outcome, gate, reason from ingest_log")
    assert logged == [{"outcome": "refuse", "gate": "deny_patterns", "reason": "deny_pattern"}]
    told = rows.sql(
        acme.deployment, "select action, operator from admin_audit where target = %s order by at", asked["id"]
    )
    assert (told[-1]["action"], told[-1]["operator"]) == ("consolidation.failed", "Robin")
    ask(acme, proposal)  # an operator may want another try


def test_a_model_that_never_answers_is_left_when_its_time_is_up(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = summary_writing.chat.complete
    monkeypatch.setattr(summary_writing.chat, "complete", lambda *a, **more: complete(*a, **{**more, "seconds": 0.3}))
    asked = ask(acme, proposal)
    model.behave = replace(says(WRITTEN), each_byte=0.05)
    assert work(acme) == ["timeout"]
    assert ended(acme, asked) == ("failed", "timeout")


@pytest.mark.parametrize(("lease", "seconds"), [(30, 20), (60, 40), (450, 60)])
def test_a_model_is_left_before_the_lease_of_who_asks_it_ends(
    acme: Tenant, proposal: dict[str, Any], monkeypatch: pytest.MonkeyPatch, lease: int, seconds: float
) -> None:
    deployment, given = acme.deployment, []
    settings = replace(deployment.worker.settings, lease_seconds=lease)
    deployment.worker = replace(deployment.worker, settings=settings)
    monkeypatch.setattr(summary_writing.chat, "complete", lambda *_, **more: given.append(more["seconds"]) or WRITTEN)
    ask(acme, proposal)
    assert work(acme) == ["proposed"]
    assert given == [pytest.approx(seconds)]


def test_the_guard_stands_before_the_model(acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider) -> None:
    asked = ask(acme, proposal)
    deployment = acme.deployment
    policy = replace(deployment.worker.fetch_policy, allow_private_networks=False)
    deployment.worker = replace(deployment.worker, fetch_policy=policy)
    with log() as lines:
        assert work(acme) == ["refused"]
    assert ended(acme, asked) == ("failed", "refused")
    assert model.asked == []
    assert "refused:scheme" in "\n".join(lines), "without the development switch it must be https"


@pytest.mark.parametrize("key", ["missing", "open to others", "a key\nof two lines", "schlüssel", "", " \n"])
def test_a_key_that_cannot_be_used_is_sent_nowhere(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider, key: str, tmp_path: Path
) -> None:
    file = tmp_path / "other"
    if key != "missing":
        file.write_text(key, encoding="utf-8")
        file.chmod(0o644 if key == "open to others" else 0o600)
    deployment = acme.deployment
    deployment.worker = replace(deployment.worker, settings=replace(deployment.worker.settings, llm_key=str(file)))
    asked = ask(acme, proposal)
    assert work(acme) == ["key_unreadable"]
    assert ended(acme, asked) == ("failed", "key_unreadable")
    assert model.asked == []


def test_nothing_of_texts_prompt_answer_or_key_is_logged(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider, capfd: pytest.CaptureFixture[str]
) -> None:
    with log() as lines:
        for behaviour in (says(WRITTEN), says("zqanswer"), Says(body=b"zqanswer"), Says(status=500, body=b"zqanswer")):
            model.behave = behaviour
            asked = ask(acme, proposal)
            work(acme)
            if state_of(acme, asked) == "open":
                decide(acme, asked, "reject")
    told = "\n".join([*lines, *capfd.readouterr()])
    assert '"written"' in told or "written" in told
    for hidden in ("Delft", "zqanswer", KEY, "You join passages", "passage "):
        assert hidden not in told


# --- Asking


def test_without_an_endpoint_nothing_is_written(acme: Tenant, proposal: dict[str, Any]) -> None:
    deployment = acme.deployment
    without = replace(deployment.outside.settings, llm_endpoint="")
    deployment.outside = replace(deployment.outside, settings=without)
    answer = decide(acme, proposal, "write")
    assert (answer.status, answer.json["code"]) == (409, "no_model")
    assert decide(acme, proposal, "accept").status == 200, "extractive it stays"


def test_a_text_is_asked_for_once_at_a_time(acme: Tenant, proposal: dict[str, Any]) -> None:
    asked = ask(acme, proposal)
    assert decide(acme, proposal, "write").json["code"] == "already_asked"
    assert decide(acme, asked, "write").json["code"] == "proposal_decided"
    assert decide(acme, asked, "accept").json["code"] == "proposal_decided", "there is nothing to accept yet"
    work(acme)
    assert decide(acme, proposal, "write").json["code"] == "already_asked"
    assert decide(acme, asked, "write").json["code"] == "already_asked"


def test_what_is_being_written_can_be_rejected(acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider) -> None:
    asked = ask(acme, proposal)
    assert decide(acme, asked, "reject").status == 200
    assert work(acme) == []
    assert ended(acme, asked) == ("rejected", None)
    assert model.asked == []


# --- Lost messages, dying workers, two workers


def crash(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("step", ["compose", "finish", "_propose"])
def test_a_worker_that_dies_in_between_leaves_nothing_half_done(
    acme: Tenant, proposal: dict[str, Any], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    asked = ask(acme, proposal)
    with monkeypatch.context() as patch:
        patch.setattr(summary_writing, step, crash)
        with pytest.raises(KeyboardInterrupt):
            work(acme)
    assert state_of(acme, asked) == "writing"
    assert rows.sql(acme.deployment, "select text from consolidation_proposals where text is not null") == []
    assert later(acme, timedelta(minutes=1)) == [], "the message may still come"
    assert later(acme, summary_writing.LOST_AFTER + timedelta(minutes=1)) == ["proposed"]
    assert ended(acme, asked) == ("open", None)


def later(tenant: Tenant, after: timedelta) -> list[str]:
    """A tick and its work so much later."""
    deployment, now = tenant.deployment, datetime.now(UTC) + after
    scheduling.tick(deployment.worker, now=now)
    sent, deployment.queue.messages = deployment.queue.messages, []
    return [worker.run(deployment.worker, one.event_id, clock=lambda: now) for one in sent]


def test_an_unexpected_error_gives_the_work_back_and_three_end_it(
    acme: Tenant, proposal: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug")

    asked = ask(acme, proposal)
    [ident] = [UUID(asked["id"])]

    def run() -> str:
        return worker.run(acme.deployment.worker, ident, clock=lambda: datetime.now(UTC))

    with monkeypatch.context() as patch:
        patch.setattr(summary_writing, "compose", broken)
        for _ in range(summary_writing.MAX_LEASES):
            with pytest.raises(RuntimeError):
                run()
    assert run() == "nothing_to_do"
    assert ended(acme, asked) == ("failed", "gave_up")


def test_a_message_that_comes_twice_is_written_once(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider
) -> None:
    asked = ask(acme, proposal)

    def again(_: Asked) -> Says:
        run: Callable[[], str] = lambda: worker.run(  # noqa: E731
            acme.deployment.build("larder_worker"), UUID(asked["id"]), clock=lambda: datetime.now(UTC)
        )
        assert run() == "nothing_to_do"
        return says(WRITTEN)

    model.behave = again
    assert work(acme) == ["proposed"]
    assert worker.run(acme.deployment.worker, UUID(asked["id"]), clock=lambda: datetime.now(UTC)) == "nothing_to_do"
    assert len(model.asked) == 1


def test_what_the_queue_does_not_take_is_sent_with_the_next_tick(acme: Tenant, proposal: dict[str, Any]) -> None:
    ask(acme, proposal)
    acme.deployment.queue.refuses = True
    assert work(acme) == []
    acme.deployment.queue.refuses = False
    assert work(acme) == ["proposed"]


def test_rejecting_the_pair_ends_what_is_being_written_of_it(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider
) -> None:
    asked = ask(acme, proposal)
    assert decide(acme, proposal, "reject").status == 200
    assert work(acme) == []
    assert ended(acme, asked) == ("lapsed", "rejected")
    assert model.asked == []


@pytest.mark.parametrize("gone", ["delete from kb_sources", "delete from tenants"])
def test_what_goes_with_its_source_or_tenant_while_the_model_writes_is_let_go(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider, gone: str
) -> None:
    def meanwhile(_: Asked) -> Says:
        rows.sql(acme.deployment, gone)
        return says(WRITTEN)

    ask(acme, proposal)
    model.behave = meanwhile
    assert work(acme) == ["lost_lease"]


@pytest.mark.parametrize("off", ["tenant", "deployment"])
def test_nothing_leaves_of_what_is_switched_off_after_it_was_sent(
    acme: Tenant, proposal: dict[str, Any], model: ScriptedProvider, off: str
) -> None:
    ask(acme, proposal)
    deployment, on = acme.deployment, acme.deployment.worker
    scheduling.tick(on, now=datetime.now(UTC))
    [one], deployment.queue.messages = deployment.queue.messages, []
    if off == "tenant":
        rows.sql(deployment, "update tenants set enabled = false")
    else:
        deployment.worker = replace(on, settings=replace(on.settings, enable_kb=False))
    assert worker.run(deployment.worker, one.event_id, clock=lambda: datetime.now(UTC)) == "nothing_to_do"
    assert model.asked == []
    rows.sql(deployment, "update tenants set enabled = true")
    deployment.worker = on
    assert later(acme, summary_writing.LOST_AFTER + timedelta(minutes=1)) == ["proposed"]


def test_of_a_tenant_that_is_off_nothing_is_sent(acme: Tenant, proposal: dict[str, Any]) -> None:
    ask(acme, proposal)
    rows.sql(acme.deployment, "update tenants set enabled = false")
    assert work(acme) == []
    rows.sql(acme.deployment, "update tenants set enabled = true")
    assert work(acme) == ["proposed"]
