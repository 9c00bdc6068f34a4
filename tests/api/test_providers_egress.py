"""Whatever is sent: a credential that leads to customers reaches no provider for agents, and no byte that is one's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.knowledge.broker import Question
from chalicelib.services import public_search
from tests.api import tables
from tests.knowledge import ORIGIN, Household, deployment, household
from tests.postgres import TestServer
from tests.scripted_provider import Says, ScriptedProvider, answer, result, serving, status

FIVE = {"title", "snippet", "url", "locale", "localeFallback"}
INSIDE = "inside-text-of-nobodys-business"


@dataclass
class House:
    """A tenant with a provider for customers and one for agents, of which every answer holds a mark."""

    house: Household
    public: ScriptedProvider
    inside: ScriptedProvider
    ids: dict[str, str]


@pytest.fixture(scope="module")
def house(server: TestServer) -> Iterator[House]:
    limits = {"LARDER_WIDGET_PER_TOKEN": "1000000", "LARDER_WIDGET_PER_ADDRESS": "1000000"}
    with deployment(server, LARDER_KNOWLEDGE_CACHE_SECONDS="600", **limits) as made, serving(None, None) as (a, b):
        one = household(made)
        b.behave = lambda asked: answer(
            result(INSIDE, title=INSIDE, snippet=INSIDE, url=f"https://{INSIDE}.example.com/")
        )
        own = one.register(a, capabilities=["locale", "scoring"], priority=100)
        other = one.register(b, "agent_only", priority=-100, send_conversation_id=True)
        yield House(one, a, b, {"public": own["id"], "inside": other["id"]})


def behaviours(asked_for: str) -> dict[str, Says]:
    """What a provider for customers may do, rightly or wrongly."""
    good = [result(f"d{number}", title="T", snippet=asked_for[:50] or "S") for number in range(3)]
    return {
        "answers": answer(*good),
        "mislabels": answer(*good, result("x", audience="internal"), result("y", audience=None)),
        "nothing": answer(),
        "too many": answer(*good * 20),
        "unauthorized": status(401),
        "busy": status(503, Retry_After="1"),
        "moved": status(307, Location="https://kb.example.com/retrieve"),
        "babbles": Says(body=b"{"),
        "hangs up": Says(reset=True),
    }


_ROUTES = st.sampled_from(["/v1/widget/search", "/v1/knowledge/search"])
_NAMES = st.sampled_from(
    [
        *("audience", "profile", "exposure_profile", "provider", "providerId", "provider_id", "providers", "lane"),
        *(
            "capabilities",
            "context",
            "conversationId",
            "locale",
            "localeFallback",
            "limit",
            "principal",
            "token",
            "role",
        ),
        *("tenant", "tenant_id", "purpose", "internal", "include", "projection", "query"),
    ]
)
_WORDS = ["agent_only", "internal", "agent", "INSIDE", "knowledge:read_internal", "de-DE", "*", "main", ""]
_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 100), st.sampled_from(_WORDS), st.text(max_size=8)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=4,
)
_BODIES = st.dictionaries(_NAMES, _VALUES, max_size=4)
_HEADERS = st.dictionaries(
    st.sampled_from(
        [
            *("X-Audience", "X-Larder-Request", "X-Larder-Signature", "X-Provider", "X-Exposure-Profile", "Cookie"),
            *("X-Forwarded-For", "X-Tenant-Id", "X-Agent-Token", "If-None-Match", "Cache-Control", "X-Admin-Token"),
        ]
    ),
    st.sampled_from(["agent_only", "internal", "127.0.0.1", "max-age=3600", "*"]),
    max_size=3,
)
_ASKED = st.sampled_from(["kettle", "Kettle", " kettle ", "password"])
_STATES = st.sampled_from(["fine", "open", "half open", "stopped"])


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    route=_ROUTES,
    query=_ASKED,
    fields=_BODIES,
    headers=_HEADERS,
    behaviour=st.sampled_from(sorted(behaviours(""))),
    state=_STATES,
    has_kept=st.booleans(),
    has_public=st.booleans(),
)
def test_no_request_of_customers_reaches_the_inside(
    house: House,
    route: str,
    query: str,
    fields: dict[str, Any],
    headers: dict[str, str],
    behaviour: str,
    state: str,
    has_kept: bool,
    has_public: bool,
) -> None:
    _arrange(house, state, has_public)
    house.public.behave = lambda asked: behaviours(json.dumps(asked.json))[behaviour]
    if has_kept:
        assert INSIDE in json.dumps(house.house.ask(query).json), "the agent sees it, and it is kept"
    before = len(house.inside.asked)
    body = {"query": query} | {name: _named(house, value) for name, value in fields.items()}
    token = house.house.widget if "widget" in route else house.house.assistant
    own = {"Authorization": f"Bearer {token}", "Origin": ORIGIN}
    seen = house.house.deployment.request("POST", route, headers | own, body)
    assert len(house.inside.asked) == before
    assert INSIDE not in json.dumps([seen.json, seen.headers])
    if seen.status == 200:
        assert set(seen.json) == {"results"}
        assert all(set(one) == FIVE for one in seen.json["results"])
    if set(fields) - {"locale", "localeFallback", "limit", "conversationId", "query"}:
        assert seen.status in (403, 422), "a field that the request does not have is refused"


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    days=st.integers(-400, 4_000),
    lane=st.sampled_from(["main", "widget"]),
    query=_ASKED,
    conversation=st.none() | st.text(max_size=5),
    state=_STATES,
)
def test_no_clock_does_either(
    house: House, days: int, lane: Any, query: str, conversation: str | None, state: str
) -> None:
    _arrange(house, state, True)
    house.public.behave = answer(result("d1"))
    before = len(house.inside.asked)
    question = Question(query, conversation_id=conversation)
    now = datetime.now(UTC) + timedelta(days=days)
    found = public_search.search(house.house.deployment.outside, house.house.tenant.id, lane, question, lambda: now)
    assert len(house.inside.asked) == before
    assert INSIDE not in json.dumps(found)
    assert all(set(one) == FIVE for one in found)
    assert all("context" not in asked.json for asked in house.public.questions)


def test_the_role_of_that_way_cannot_see_the_inside_whatever_is_asked_of_the_database(house: House) -> None:
    from chalicelib.storage.reach import Within

    tenant = house.house.tenant.id
    with Within(house.house.deployment.outside.database, "public").transaction(tenant) as tx:
        assert [str(row["id"]) for row in tx.rows("providers.list", tenant_id=tenant)] == [house.ids["public"]]
        assert tx.row("providers.get", id=house.ids["inside"]) is None
        assert tx.run("registration.warn", id=house.ids["inside"], count=1, now=datetime.now(UTC)) == 0
    for denied in ("select from knowledge_cache", "select from knowledge_consumers", "select from api_tokens"):
        with (
            pytest.raises(Exception, match="permission denied"),
            Within(house.house.deployment.outside.database, "public").transaction(tenant) as tx,
        ):
            tx._connection.execute(denied)


def _named(house: House, value: Any) -> Any:
    """Where a value names the inside, its registration's own id."""
    return house.ids["inside"] if value == "INSIDE" else value


def _arrange(house: House, state: str, has_public: bool) -> None:
    """The circuits of both providers in a state, and whether there is one for customers at all."""
    until = {"open": "now() + interval '1 hour'", "half open": "now() - interval '1 s'"}.get(state, "null")
    with tables.superuser(house.house.deployment) as connection:
        connection.execute("delete from knowledge_cache")
        connection.execute("delete from knowledge_circuits")
        connection.execute(
            "insert into knowledge_circuits (provider_id, lane, tenant_id, open_until, stopped) "
            f"select id, lane, tenant_id, {until}, %s from knowledge_providers "
            "cross join unnest(array['main', 'widget']) as lane where exposure_profile = 'customer_safe'",
            (state == "stopped",),
        )
        word = "active" if has_public else "disabled"
        connection.execute(
            "update knowledge_providers "
            "set status = case exposure_profile when 'customer_safe' then %s else 'active' end",
            (word,),
        )
