"""Who asks, and what comes back: agents, assistants, circuits, languages, the cache (spec 3.1, 3.4, 3.5)."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from chalice.test import Client
from psycopg.pq import TransactionStatus
from psycopg.types.json import Jsonb

from app import app
from chalicelib.domain.answer_room import MAX_ANSWER, fitting
from chalicelib.knowledge import labels
from chalicelib.knowledge.broker import Question
from chalicelib.services import consumers, knowledge_cache, knowledge_search, provider_secrets, public_search
from chalicelib.services.outside import Outside
from tests.api import tables
from tests.cases.provider_stage import log
from tests.knowledge import ORIGIN, READ_PUBLIC, Household, deployment, household
from tests.postgres import TestServer
from tests.scripted_provider import Says, answer, result, serving, status
from tests.tenants import Deployment

AGENT_KEYS = {
    *("documentId", "title", "snippet", "audience", "revision", "chunkId", "url", "locale", "score", "freshness"),
    *("reviewDueAt", "translationGroupId", "providerId", "providerName", "localeFallback"),
}
FIVE = {"title", "snippet", "url", "locale", "localeFallback"}
PATH = "/v1/knowledge/search"


@pytest.fixture(scope="module")
def made(server: TestServer) -> Iterator[Deployment]:
    with deployment(server) as one:
        yield one


@pytest.fixture(scope="module")
def caching(server: TestServer) -> Iterator[Deployment]:
    with deployment(server, LARDER_KNOWLEDGE_CACHE_SECONDS="60", LARDER_KNOWLEDGE_CACHE_ROWS="3") as one:
        yield one


@pytest.fixture
def house(made: Deployment, request: pytest.FixtureRequest) -> Household:
    return household(made, request.node.name)


def super_run(house: Household, statement: str, *values: Any) -> None:
    with tables.superuser(house.deployment) as connection:
        connection.execute(statement, values)


# --- who may ask, and what they see


def test_an_agent_sees_everything_and_how_each_provider_did(house: Household) -> None:
    with serving(answer(result("public")), answer(result("inside", audience="internal")), status(500)) as (a, b, c):
        ids = [house.register(a)["id"], house.register(b, "agent_only")["id"], house.register(c)["id"]]
        seen = house.ask()
    assert (seen.status, set(seen.json)) == (200, {"results", "returnedLocale", "providers"})
    assert [(one["documentId"], one["providerId"]) for one in seen.json["results"]] == [
        ("public", ids[0]),
        ("inside", ids[1]),
    ]
    assert all(set(one) == AGENT_KEYS for one in seen.json["results"])
    assert [(one["id"], one["status"]) for one in seen.json["providers"]] == list(
        zip(ids, ["ok", "ok", "timeout"], strict=True)
    )
    assert all(set(one) == {"id", "name", "status", "ms"} for one in seen.json["providers"])
    assert seen.headers["cache-control"] == "private, no-store"


def test_an_assistant_sees_five_keys_of_what_is_for_customers(house: Household) -> None:
    with serving(answer(result("public", score=0.5, revision="7")), answer(result("inside"))) as (a, b):
        house.register(a)
        house.register(b, "agent_only")
        seen = house.ask(token=house.assistant, conversationId="c-1")
        assert (set(seen.json), [set(one) for one in seen.json["results"]]) == ({"results"}, [FIVE])
        assert b.asked == []
        assert "context" not in a.questions[0].json


def test_an_assistant_may_do_nothing_until_it_is_granted(house: Household) -> None:
    with serving(None) as (a,):
        house.register(a)
        path = f"/v1/assistants/{house.assistant_id}/capabilities/{READ_PUBLIC}"
        revoked = house.deployment.request("DELETE", path, house.tenant._headers())
        assert (revoked.status, revoked.json["capabilities"]) == (200, [])
        refused = house.ask(token=house.assistant)
        assert (refused.status, refused.json["code"]) == (403, "capability_missing")
        assert a.asked == []
        assert house.tenant.post(path).json["capabilities"] == [READ_PUBLIC]
        assert house.tenant.post(path).json["capabilities"] == [READ_PUBLIC], "granting twice changes nothing"
        assert house.ask(token=house.assistant).status == 200


@pytest.mark.parametrize("word", ["knowledge:read_internal", "knowledge:read", "", "KNOWLEDGE:READ_PUBLIC", "*"])
def test_nothing_else_is_granted_to_an_assistant(house: Household, word: str) -> None:
    if word:
        refused = house.tenant.post(f"/v1/assistants/{house.assistant_id}/capabilities/{word}")
        assert (refused.status, refused.json["field"]) == (422, "capability")
    with pytest.raises(Exception, match="public_reads_alone"):
        super_run(house, "update knowledge_consumers set capabilities = %s where kind = 'assistant'", [word])


def test_grants_are_audited(house: Household) -> None:
    query = "select action, before, after from admin_audit where tenant_id = %s and action = 'assistant.capability'"
    with tables.superuser(house.deployment) as connection:
        rows = connection.execute(query, (house.tenant.id,)).fetchall()
    assert rows == [("assistant.capability", {"capabilities": []}, {"capabilities": [READ_PUBLIC]})]


def test_no_other_token_gets_in(house: Household) -> None:
    others = [house.tenant.api_token, house.tenant.admin_token, house.widget, "", "lrd_agent_", f"{house.agent}x"]
    others += [house.agent.replace("agent", "assistant"), house.assistant.replace("assistant", "agent")]
    for token in others:
        refused = house.deployment.request("POST", PATH, {"Authorization": f"Bearer {token}"}, {"query": "x"})
        assert (refused.status, refused.json["code"]) == (401, "unauthorized"), token
    for token in (house.agent, house.assistant, house.widget):
        for path in ("/v1/kb/status", "/v1/kb/sources", "/v1/knowledge/providers"):
            headers = {"Authorization": f"Bearer {token}", "X-Admin-Token": house.tenant.admin_token}
            assert house.deployment.request("GET", path, headers).status == 401


def test_an_agent_that_is_switched_off_or_gone_is_nobody(house: Household) -> None:
    made = house.tenant.post("/v1/agents", {"name": "Bob"}).json
    path = f"/v1/agents/{made['id']}"
    assert house.ask(token=made["token"]).status == 200
    assert house.deployment.request("PATCH", path, house.tenant._headers(), {"active": False}).json["active"] is False
    assert house.ask(token=made["token"]).status == 401
    house.deployment.request("PATCH", path, house.tenant._headers(), {"active": True})
    assert house.ask(token=made["token"]).status == 200
    assert house.deployment.request("DELETE", path, house.tenant._headers()).json == {"id": made["id"]}
    assert house.ask(token=made["token"]).status == 401
    with tables.superuser(house.deployment) as connection:
        assert (
            connection.execute(
                "select from api_tokens where token_hash = %s", (consumers._hash(made["token"]),)
            ).rowcount
            == 0
        )


def test_names_are_unique_in_a_kind_and_tokens_are_shown_once(house: Household) -> None:
    refused = house.tenant.post("/v1/agents", {"name": "Ada"})
    assert (refused.status, refused.json["code"]) == (409, "consumer_exists")
    assert house.tenant.post("/v1/assistants", {"name": "Ada"}).status == 201
    listed = [house.tenant.get(f"/v1/{kind}").json for kind in ("agents", "assistants", "widgets")]
    told = json.dumps([listed, tables.dump(house.deployment)])
    assert not [token for token in (house.agent, house.assistant, house.widget) if token in told]


def test_the_edge_makes_no_token_that_administers(house: Household) -> None:
    own = {"tenant_id": house.tenant.id, "now": datetime.now(UTC), "label": "x", "token_hash": b"x" * 32}
    for token_class in ("admin", "api"):
        with (
            pytest.raises(Exception, match="row-level security"),
            house.deployment.outside.database.transaction(house.tenant.id) as tx,
        ):
            tx.run("consumers.insert_token", **own, **{"class": token_class})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("query", value) for value in ("", "   ", None, 1, "x" * 1025)),
        *(("limit", value) for value in (0, 51, "10", 1.5, True)),
        *(("locale", value) for value in ("de_DE", "", 1, "x" * 101)),
        *(("localeFallback", value) for value in ("yes", 1)),
        *(("conversationId", value) for value in ("", 1, "x" * 257)),
        *((name, "internal") for name in ("audience", "profile", "providerId", "exposure_profile")),
    ],
)
def test_a_bad_question_is_refused_by_field_and_nobody_is_asked(house: Household, field: str, value: Any) -> None:
    with serving(None, None) as (a, b):
        house.register(a)
        house.register(b, "agent_only")
        for token in (house.agent, house.assistant):
            refused = house.ask(token=token, **{"query": "x", field: value})
            assert (refused.status, refused.json["field"]) == (422, field)
        assert a.asked == b.asked == []


def test_a_tenant_asks_its_own_providers_alone(house: Household, made: Deployment) -> None:
    with serving(None, None) as (ours, theirs):
        house.register(ours)
        household(made, "neighbour").register(theirs)
        house.ask()
        house.visit()
        house.ask(token=house.assistant)
        assert (len(ours.asked), len(theirs.asked)) == (3, 0)


def test_what_is_switched_off_asks_nobody(house: Household) -> None:
    with serving(None) as (a,):
        house.register(a)
        super_run(house, "update tenants set enabled = false where id = %s", house.tenant.id)
        assert [(one.status, one.json["code"]) for one in (house.ask(), house.visit())] == [
            (409, "kb_disabled"),
            (403, "refused"),
        ]
        assert a.asked == []


# --- how providers do


def test_a_failing_provider_is_let_alone_for_agents_and_pages_apart(house: Household) -> None:
    with serving(status(500)) as (a,):
        house.register(a)
        words = [house.ask().json["providers"][0]["status"] for _ in range(7)]
        assert words == ["timeout"] * 5 + ["circuit_open"] * 2
        assert len(a.asked) == 5
        assert house.visit().json == {"results": []}
        assert len(a.asked) == 6, "pages have a budget of their own"
        lanes = {one["lane"]: one["transient_failures"] for one in house.providers()[0]["health"]}
        assert lanes == {"main": 5, "widget": 1}


@pytest.mark.parametrize("code", [429, 503])
def test_a_provider_that_asks_for_peace_gets_it_from_agents_and_pages(house: Household, code: int) -> None:
    with serving(status(code, Retry_After="7200")) as (a,):
        house.register(a)
        house.ask()
        house.visit()
        assert len(a.asked) == 1
        lanes = {one["lane"]: one for one in house.providers()[0]["health"]}
        assert lanes["main"]["open_until"] == lanes["widget"]["open_until"]
        assert (lanes["main"]["transient_failures"], lanes["widget"]["transient_failures"]) == (1, 0)
        assert lanes["widget"]["last_failure"] is None


def test_what_pages_brought_about_keeps_agents_away_for_a_quarter_of_an_hour_at_most(house: Household) -> None:
    with serving(status(429, Retry_After="7200")) as (a,):
        one = house.register(a)
        house.visit()
        assert house.ask().json["providers"][0]["status"] == "circuit_open"
        assert len(a.asked) == 1
        later = "update knowledge_circuits set open_until = open_until - interval '15 minutes' where provider_id = %s"
        super_run(house, later, one["id"])
        a.behave = answer(result())
        house.visit()
        assert len(a.asked) == 1, "pages wait as long as it asked for"
        assert house.ask().json["providers"][0]["status"] == "ok"
        assert house.ask().json["providers"][0]["status"] == "ok"


@pytest.mark.parametrize("says", [status(401), status(404), Says(body=b"[]")])
def test_what_pages_cause_never_disables_a_provider_for_agents(house: Household, says: Says) -> None:
    with serving(says) as (a,):
        house.register(a)
        for _ in range(6):
            house.visit()
        assert len(a.asked) == 3, "the page's own lane stops"
        assert house.providers()[0]["status"] == "active"
        a.behave = answer(result())
        assert house.ask().json["providers"][0]["status"] == "ok"
        assert house.visit().json == {"results": []}


@pytest.mark.parametrize("says", [status(403), status(410), Says(body=b"{}")])
def test_an_assistants_failures_count_like_an_agents(house: Household, says: Says) -> None:
    with serving(says) as (a,):
        house.register(a)
        for _ in range(3):
            assert house.ask(token=house.assistant).json == {"results": []}
        assert house.providers()[0]["status"] == "auto_disabled"
        assert house.ask().json["providers"][0]["status"] == "disabled"


def test_a_slow_one_and_a_dead_one_delay_nobody_beyond_the_slow_one(house: Household) -> None:
    slow = Says(body=answer(result("slow")).body, pause=0.5)
    with serving(slow, answer(result("quick"))) as (a, b):
        for provider in (a, b, "http://127.0.0.1:9"):
            house.register(provider)
        seen = house.ask().json
    assert [one["status"] for one in seen["providers"]] == ["ok", "ok", "timeout"]
    assert {one["documentId"] for one in seen["results"]} == {"slow", "quick"}
    assert max(one["ms"] for one in seen["providers"]) < 10_000


def test_a_wrongly_labelled_result_is_dropped_and_remembered(house: Household) -> None:
    with serving(answer(result("a"), result("b", audience="internal"), result("c", audience=None))) as (a,):
        house.register(a)
        assert [one["documentId"] for one in house.ask().json["results"]] == ["a"]
        one = house.providers()[0]
        assert (one["label_warnings"], one["last_label_warning_at"] is not None) == (2, True)
        house.visit()
        assert house.providers()[0]["label_warnings"] == 4


def test_languages_are_judged_by_us_and_after_the_labels(house: Household) -> None:
    items = [result("a", locale="en-US"), result("b", audience="internal", locale="de"), result("c", locale="en-us")]
    with serving(answer(*items, returnedLocale="de")) as (a,):
        house.register(a, capabilities=["locale"])
        seen = house.ask(locale="de").json
    assert seen["returnedLocale"] == "en-US"
    assert [one["localeFallback"] for one in seen["results"]] == [True, True]


@pytest.mark.parametrize("who", ["agent", "assistant", "widget"])
@pytest.mark.parametrize("widest", ["蜂", "\U0001f36f"])
def test_the_largest_answer_is_carried(house: Household, who: str, widest: str) -> None:
    """In UTF-8: escapes, escaped once more for Lambda, would make it longer than that takes."""
    texts = {"title": widest * 512, "snippet": widest * 8192, "url": f"https://a.example.com/{widest * 2_000}"}
    each, limit = (10, 10) if who == "widget" else (20, 50)
    with serving(answer_in_utf8(*[result(f"{n}", **texts) for n in range(each)])) as (a,):
        for number in range(3):
            house.register(a, name=f"{number}")
        path = "/v1/widget/search" if who == "widget" else PATH
        headers = {"Authorization": f"Bearer {getattr(house, who)}", "Origin": ORIGIN}
        asked = json.dumps({"query": "x", "limit": limit}).encode()
        with Client(app) as client:
            sent = client.http.request("POST", path, headers=headers, body=asked)
    assert (sent.status_code, sent.headers["Content-Type"]) == (200, "application/json")
    told = json.loads(sent.body)
    left_out = limit - len(told["results"])
    assert 0 <= left_out < 10
    assert left_out == 0 or widest > "\uffff"
    assert told.get("leftOut", 0) == (left_out if who == "agent" else 0)
    assert widest.encode() in sent.body
    assert len(json.dumps(sent.body.decode())) < MAX_ANSWER


def test_what_an_answer_has_no_room_for_is_left_out_and_agents_are_told(
    house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    def narrow(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return fitting(results, 1_000)

    monkeypatch.setattr(knowledge_search, "fitting", narrow)
    monkeypatch.setattr(public_search, "fitting", narrow)
    items = [result("a", snippet="s" * 400, locale="de"), result("b", snippet="t" * 400, locale="en")]
    with serving(answer(*items), status(500)) as (a, b):
        house.register(a)
        house.register(b)
        seen = house.ask().json
        assert [one["documentId"] for one in seen["results"]] == ["a"]
        assert (seen["leftOut"], seen["returnedLocale"]) == (1, "de")
        assert [one["status"] for one in seen["providers"]] == ["ok", "timeout"]
        for customer in (house.ask(token=house.assistant).json, house.visit().json):
            assert set(customer) == {"results"}
            assert len(customer["results"]) == 1


def test_nothing_secret_is_logged(house: Household) -> None:
    query = "a question that nobody else may read"
    with serving(None, status(401), Says(body=b"{"), Says(reset=True)) as providers, log() as lines:
        secrets = [house.register(one)["secret"] for one in providers]
        house.ask(query, conversationId="conversation-of-ours")
        house.visit(query)
        house.act(house.providers()[0], "test", {"query": query})
        headers = [asked.headers for one in providers for asked in one.asked]
    told = "\n".join(lines)
    assert told.count("a provider failed") >= 6
    hidden = [query, "conversation-of-ours", house.agent, house.widget, *secrets]
    hidden += [one["x-larder-request"] for one in headers]
    hidden += [one["x-larder-signature"].rpartition("=")[2] for one in headers]
    assert not [value for value in hidden if value in told]


# --- what happens while somebody is asked


def another(house: Household) -> Outside:
    """The deployment's parts on a connection of their own, for a thread."""
    return replace(house.deployment.build("larder_app"), fetch_policy=house.deployment.outside.fetch_policy)


def meanwhile(house: Household, change: Callable[[], Any], after: float = 0.3) -> knowledge_search.Answer:
    """The answer to a question while which the configuration changes."""
    outside = another(house)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(lambda: knowledge_search.search(outside, house.tenant.id, Question("kettle"), now))
        time.sleep(after)
        change()
        found = asked.result()
    outside.database.close()
    return found


def answer_in_utf8(*results: Any) -> Says:
    return Says(body=json.dumps({"contractVersion": 1, "results": results}, ensure_ascii=False).encode())


def now() -> datetime:
    return datetime.now(UTC)


def test_what_failed_under_an_old_address_says_nothing_about_the_new_one(house: Household) -> None:
    with serving(replace(status(404), pause=1.0), answer(result())) as (wrong, right):
        provider = house.register(wrong)
        for _ in range(3):
            house.change(provider, base_url=wrong.url)
            meanwhile(house, lambda: house.change(provider, base_url=right.url))
        assert house.providers()[0]["status"] == "active"
        assert house.ask().json["providers"][0]["status"] == "ok"


def test_who_asks_and_who_changes_at_once_lock_nobody_out(house: Household) -> None:
    with serving(answer(result("a", audience="internal")), status(500), status(503)) as providers:
        registered = [house.register(one) for one in providers]
        faults: list[BaseException] = []

        def ask() -> None:
            outside = another(house)
            try:
                for _ in range(25):
                    knowledge_search.search(outside, house.tenant.id, Question("kettle"), now)
            except Exception as fault:
                faults.append(fault)
            outside.database.close()

        askers = [threading.Thread(target=ask) for _ in range(4)]
        for asker in askers:
            asker.start()
        while any(asker.is_alive() for asker in askers):
            for one in reversed(registered):
                changed = house.change(one, capabilities=["locale"] if random.random() < 0.5 else [])
                assert changed.status == 200, changed
        assert faults == []


# --- the cache


@pytest.fixture
def keeping(caching: Deployment, request: pytest.FixtureRequest) -> Iterator[Household]:
    from chalicelib import bootstrap

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: caching.outside)
        yield household(caching, request.node.name)


def test_without_the_setting_nothing_is_kept(house: Household) -> None:
    with serving(None) as (a,):
        house.register(a)
        house.ask()
        house.ask()
        assert len(a.asked) == 2


def test_an_agent_gets_its_own_answer_again_for_a_while(keeping: Household) -> None:
    with serving(answer(result("a", url="https://x.example.com/"), result("b", audience="internal"))) as (a,):
        keeping.register(a)
        first, again = keeping.ask("  Kettle "), keeping.ask("Kettle")
        assert len(a.asked) == 1
        assert again.json["results"] == first.json["results"]
        assert again.json["providers"][0] | {"ms": 0} == first.json["providers"][0] | {"ms": 0}
        super_run(keeping, "update knowledge_cache set expires_at = now()")
        keeping.ask("Kettle")
        assert len(a.asked) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"query": "kettle"},
        {"query": "Kettle#"},
        {"limit": 9},
        {"locale": "de"},
        {"locale": "de", "localeFallback": True},
        {"locale": "de", "localeFallback": False},
        {"conversationId": "c"},
    ],
)
def test_another_question_is_another_answer(keeping: Household, other: dict[str, Any]) -> None:
    with serving(None) as (a,):
        keeping.register(a)
        keeping.ask("Kettle")
        keeping.ask(**{"query": "Kettle", **other})
        assert len(a.asked) == 2


def test_what_was_asked_in_a_conversation_is_not_kept(keeping: Household) -> None:
    with serving(None) as (a,):
        keeping.register(a, "agent_only")
        for _ in range(2):
            keeping.ask(conversationId="c")
        assert len(a.asked) == 2


def test_another_agent_gets_nothing_of_it_and_customers_have_no_cache(keeping: Household) -> None:
    with serving(None) as (a,):
        keeping.register(a)
        keeping.ask()
        other = keeping.tenant.post("/v1/agents", {"name": "Bob"}).json["token"]
        for token in (other, keeping.assistant, keeping.assistant, keeping.widget, keeping.widget):
            before = len(a.asked)
            seen = keeping.visit() if token == keeping.widget else keeping.ask(token=token)
            assert len(seen.json["results"]) == 1
            assert len(a.asked) == before + 1


@pytest.mark.parametrize("says", [status(500), status(401), Says(body=b"{"), Says(reset=True)])
def test_a_failure_is_not_kept(keeping: Household, says: Says) -> None:
    with serving(says) as (a,):
        keeping.register(a)
        keeping.ask()
        a.behave = answer(result("a"), result("b"))
        assert len(keeping.ask().json["results"]) == 2


@pytest.mark.parametrize("change", ["capabilities", "status", "rotate", "delete"])
def test_a_change_ends_what_was_kept(keeping: Household, change: str) -> None:
    with serving(None) as (a,):
        one = keeping.register(a)
        keeping.ask()
        {
            "capabilities": lambda: keeping.change(one, capabilities=["scoring"]),
            "status": lambda: keeping.change(one, status="disabled"),
            "rotate": lambda: keeping.act(one, "rotate-secret"),
            "delete": lambda: keeping.remove(one),
        }[change]()
        with tables.superuser(keeping.deployment) as connection:
            rows = connection.execute("select from knowledge_cache where tenant_id = %s", (keeping.tenant.id,))
            assert rows.rowcount == 0
        gone = change in ("status", "delete")
        assert (len(keeping.ask().json["results"]), len(a.asked)) == ((0, 1) if gone else (1, 2))


def test_what_is_kept_is_bounded_judged_again_and_swept(keeping: Household) -> None:
    with serving(answer(result("a"))) as (a,):
        one = keeping.register(a)
        for number in range(6):
            keeping.ask(f"question {number}")
        count = "select count(*) from knowledge_cache where tenant_id = %s"
        with tables.superuser(keeping.deployment) as connection:
            assert connection.execute(count, (keeping.tenant.id,)).fetchone() == (3,)
            inside = "jsonb_set(results, '{0,audience}', '\"internal\"')"
            connection.execute(f"update knowledge_cache set results = {inside} where provider_id = %s", (one["id"],))
            assert keeping.ask("question 0").json["results"] == []
            connection.execute("update knowledge_cache set expires_at = now() - interval '1 hour'")
        swept = provider_secrets.sweep(keeping.deployment.worker, datetime.now(UTC) + timedelta(seconds=1))
        assert swept["answers"] >= 3
        with tables.superuser(keeping.deployment) as connection:
            assert connection.execute(count, (keeping.tenant.id,)).fetchone() == (0,)


def test_what_holds_no_text_is_a_broken_contract_and_costs_no_other_its_place(keeping: Household) -> None:
    with serving(answer(result(snippet="a\x00b")), answer(result("good", revision="r\x00"))) as (bad, good):
        keeping.register(bad, "agent_only")
        keeping.register(good, "agent_only")
        for _ in range(2):
            found = keeping.ask().json
            assert [(one["documentId"], one["revision"]) for one in found["results"]] == [("good", None)]
            assert [one["status"] for one in found["providers"]] == ["contract_error", "ok"]
        assert (len(bad.asked), len(good.asked)) == (2, 1)


def test_an_answer_that_the_database_does_not_take_costs_no_other_its_place(
    keeping: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(answer(result("odd")), answer(result("good"))) as (odd, good):
        for one in (odd, good):
            keeping.register(one, "agent_only")
        monkeypatch.setattr(
            knowledge_cache, "Jsonb", lambda found: Jsonb("\x00" if found[0]["documentId"] == "odd" else found)
        )
        with log() as lines:
            assert len(keeping.ask().json["results"]) == 2
        assert "could not be kept" in "".join(lines)
        keeping.ask()
        assert (len(odd.asked), len(good.asked)) == (2, 1)


def test_links_are_judged_before_an_answer_is_kept_and_outside_of_any_transaction(
    keeping: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = {"good": "https://x.example.com/", "bad": "https://10.0.0.1/"}
    judged = []

    def judge(*given: Any, **more: Any) -> Any:
        database: Any = keeping.deployment.outside.database
        judged.append(database._connection.info.transaction_status)
        return labels.judge(*given, **more)

    with serving(answer(*[result(name, url=url) for name, url in links.items()])) as (a,):
        one = keeping.register(a)
        first = keeping.ask().json
        with tables.superuser(keeping.deployment) as connection:
            query = "select results->0->>'url', results->1->>'url' from knowledge_cache where provider_id = %s"
            assert connection.execute(query, (one["id"],)).fetchone() == (links["good"], None)
        monkeypatch.setattr(knowledge_cache, "labels", SimpleNamespace(judge=judge))
        assert keeping.ask().json["results"] == first["results"]
        assert (len(a.asked), judged) == (1, [TransactionStatus.IDLE])


def test_the_rows_that_are_kept_are_bounded_however_many_are_asked_at_once(keeping: Household) -> None:
    start = threading.Barrier(12)

    def ask(number: int) -> None:
        outside = another(keeping)
        with outside.database.transaction():
            pass
        start.wait(30)
        knowledge_search.search(outside, keeping.tenant.id, Question(f"question {number}"), now, principal="Ada")
        outside.database.close()

    with serving(None) as (a,):
        keeping.register(a)
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(ask, range(12)))
    with tables.superuser(keeping.deployment) as connection:
        count = "select count(*) from knowledge_cache where tenant_id = %s"
        assert connection.execute(count, (keeping.tenant.id,)).fetchone() == (3,)


def test_a_provider_that_is_deleted_meanwhile_spoils_nobody_elses_answer(keeping: Household) -> None:
    with serving(replace(status(500), pause=1.0), answer(result("there"))) as (slow, good):
        gone = keeping.register(slow, name="slow")
        keeping.register(good)
        found = meanwhile(keeping, lambda: keeping.remove(gone))
    assert [one["documentId"] for one in found.results] == ["there"]


def test_an_answer_kept_by_laxer_rules_is_as_if_it_were_not_there(keeping: Household) -> None:
    with serving(answer(result("there"))) as (one,):
        keeping.register(one)
        keeping.ask()
        super_run(keeping, "update knowledge_cache set results = jsonb_set(results, '{0,title}', '\"\"')")
        again = keeping.ask()
    assert (again.status, [found["documentId"] for found in again.json["results"]]) == (200, ["there"])
    assert len(one.asked) == 2
