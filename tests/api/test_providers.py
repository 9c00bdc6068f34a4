"""Registrations as admins keep them (spec 3.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api import tables
from tests.knowledge import Household, deployment, household
from tests.postgres import TestServer
from tests.scripted_provider import Asked, Says, ScriptedProvider, answer, result, serving, status
from tests.tenants import Answer, Deployment

PATH = "/v1/knowledge/providers"
BODY = {"name": "kb", "base_url": "https://kb.example.com/a/b/", "exposure_profile": "customer_safe"}


@pytest.fixture(scope="module")
def made(server: TestServer) -> Iterator[Deployment]:
    with deployment(server) as one:
        yield one


@pytest.fixture
def house(made: Deployment, request: pytest.FixtureRequest) -> Household:
    return household(made, request.node.name)


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with serving(None) as (one,):
        yield one


def rows(house: Household, query: str, *values: Any) -> list[Any]:
    with tables.superuser(house.deployment) as connection:
        return connection.execute(query, values).fetchall()


def audit(house: Household) -> list[Any]:
    query = (
        "select action, before, after from admin_audit where tenant_id = %s and action like 'provider%%' order by at"
    )
    return rows(house, query, house.tenant.id)


def refusal(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json.get("field") or answer.json["code"]


# --- making one


def test_a_registration_has_defaults_that_open_nothing(house: Household) -> None:
    made = house.tenant.post(PATH, BODY)
    assert made.status == 201
    secret = made.json.pop("secret")
    assert len(secret) == 43, "32 bytes as base64url"
    assert made.json == house.providers()[0]
    assert {name: made.json[name] for name in ("status", "priority", "capabilities", "module", "contract_version")} == {
        "status": "active",
        "priority": 100,
        "capabilities": [],
        "module": None,
        "contract_version": 1,
    }
    assert not made.json["allow_private_network"]
    assert not made.json["send_conversation_id"]
    assert made.json["base_url"] == "https://kb.example.com/a/b"


def test_a_secret_is_shown_once_and_is_not_readable_at_rest(house: Household) -> None:
    made = house.tenant.post(PATH, BODY).json
    stored = json.dumps(tables.dump(house.deployment))
    assert made["secret"] not in stored
    assert made["secret"].encode().hex() not in stored
    assert made["secret"] not in json.dumps([house.providers(), house.change(made, priority=1).json])


def test_its_id_is_filled_into_its_address(house: Household) -> None:
    made = house.tenant.post(PATH, {**BODY, "base_url": "https://kb.example.com/v1/provider/{registration}"}).json
    assert made["base_url"] == f"https://kb.example.com/v1/provider/{made['id']}"


@pytest.mark.parametrize(
    "url", ["https://kb.example.com", "https://kb.example.com/{registration}", "https://kb.example.com/v1/provider"]
)
def test_larders_own_is_asked_at_its_own_route_alone(house: Household, url: str) -> None:
    own = {**BODY, "module": "larder", "base_url": "https://kb.example.com/x/v1/provider/{registration}/"}
    one = house.tenant.post(PATH, own).json
    assert one["base_url"] == f"https://kb.example.com/x/v1/provider/{one['id']}"
    another = house.tenant.post(PATH, {**own, "name": "another"}).json
    for wrong in (url, another["base_url"]):
        assert refusal(house.tenant.post(PATH, {**own, "name": "third", "base_url": wrong})) == (422, "base_url")
        assert refusal(house.change(one, base_url=wrong)) == (422, "base_url")
    moved = house.change(one, base_url="https://kb2.example.com/v1/provider/{registration}")
    assert moved.json["base_url"] == f"https://kb2.example.com/v1/provider/{one['id']}"
    assert house.change(one, priority=3).status == 200


@pytest.mark.parametrize("field", ["name", "base_url", "exposure_profile"])
def test_what_a_registration_must_have(house: Household, field: str) -> None:
    for body in ({name: value for name, value in BODY.items() if name != field}, {**BODY, field: None}):
        assert refusal(house.tenant.post(PATH, body)) == (422, field)
    assert house.providers() == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "kb.example.com",
        "ftp://kb.example.com",
        "https://user:word@kb.example.com",
        "https://kb.example.com/?x=1",
        "https://kb.example.com/#x",
        "https://kb.example.com/a b",
        "https://10.0.0.7",
        "https://169.254.169.254",
        "https://metadata.google.internal",
        "https://intranet",
        "https://[::1]",
        "https://kb.example.com:99999",
        "https://" + "a" * 2000,
    ],
)
def test_an_address_that_may_not_be_asked_is_refused(server: TestServer, monkeypatch: Any, url: str) -> None:
    from chalicelib import bootstrap

    strict = Deployment(server, server.create())
    monkeypatch.setattr(bootstrap, "outside", lambda: strict.outside)
    house = household(strict)
    assert refusal(house.tenant.post(PATH, {**BODY, "base_url": url})) == (422, "base_url")
    assert refusal(house.tenant.post(PATH, {**BODY, "base_url": "http://kb.example.com"})) == (422, "base_url")
    strict.close()
    server.drop(strict.database_name)


def test_a_name_is_the_tenants_own_and_used_once(house: Household, made: Deployment) -> None:
    assert house.tenant.post(PATH, BODY).status == 201
    assert refusal(house.tenant.post(PATH, BODY)) == (409, "provider_exists")
    other = house.tenant.post(PATH, {**BODY, "name": "other"}).json
    assert refusal(house.change(other, name="kb")) == (409, "provider_exists")
    assert house.change(other, name="other").status == 200
    assert household(made, "a neighbour").tenant.post(PATH, BODY).status == 201


def test_a_tenant_has_so_many_providers_and_no_more(house: Household) -> None:
    for number in range(32):
        house.register("https://kb.example.com", name=f"{number}")
    assert refusal(house.tenant.post(PATH, BODY)) == (409, "too_many_providers")


def test_conversations_go_to_providers_for_agents_alone(house: Household) -> None:
    wanted = {**BODY, "send_conversation_id": True}
    assert refusal(house.tenant.post(PATH, wanted)) == (422, "send_conversation_id")
    assert house.tenant.post(PATH, {**wanted, "exposure_profile": "agent_only"}).status == 201
    safe = house.register("https://kb.example.com", name="safe")
    assert refusal(house.change(safe, send_conversation_id=True)) == (422, "send_conversation_id")


# --- changing one


def test_what_it_is_exposed_to_cannot_be_changed(house: Household) -> None:
    one = house.tenant.post(PATH, BODY).json
    assert refusal(house.change(one, exposure_profile="agent_only")) == (422, "exposure_profile")
    with (
        pytest.raises(Exception, match="permission denied"),
        house.deployment.outside.database.transaction(house.tenant.id) as tx,
    ):
        tx._connection.execute("update knowledge_providers set exposure_profile = 'agent_only'")


@pytest.mark.parametrize(
    ("changes", "raises"),
    [
        ({"name": "another"}, False),
        ({"priority": 7}, False),
        ({"send_conversation_id": True}, False),
        ({"base_url": "https://other.example.com"}, True),
        ({"capabilities": ["scoring"]}, True),
        ({"status": "disabled"}, True),
        ({"allow_private_network": True, "acknowledge": "ssrf-risk"}, True),
        ({"status": "active", "capabilities": []}, False),
    ],
)
def test_a_change_of_what_counts_raises_the_generation(house: Household, changes: Any, raises: bool) -> None:
    one = house.register("https://kb.example.com", "agent_only")
    changed = house.change(one, **changes)
    assert changed.status == 200, changed.json
    assert changed.json["config_generation"] == 1 + raises
    wanted = {name: value for name, value in changes.items() if name != "acknowledge"}
    assert {name: changed.json[name] for name in wanted} == wanted
    assert audit(house)[-1][0] == "provider.update"


def test_capabilities_are_a_set(house: Household) -> None:
    one = house.register("https://kb.example.com", capabilities=["scoring", "locale", "scoring"])
    assert one["capabilities"] == ["scoring", "locale"]
    again = house.change(one, capabilities=["locale", "scoring", "locale"]).json
    assert (again["capabilities"], again["config_generation"]) == (["scoring", "locale"], 1), (
        "another order is no change"
    )
    fewer = house.change(one, capabilities=["locale", "locale"]).json
    assert (fewer["capabilities"], fewer["config_generation"]) == (["locale"], 2)


def test_a_secret_whose_key_is_gone_can_only_be_replaced_at_once(house: Household) -> None:
    one = house.register("https://kb.example.com")
    with tables.superuser(house.deployment) as connection:
        connection.execute("update knowledge_providers set secret_key_id = 'gone' where id = %s", (one["id"],))
    refused = house.act(one, "rotate-secret")
    assert (refused.status, refused.json["code"]) == (409, "secret_lost")
    assert "overlap of 0" in refused.json["detail"]
    assert house.act(one, "rotate-secret", {"overlap_seconds": 0}).status == 200
    assert house.act(one, "rotate-secret").status == 200


def test_a_private_network_needs_its_risk_acknowledged_and_is_audited(house: Household) -> None:
    one = house.register("https://kb.example.com", "agent_only")
    for wrong in ({}, {"acknowledge": "yes"}, {"acknowledge": ""}):
        assert refusal(house.change(one, allow_private_network=True, **wrong)) == (422, "acknowledge")
    body = {**BODY, "name": "private", "allow_private_network": True}
    assert refusal(house.tenant.post(PATH, body)) == (422, "acknowledge")
    assert house.change(one, allow_private_network=True, acknowledge="ssrf-risk").status == 200
    action, before, after = audit(house)[-1]
    assert (action, before["allow_private_network"], after["allow_private_network"]) == ("provider.update", False, True)
    who = rows(
        house, "select token_id is not null, at is not null from admin_audit where tenant_id = %s", house.tenant.id
    )
    assert set(who) == {(True, True)}


def test_an_audit_holds_no_secret(house: Household) -> None:
    one = house.register("https://kb.example.com")
    secret = house.act(one, "rotate-secret").json["secret"]
    house.remove(one)
    told = json.dumps(audit(house), default=str)
    assert [action for action, _, _ in audit(house)] == ["provider.create", "provider.rotate_secret", "provider.delete"]
    assert one["secret"] not in told
    assert secret not in told


def test_what_is_gone_is_gone_with_everything_that_was_kept_about_it(
    house: Household, provider: ScriptedProvider
) -> None:
    provider.behave = status(500)
    one = house.register(provider)
    house.ask()
    assert house.remove(one).json == {"id": one["id"]}
    assert house.providers() == []
    for table in ("knowledge_providers", "knowledge_circuits"):
        assert rows(house, f"select count(*) from {table} where tenant_id = %s", house.tenant.id) == [(0,)]
    assert house.remove(one).status == 404
    assert house.ask().json["providers"] == []


# --- secrets


def test_a_rotation_lets_two_secrets_sign_until_its_overlap_ends(house: Household, provider: ScriptedProvider) -> None:
    one = house.register(provider)
    rotated = house.act(one, "rotate-secret")
    assert rotated.json["secret"] != one["secret"]
    assert rotated.json["previous_secret_until"] > rotated.json["secret_rotated_at"]
    house.ask()
    assert provider.questions[-1].headers["x-larder-signature"].count("v1=") == 2
    query = "update knowledge_providers set previous_secret_until = now() - interval '1 s' where id = %s returning 1"
    rows(house, query, one["id"])
    house.ask()
    assert provider.questions[-1].headers["x-larder-signature"].count("v1=") == 1


def test_a_second_rotation_waits_for_the_first_and_none_waits_for_an_emergency(house: Household) -> None:
    one = house.register("https://kb.example.com")
    assert house.act(one, "rotate-secret", {"overlap_seconds": 60}).status == 200
    again = house.act(one, "rotate-secret", {"overlap_seconds": 60})
    assert (again.status, again.json["code"]) == (409, "rotation_in_progress")
    at_once = house.act(one, "rotate-secret", {"overlap_seconds": 0})
    assert (at_once.status, at_once.json["previous_secret_until"]) == (200, None)
    assert house.act(one, "rotate-secret", {"overlap_seconds": 60}).status == 200


@pytest.mark.parametrize("seconds", [-1, "1", 1.5, True, 10**9])
def test_an_overlap_is_whole_seconds(house: Household, seconds: Any) -> None:
    one = house.register("https://kb.example.com")
    assert refusal(house.act(one, "rotate-secret", {"overlap_seconds": seconds})) == (422, "overlap_seconds")


# --- asking one


def test_a_trial_shows_what_came_with_its_verdicts_and_counts_nothing(
    house: Household, provider: ScriptedProvider
) -> None:
    items = [result("good"), result("inside", audience="internal"), result("link", url="http://x.example.com")]
    provider.behave = answer(*items)
    one = house.register(provider)
    house.change(one, status="disabled")
    before = house.providers()
    tried = house.act(one, "test", {"query": "kettle", "limit": 5, "locale": "de"}).json
    assert (tried["status"], tried["failure"], tried["reason"]) == ("ok", None, None)
    assert [found["verdict"] for found in tried["results"]] == ["kept", "dropped_internal", "link_dropped"]
    assert provider.questions[0].json == {"query": "kettle", "limit": 5}
    assert house.providers() == before


@pytest.mark.parametrize(
    ("says", "word", "failure", "reason"),
    [
        (status(401), "config_error", "configuration", "http_401"),
        (status(503), "timeout", "transient", "http_503"),
        (status(204), "contract_error", "contract", "http_204"),
        (status(302, Location="https://x.example.com"), "contract_error", "contract", "http_302"),
        (Says(body=b"{"), "contract_error", "contract", "not JSON in UTF-8"),
        (Says(reset=True), "timeout", "transient", "unreachable:connection_lost"),
    ],
)
def test_a_trial_names_the_failure(
    house: Household, provider: ScriptedProvider, says: Says, word: str, failure: str, reason: str
) -> None:
    provider.behave = says
    tried = house.act(house.register(provider), "test").json
    assert (tried["status"], tried["failure"], tried["reason"]) == (word, failure, reason)
    assert tried["results"] == []
    assert house.providers()[0]["health"] == []


def test_capabilities_are_read_from_the_provider(house: Household, provider: ScriptedProvider) -> None:
    provider.capabilities = ["scoring", "teleport", "locale"]
    one = house.register(provider)
    refreshed = house.act(one, "refresh-capabilities").json
    assert (refreshed["status"], refreshed["capabilities"]) == ("ok", ["locale", "scoring"])
    assert refreshed["config_generation"] == 2
    assert house.act(one, "refresh-capabilities").json["config_generation"] == 2, "nothing changed"
    assert [asked.path for asked in provider.asked] == ["/capabilities"] * 2
    assert audit(house)[-1][0] == "provider.capabilities"


def test_a_provider_that_tells_no_capabilities_keeps_what_it_had(house: Household) -> None:
    one = house.register("http://127.0.0.1:9", capabilities=["locale"])
    refreshed = house.act(one, "refresh-capabilities").json
    assert (refreshed["status"], refreshed["capabilities"]) == ("timeout", ["locale"])
    assert house.providers()[0]["config_generation"] == 1


def test_a_generation_begins_anew(house: Household, provider: ScriptedProvider) -> None:
    provider.behave = status(401)
    one = house.register(provider)
    for _ in range(3):
        house.ask()
    assert house.providers()[0]["status"] == "auto_disabled"
    provider.behave = answer(result())
    assert house.ask().json["providers"][0]["status"] == "disabled"
    changed = house.change(one, status="active").json
    assert (changed["status"], changed["health"]) == ("active", [])
    assert house.ask().json["providers"][0]["status"] == "ok"


def test_the_wire_has_what_the_contract_says_and_no_more(house: Household, provider: ScriptedProvider) -> None:
    house.register(provider, "agent_only", send_conversation_id=True, capabilities=["locale", "localeFallback"])
    house.ask("a", limit=3, locale="de-DE", localeFallback=False, conversationId="c-1")
    (asked,) = provider.asked
    assert isinstance(asked, Asked)
    assert (asked.method, asked.path) == ("POST", "/retrieve")
    assert asked.json == {
        "query": "a",
        "limit": 3,
        "locale": "de-DE",
        "localeFallback": False,
        "context": {"conversationId": "c-1"},
    }
    assert asked.headers["content-type"] == "application/json; charset=utf-8"
    assert asked.headers["x-larder-knowledge-version"] == "1"
    own = {name for name in asked.headers if name.startswith("x-")}
    assert own == {"x-larder-knowledge-version", "x-larder-request", "x-larder-signature"}
    assert not {"cookie", "authorization", "x-correlation-id", "x-amzn-trace-id"} & set(asked.headers)
