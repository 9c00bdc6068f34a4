"""Limits as callers meet them: 402 and 429 with what they need to go on, and nothing changed."""

from __future__ import annotations

import json
import re
from uuid import UUID, uuid4

import pytest

from chalicelib.api.resource import Route
from tests.api import contract, tables
from tests.api.crowd import Crowd
from tests.api.furniture import furnish, suggest, update
from tests.tenants import Deployment, Tenant

PROTECTIVE = {
    ("DELETE", "/v1/knowledge/providers/{provider_id}"),
    ("DELETE", "/v1/agents/{agent_id}"),
    ("DELETE", "/v1/assistants/{assistant_id}"),
    ("DELETE", "/v1/assistants/{assistant_id}/capabilities/{capability}"),
    ("DELETE", "/v1/widgets/{widget_id}"),
}
"""What only takes access away, whatever its body."""

LESS: list[tuple[str, str, dict[str, object]]] = [
    ("POST", "/v1/knowledge/providers/{provider_id}/rotate-secret", {"overlap_seconds": 0}),
    ("PATCH", "/v1/knowledge/providers/{provider_id}", {"status": "disabled"}),
    ("PATCH", "/v1/knowledge/providers/{provider_id}", {"send_conversation_id": False}),
    ("PATCH", "/v1/agents/{agent_id}", {"active": False}),
    ("PATCH", "/v1/assistants/{assistant_id}", {"active": False}),
    ("PATCH", "/v1/widgets/{widget_id}", {"active": False}),
]
"""What takes access away with this body, and with another may give it."""

MORE: list[tuple[str, str, dict[str, object]]] = [
    ("POST", "/v1/knowledge/providers/{provider_id}/rotate-secret", {"overlap_seconds": 1}),
    ("PATCH", "/v1/knowledge/providers/{provider_id}", {"status": "disabled", "priority": 1}),
    ("PATCH", "/v1/knowledge/providers/{provider_id}", {"status": "active"}),
    ("PATCH", "/v1/knowledge/providers/{provider_id}", {}),
    ("PATCH", "/v1/agents/{agent_id}", {"active": True}),
    ("PATCH", "/v1/assistants/{assistant_id}", {"active": True}),
    ("PATCH", "/v1/widgets/{widget_id}", {"active": True}),
]

WRITES = [
    route for route in contract.routes() if contract.mutates(route) and (route.method, route.path) not in PROTECTIVE
]


def limit(tenant: Tenant, mutations: int) -> None:
    update(tenant, "tenants", tenant.id, mutations_per_hour=mutations)


def use_up(tenant: Tenant) -> None:
    """As if the hour's last mutation had just been made."""
    with tables.superuser(tenant.deployment) as connection:
        connection.execute("update mutation_windows set used = 100000 where tenant_id = %s", (tenant.id,))


@pytest.fixture(scope="module")
def exhausted(shared: Deployment) -> tuple[Tenant, dict[str, UUID]]:
    tenant = shared.tenant("exhausted").as_operator()
    ids = furnish(tenant)
    use_up(tenant)
    return tenant, ids


@pytest.mark.parametrize("route", WRITES, ids=contract.title)
def test_at_the_limit_every_mutation_is_refused_and_changes_nothing(
    route: Route, exhausted: tuple[Tenant, dict[str, UUID]]
) -> None:
    tenant, ids = exhausted
    before = tables.dump(tenant.deployment)
    path = route.path.format(**ids) + contract.query_for(route)
    answer = tenant.deployment.request(route.method, path, tenant._headers(), contract.body_for(route))
    assert (answer.status, answer.json["code"], answer.json["limit"]) == (429, "rate_limited", 100_000)
    wait = int(answer.headers["retry-after"])
    assert 3500 < wait <= 3600
    assert answer.json["retry_after"] == wait
    assert answer.headers["ratelimit-policy"] == '"mutations";q=100000;w=3600'
    assert answer.headers["ratelimit"] == f'"mutations";r=0;t={wait}'
    assert tables.changed(before, tables.dump(tenant.deployment)) == []


@pytest.mark.parametrize(
    ("method", "path", "body"), [*LESS, *((method, path, None) for method, path in sorted(PROTECTIVE))]
)
def test_at_the_limit_access_can_still_be_taken_away(
    shared: Deployment, method: str, path: str, body: dict[str, object] | None
) -> None:
    tenant = shared.tenant(f"leaking-{uuid4()}")
    ids = furnish(tenant)
    use_up(tenant)
    answer = tenant.deployment.request(method, path.format(**ids), tenant._headers(), body)
    assert answer.status == 200, answer.json
    assert re.fullmatch(r'"mutations";r=0;t=\d+', answer.headers["ratelimit"])
    assert tenant.post("/v1/kb/settings", {}).status == 429


@pytest.mark.parametrize(("method", "path", "body"), MORE)
def test_at_the_limit_nothing_else_comes_along(
    exhausted: tuple[Tenant, dict[str, UUID]], method: str, path: str, body: dict[str, object]
) -> None:
    tenant, ids = exhausted
    assert tenant.deployment.request(method, path.format(**ids), tenant._headers(), body).status == 429


def test_what_takes_access_away_counts_while_there_is_room(ours: Tenant) -> None:
    agent = ours.post("/v1/agents", {"name": "Ada"}).json
    limit(ours, 3)
    off = [
        ours.deployment.request("PATCH", f"/v1/agents/{agent['id']}", ours._headers(), {"active": False})
        for _ in range(4)
    ]
    told = [re.sub(r"t=\d+", "t", one.headers["ratelimit"]) for one in off]
    assert told == [f'"mutations";r={left};t' for left in (1, 0, 0, 0)]


def test_a_trial_costs_nothing(ours: Tenant) -> None:
    ids = furnish(ours)
    use_up(ours)
    tried = ours.post(f"/v1/knowledge/providers/{ids['provider_id']}/test", {})
    assert tried.status == 200
    assert "ratelimit" not in tried.headers


def test_at_the_limit_reads_go_on(exhausted: tuple[Tenant, dict[str, UUID]]) -> None:
    tenant, _ = exhausted
    for route in ("status", "settings", "sources", "suggestions", "events"):
        assert tenant.get(f"/v1/kb/{route}").status == 200


def test_the_remaining_count_falls_by_one_a_mutation(ours: Tenant) -> None:
    limit(ours, 3)
    told = [ours.post("/v1/kb/settings", {}).headers["ratelimit"] for _ in range(3)]
    assert [re.sub(r"t=\d+", "t", header) for header in told] == [f'"mutations";r={left};t' for left in (2, 1, 0)]
    assert ours.post("/v1/kb/settings", {}).status == 429


def test_refused_requests_are_not_counted(ours: Tenant) -> None:
    ours.add("https://a.example")
    suggestion = ours.get("/v1/kb/suggestions").json["items"][0]["id"]
    ours.post(f"/v1/kb/suggestions/{suggestion}/dismiss")
    limit(ours, 3)
    for path, body, status in [
        ("/v1/kb/sources", {"uri": "http://10.0.0.1/"}, 422),
        ("/v1/kb/sources", {"uri": "https://b.example", "refresh_ttl_seconds": 1}, 422),
        (f"/v1/kb/sources/{uuid4()}/queue", {"when": "now"}, 404),
        (f"/v1/kb/suggestions/{suggestion}/approve", None, 409),
        (f"/v1/kb/events/{uuid4()}/cancel", None, 404),
    ] * 3:
        assert ours.post(path, body).status == status
    assert ours.read_only("POST", "/v1/kb/sources", {"uri": "https://b.example"}).status == 403
    assert ours.post("/v1/kb/settings", {}).headers["ratelimit"].startswith('"mutations";r=0;')


def test_a_refused_mutation_tells_what_is_left_too(ours: Tenant) -> None:
    first = ours.add("https://a.example")["id"]
    ours.post(f"/v1/kb/sources/{first}/toggle", {"active": False})
    limit(ours, 10)
    left = '"mutations";r=8;t='
    for status, path, body in [
        (404, f"/v1/kb/sources/{uuid4()}/queue", {"when": "now"}),
        (409, f"/v1/kb/sources/{first}/queue", {"when": "now"}),
        (422, f"/v1/kb/sources/{first}/queue", {"when": "soon"}),
        (422, "/v1/kb/sources", {"uri": "http://10.0.0.1/"}),
        (422, "/v1/kb/sources/no-id/toggle", None),
    ]:
        answer = ours.post(path, body)
        assert answer.status == status
        assert answer.headers["ratelimit-policy"] == '"mutations";q=10;w=3600'
        assert answer.headers["ratelimit"].startswith(left), (status, answer.headers["ratelimit"])
    malformed = ours.post("/v1/kb/sources", raw=b"{")
    assert (malformed.status, malformed.headers["ratelimit"].startswith(left)) == (400, True)
    ours.post("/v1/kb/settings", {"enabled": False})
    assert ours.post("/v1/kb/sources", {"uri": "https://b.example"}).status == 409
    assert ours.post("/v1/kb/sources", {"uri": "https://b.example"}).headers["ratelimit"].startswith('"mutations";r=7;')
    # Whoever is not let in learns nothing of it, and reads don't count.
    assert "ratelimit" not in ours.read_only("POST", "/v1/kb/sources", {"uri": "https://b.example"}).headers
    assert "ratelimit" not in ours.get(f"/v1/kb/sources/{uuid4()}").headers


def test_a_refusal_before_the_first_mutation_and_after_the_window_tells_the_whole_limit(ours: Tenant) -> None:
    limit(ours, 10)
    for started in (None, 3601):
        if started is not None:
            ours.post("/v1/kb/settings", {})
            with tables.superuser(ours.deployment) as connection:
                connection.execute(
                    "update mutation_windows set started_at = now() - make_interval(secs => %s) where tenant_id = %s",
                    (started, ours.id),
                )
        refused = ours.post(f"/v1/kb/sources/{uuid4()}/queue", {"when": "now"})
        assert (refused.status, refused.headers["ratelimit"]) == (404, '"mutations";r=10;t=3600')


def test_sixteen_callers_over_http_get_exactly_what_is_left(crowd: Crowd, ours: Tenant) -> None:
    limit(ours, 10)
    answers = crowd.rush(lambda number: ours.post("/v1/kb/sources", {"uri": f"https://{number}.example"}))
    assert sorted(answer.status for answer in answers) == [201] * 10 + [429] * 6
    assert len(ours.get("/v1/kb/sources").json["items"]) == 10


def test_over_the_plan_there_is_402_with_metric_limit_and_use(crowd: Crowd, shared: Deployment) -> None:
    tenant = shared.tenant("free", plan="free")
    tenant.post("/v1/kb/sources/batch", {"sources": [{"uri": f"https://e.example/{n}"} for n in range(20)]})
    answers = crowd.rush(lambda number: tenant.post("/v1/kb/sources", {"uri": f"https://{number}.example"}))
    assert sorted(answer.status for answer in answers) == [201] * 5 + [402] * 11
    refusal = next(answer.json for answer in answers if answer.status == 402)
    assert refusal["code"] == "quota_exceeded"
    assert (refusal["metric"], refusal["limit"], refusal["used"]) == ("kb_sources", 25, 25)
    assert all(answer.headers["ratelimit"].startswith('"mutations";r=') for answer in answers)
    before = tables.dump(shared)
    assert tenant.post("/v1/kb/sources", {"uri": "https://more.example"}).status == 402
    assert tables.changed(before, tables.dump(shared)) == []
    assert tenant.post("/v1/kb/sources", {"uri": "https://e.example/0", "name": "Known"}).status == 200
    over = tenant.post(
        "/v1/kb/sources/batch", {"sources": [{"uri": "https://x.example"}, {"uri": "https://e.example/1"}]}
    )
    assert [result["status"] for result in over.json["results"]] == [402, 200]
    assert over.json["results"][0]["problem"]["metric"] == "kb_sources"


def test_a_merge_is_held_to_the_plan_like_switching_on(shared: Deployment) -> None:
    tenant = shared.tenant("merging", plan="free")
    duplicate, other = (tenant.add(f"https://{name}.example/")["id"] for name in "ab")
    detail = json.dumps({"uri": "https://b.example/", "other_source_id": other})
    merge = suggest(tenant, UUID(duplicate), "merge", detail)
    approve = f"/v1/kb/suggestions/{merge}/approve"
    for one in (duplicate, other):
        tenant.post(f"/v1/kb/sources/{one}/toggle", {"active": False})
    tenant.post("/v1/kb/sources/batch", {"sources": [{"uri": f"https://e.example/{n}"} for n in range(25)]})
    before = tables.dump(shared)
    refused = tenant.post(approve)
    assert (refused.status, refused.json["metric"], refused.json["used"]) == (402, "kb_sources", 25)
    assert tables.changed(before, tables.dump(shared)) == []
    (in_bulk,) = tenant.post("/v1/kb/suggestions/approve", {"ids": [str(merge)]}).json["results"]
    assert (in_bulk["status"], in_bulk["problem"]["code"]) == (402, "quota_exceeded")
    # A duplicate that is on has a place already, and the other takes it over.
    update(tenant, "kb_sources", duplicate, active=True)
    assert tenant.post(approve).status == 200
    assert tenant.get(f"/v1/kb/sources/{other}").json["active"] is True
    assert tenant.get("/v1/kb/status").json["sources"]["active"] == 26, "one more than the plan, as before"


def test_a_quota_that_cannot_be_read_refuses_and_tells_nothing_of_why(ours: Tenant) -> None:
    with tables.superuser(ours.deployment) as connection:
        connection.execute("revoke select on plans from larder_app")
        try:
            answer = ours.post("/v1/kb/sources", {"uri": "https://a.example"})
        finally:
            connection.execute("grant select on plans to larder_app")
    assert (answer.status, answer.json["code"]) == (500, "internal_error")
    assert "plans" not in str(answer.json)
    assert ours.get("/v1/kb/sources").json["items"] == []


def test_a_batch_that_is_refused_whole_is_not_counted(ours: Tenant) -> None:
    def left() -> int:
        headers = ours.post("/v1/kb/settings", {}).headers["ratelimit"]
        return int(headers.split("r=")[1].split(";")[0])

    before = left()
    refused = ours.post("/v1/kb/sources/batch", {"sources": [{"uri": "file:///etc/passwd"}, {"uri": "x"}]})
    assert [result["status"] for result in refused.json["results"]] == [422, 422]
    assert left() == before - 1, "the question itself was one"
