"""The widget's route: pages that may embed it, limits, and refusals that tell nothing (spec 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.services import provider_secrets
from tests.api import tables
from tests.knowledge import ORIGIN, Household, deployment, household
from tests.postgres import TestServer
from tests.scripted_provider import answer, result, serving
from tests.tenants import Answer, Deployment

PATH = "/v1/widget/search"


@pytest.fixture(scope="module")
def made(server: TestServer) -> Iterator[Deployment]:
    with deployment(server) as one:
        yield one


@pytest.fixture(scope="module")
def narrow(server: TestServer) -> Iterator[Deployment]:
    with deployment(server, LARDER_WIDGET_PER_TOKEN="5", LARDER_WIDGET_PER_ADDRESS="3") as one:
        yield one


@pytest.fixture
def house(made: Deployment, request: pytest.FixtureRequest) -> Household:
    return household(made, request.node.name)


def send(house: Household, method: str = "POST", body: Any = None, **headers: str | None) -> Answer:
    """A page's request, with headers changed or (None) left out."""
    named: dict[str, str | None] = {"Authorization": f"Bearer {house.widget}", "Origin": ORIGIN}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    kept = {name: value for name, value in named.items() if value is not None}
    return house.deployment.request(method, PATH, kept, {"query": "x"} if body is None else body)


def cors(answer: Answer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


def test_a_page_gets_five_keys_in_an_envelope_and_may_read_them(house: Household) -> None:
    with serving(answer(result("a", score=1, revision="r", locale="de"), result("b", audience="internal"))) as (a,):
        house.register(a, capabilities=["locale"])
        seen = send(house, body={"query": "x", "locale": "en", "localeFallback": True, "limit": 10})
    assert seen.json == {
        "results": [{"title": "T", "snippet": "S", "url": None, "locale": "de", "localeFallback": True}]
    }
    assert seen.headers["access-control-allow-origin"] == ORIGIN
    assert seen.headers["vary"] == "Origin"
    assert seen.headers["cache-control"] == "private, no-store"
    assert not {"set-cookie", "access-control-allow-credentials"} & set(seen.headers)


def test_no_provider_for_customers_is_an_empty_answer(house: Household) -> None:
    with serving(None) as (a,):
        house.register(a, "agent_only")
        assert send(house).json == {"results": []}
        assert a.asked == []


def test_a_preflight_is_answered_for_pages_that_some_widget_may_stand_in(house: Household) -> None:
    known = send(house, "OPTIONS", Authorization=None, Access_Control_Request_Method="POST")
    assert known.status == 200
    assert cors(known) == {
        "access-control-allow-origin": ORIGIN,
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "Authorization, Content-Type",
        "access-control-max-age": "600",
    }
    for origin in ("https://evil.example", "https://www.example.com.evil.example", "null", "", None):
        unknown = send(house, "OPTIONS", Authorization=None, Origin=origin)
        assert (unknown.status, cors(unknown)) == (403, {})


def refusals(house: Household) -> dict[str, Answer]:
    """Everything that a page can do wrong."""
    other = household(house.deployment, f"{house.tenant.name} other")
    gone = house.tenant.post("/v1/widgets", {"name": "gone", "origins": [ORIGIN]}).json
    off = house.tenant.post("/v1/widgets", {"name": "off", "origins": [ORIGIN]}).json
    house.deployment.request("DELETE", f"/v1/widgets/{gone['id']}", house.tenant._headers())
    house.deployment.request("PATCH", f"/v1/widgets/{off['id']}", house.tenant._headers(), {"active": False})
    tokens = {
        "none": None,
        "nonsense": "nonsense",
        "an agent's": house.agent,
        "an assistant's": house.assistant,
        "an API token": house.tenant.api_token,
        "removed": gone["token"],
        "switched off": off["token"],
        "cut": house.widget[:-1],
    }
    wrong = {
        name: send(house, Authorization=None if token is None else f"Bearer {token}") for name, token in tokens.items()
    }
    for origin in (f"{ORIGIN}/", ORIGIN.upper(), "https://evil.example", "http://www.example.com", "null", "\0", None):
        wrong[f"origin {origin}"] = send(house, Origin=origin)
    bodies: list[Any] = [
        {},
        {"query": ""},
        {"query": "x" * 1025},
        {"query": "x", "limit": 11},
        {"query": "x", "limit": 0},
    ]
    bodies += [{"query": "x", "audience": "internal"}, {"query": "x", "conversationId": "c"}, [], "x"]
    for body in bodies:
        wrong[f"body {str(body)[:30]}"] = send(house, body=body)
    wrong["query parameter"] = house.deployment.request(
        "POST",
        f"{PATH}?audience=internal",
        {"Authorization": f"Bearer {house.widget}", "Origin": ORIGIN},
        {"query": "x"},
    )
    assert send(other).status == 200
    return wrong


def test_every_refusal_is_the_same_and_asks_nobody(house: Household) -> None:
    with serving(None) as (a,):
        house.register(a)
        found = refusals(house)
        assert {name: answer.status for name, answer in found.items()} == dict.fromkeys(found, 403)
        bodies = {str(answer.json) for answer in found.values()}
        assert len(bodies) == 1
        assert a.asked == []


def test_a_page_that_may_not_embed_it_may_not_read_why(house: Household) -> None:
    for origin in ("https://evil.example", "null", None):
        assert cors(send(house, Origin=origin)) == {}
        assert cors(send(house, Origin=origin, Authorization=None)) == {}


def test_a_page_of_some_widget_reads_every_refusal_alike(house: Household) -> None:
    """What a preflight tells it already, and no more: not whether the token, the body or a limit was it."""
    other = household(house.deployment, f"{house.tenant.name} other")
    elsewhere = other.tenant.post("/v1/widgets", {"name": "blog", "origins": ["https://blog.example.com"]}).json
    found = {
        "no token": send(house, Authorization=None),
        "another's": send(house, Authorization=f"Bearer {house.agent}"),
        "another page's": send(house, Authorization=f"Bearer {elsewhere['token']}"),
        "body": send(house, body={}),
        "query": send(house, body={"query": "x" * 1025}),
    }
    allowed = cors(send(house))
    assert allowed["access-control-allow-origin"] == ORIGIN
    assert {name: cors(one) for name, one in found.items()} == dict.fromkeys(found, allowed)
    assert {one.status for one in found.values()} == {403}


def test_a_token_of_one_page_is_nothing_on_another(house: Household) -> None:
    blog = house.tenant.post("/v1/widgets", {"name": "blog", "origins": ["https://blog.example.com"]}).json["token"]
    assert send(house, Authorization=f"Bearer {blog}").status == 403
    assert send(house, Authorization=f"Bearer {blog}", Origin="https://blog.example.com").status == 200
    assert send(house, Origin="https://blog.example.com").status == 403


@pytest.mark.parametrize(
    "origins",
    [
        [],
        ["https://www.example.com/"],
        ["https://www.example.com/page"],
        ["http://www.example.com"],
        ["*"],
        ["null"],
        ["https://*.example.com"],
        ["https://WWW.example.com"],
        ["https://user@www.example.com"],
        ["https://www.example.com:0"],
        ["https://www.example.com:443"],
        ["https://www.example.com:65536"],
        ["https://www.example.com:"],
        ["https://www..example.com"],
        ["https://-.example.com"],
        ["https://bücher.example"],
        ["https://1.2.3"],
        ["https://0x7f.1"],
        ["https://www.example.com."],
        ["http://localhost:80"],
        ["http://localhost:99999"],
        ["https://[2001:DB8::1]"],
        ["https://www.example.com?x"],
        ["https://www.example.com#x"],
        "https://www.example.com",
    ],
)
def test_an_origin_is_one_as_browsers_send_it(house: Household, origins: Any) -> None:
    refused = house.tenant.post("/v1/widgets", {"name": "x", "origins": origins})
    assert (refused.status, refused.json["field"].partition(".")[0]) == (422, "origins")


@pytest.mark.parametrize(
    "origin",
    [
        "https://www.example.com",
        "https://www.example.com:8443",
        "https://xn--bcher-kva.example",
        "https://192.0.2.7",
        "https://[2001:db8::1]:8443",
        "http://localhost:3000",
        "http://127.0.0.1",
    ],
)
def test_an_origin_is_kept_as_browsers_send_it(house: Household, origin: str) -> None:
    made = house.tenant.post("/v1/widgets", {"name": "x", "origins": [origin, origin]})
    assert (made.status, made.json["origins"]) == (201, [origin])


@pytest.mark.parametrize("query", ["\x00", "a\x00b", "\x1b[31m", "\x7f", "\u202e", "a\nb", "\u0085x", "\x07" * 1024])
def test_a_query_may_hold_anything(house: Household, query: str) -> None:
    with serving(None) as (a,):
        house.register(a)
        assert send(house, body={"query": query}).status == 200
        assert house.ask(query).status == house.ask(query, token=house.assistant).status == 200
        assert [asked.json["query"] for asked in a.asked] == [query] * 3


def test_limits_hold_for_an_address_and_for_a_token(narrow: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "outside", lambda: narrow.outside)
    house = household(narrow, "limited")
    with serving(None) as (a,):
        house.register(a)
        assert [send(house).status for _ in range(5)] == [200] * 3 + [403] * 2
        assert len(a.asked) == 3
        other = house.tenant.post("/v1/widgets", {"name": "second", "origins": [ORIGIN]}).json["token"]
        assert send(house, Authorization=f"Bearer {other}").status == 200, "each widget counts for itself"
    with tables.superuser(narrow) as connection:
        rows = dict(connection.execute("select bucket, used from widget_windows where used > 1").fetchall())
        assert sorted(rows.values()) == [3, 3], "what is refused is not counted"
        assert "127.0.0.1" not in str(rows)
        address = next(bucket for bucket in rows if bucket.startswith("address"))
        connection.execute("delete from widget_windows where bucket = %s", (address,))
        assert [send(house).status for _ in range(3)] == [200, 200, 403], "five a token"
        connection.execute("update widget_windows set started_at = started_at - interval '1 minute'")
        assert send(house).status == 200, "a minute later"
        connection.execute("update widget_windows set started_at = started_at - interval '1 hour'")
    from datetime import UTC, datetime

    assert provider_secrets.sweep(narrow.worker, datetime.now(UTC))["windows"] >= 2
