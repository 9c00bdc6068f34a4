"""What holds for every route. The routes come from the registry, so a new one is held to it from its first day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from chalicelib.api.resource import Route
from chalicelib.services import scheduling, tokens
from tests.api import contract, tables
from tests.api.furniture import furnish
from tests.tenants import Answer, Deployment, Tenant

CLOSED = contract.tenant_routes()
OPEN = [route for route in contract.routes() if route.access == "open"]
ROUTES = [*CLOSED, *OPEN]
WRITES = [route for route in CLOSED if route.access == "write"]
WITH_IDS = [route for route in CLOSED if contract.ids_in(route)]


def each(routes: list[Route]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("route", routes, ids=contract.title)


@dataclass
class Furnished:
    """Tenants that no test changes: each shows that its request was refused."""

    ours: Tenant
    ids: dict[str, UUID]
    theirs: Tenant
    their_ids: dict[str, UUID]
    revoked: Tenant


@pytest.fixture(scope="module")
def furnished(shared: Deployment) -> Furnished:
    ours, theirs, revoked = (shared.tenant(name) for name in ("furnished", "other furnished", "revoked"))
    with tables.superuser(shared) as connection:
        connection.execute("update api_tokens set revoked_at = now() where tenant_id = %s", (revoked.id,))
    return Furnished(ours.as_operator(), furnish(ours), theirs, furnish(theirs), revoked)


@pytest.fixture(autouse=True)
def _ticked(shared: Deployment) -> None:
    """The minute's tick has just been, without which ``/readyz`` says 503."""
    scheduling.tick(shared.worker, now=datetime.now(UTC))


def ask(route: Route, deployment: Deployment, headers: dict[str, str], ids: dict[str, UUID] | None = None) -> Answer:
    """A request that is right in every way but its headers and, perhaps, its ids."""
    unknown = {name: uuid4() for name in contract.ids_in(route)}
    path = route.path.format(**{**contract.WORDS, **unknown, **(ids or {})}) + contract.query_for(route)
    return deployment.request(route.method, path, headers, contract.body_for(route))


def test_every_id_that_a_path_asks_for_is_at_hand(furnished: Furnished) -> None:
    asked = {name for route in ROUTES for name in contract.ids_in(route)}
    assert asked <= set(furnished.ids), "make one in tests/api/furniture.py"


@each(CLOSED)
def test_without_a_valid_api_token_there_is_401(route: Route, shared: Deployment, furnished: Furnished) -> None:
    ours = furnished.ours
    bearers = ["", "Bearer", "Bearer ", "Bearer nonsense", f"Basic {ours.api_token}", ours.api_token]
    bearers += [f"Bearer {ours.admin_token}", f"Bearer {ours.api_token}x", f"Bearer {ours.api_token.upper()}"]
    bearers += [f"Bearer {furnished.revoked.api_token}"]
    before = tables.dump(shared)
    for bearer in bearers:
        answer = ask(route, shared, {"Authorization": bearer, "X-Admin-Token": ours.admin_token}, furnished.ids)
        assert (answer.status, answer.json["code"]) == (401, "unauthorized"), bearer
        assert answer.headers["www-authenticate"] == "Bearer"
    assert ask(route, shared, {}).status == 401
    assert tables.dump(shared) == before


@each(WRITES)
def test_what_needs_an_admin_token_needs_a_valid_one_of_the_same_tenant(
    route: Route, shared: Deployment, furnished: Furnished
) -> None:
    ours = furnished.ours
    bearer = {"Authorization": f"Bearer {ours.api_token}"}
    others = [furnished.theirs.admin_token, furnished.revoked.admin_token]
    wrong = [{"X-Admin-Token": token} for token in ["", "nonsense", ours.api_token, f"{ours.admin_token}x", *others]]
    before = tables.dump(shared)
    for admin in [{}, *wrong]:
        answer = ask(route, shared, {**bearer, **admin}, furnished.ids)
        assert (answer.status, answer.json["code"]) == (403, "admin_token_required")
    assert tables.dump(shared) == before


@each([r for r in CLOSED if r.access == "read"])
def test_a_read_needs_no_admin_token(route: Route, shared: Deployment, furnished: Furnished) -> None:
    bearer = {"Authorization": f"bearer {furnished.ours.api_token}"}
    assert ask(route, shared, bearer, furnished.ids).status == 200


@each(WITH_IDS)
def test_what_belongs_to_another_tenant_is_not_there(route: Route, shared: Deployment, furnished: Furnished) -> None:
    headers = furnished.ours._headers()
    before = tables.dump(shared)
    foreign = ask(route, shared, headers, furnished.their_ids)
    assert (foreign.status, foreign.json["code"]) == (404, "not_found")
    assert foreign.json == ask(route, shared, headers).json, "it looks like an id that nobody has"
    assert tables.dump(shared) == before


@each(WITH_IDS)
def test_an_id_that_is_no_uuid_is_refused_by_name(route: Route, shared: Deployment, furnished: Furnished) -> None:
    (name,) = contract.ids_in(route)
    uuid = str(furnished.ids[name])
    wrong = ["x", "1", "%00", "%7B%7D", "%ED%A0%80", f"{uuid[:-1]}g", f"{{{uuid}}}", uuid.replace("-", ""), "a" * 2000]
    for ident in [*wrong, f"urn:uuid:{uuid}", f"{uuid}%0A"]:
        path = route.path.replace(f"{{{name}}}", ident)
        answer = shared.request(route.method, path, furnished.ours._headers(), contract.body_for(route))
        assert (answer.status, answer.json["field"], answer.json["rule"]) == (422, name, "must be a UUID"), ident


@each(ROUTES)
def test_an_unknown_query_parameter_is_refused(route: Route, shared: Deployment, furnished: Furnished) -> None:
    path = route.path.format(**furnished.ids)
    headers = furnished.ours._headers()
    before = tables.dump(shared)
    for query in ("colour=blue", "colour=", "%00=x", "tenant_id=x"):
        answer = shared.request(route.method, f"{path}?{query}", headers, contract.body_for(route))
        assert (answer.status, answer.json["code"]) == (422, "invalid_field")
        assert "no such field" in answer.json["rule"]
    assert tables.dump(shared) == before


@each([r for r in ROUTES if r.method == "POST"])
def test_an_unknown_field_and_a_body_that_is_no_object_are_refused(
    route: Route, shared: Deployment, furnished: Furnished
) -> None:
    path = route.path.format(**furnished.ids)
    headers = furnished.ours._headers()
    before = tables.dump(shared)
    answer = shared.request("POST", path, headers, {**(contract.body_for(route) or {}), "colour": "blue"})
    assert (answer.status, answer.json["field"]) == (422, "colour")
    for raw in (b"[]", b"null", b'"x"', b"1", b"true", b"{", b"uri=https%3A%2F%2Fexample.com"):
        answer = shared.request("POST", path, headers, raw=raw)
        assert (answer.status, answer.json["code"], answer.json["field"]) == (400, "invalid_request", "body"), raw
    assert tables.dump(shared) == before


@pytest.mark.parametrize("path", sorted({route.path for route in ROUTES}))
def test_a_method_that_a_path_does_not_have_is_refused_with_those_it_has(path: str, furnished: Furnished) -> None:
    own = {route.method for route in ROUTES if route.path == path}
    headers = furnished.ours._headers()
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - own:
        answer = furnished.ours.deployment.request(method, path.format(**furnished.ids), headers)
        assert (answer.status, answer.json["code"]) == (405, "method_not_allowed")
        assert set(answer.headers["allow"].split(", ")) == own


@each(OPEN)
def test_an_open_route_asks_for_no_token(route: Route, shared: Deployment) -> None:
    assert ask(route, shared, {}).status == 200
    assert ask(route, shared, {"Authorization": "Bearer nonsense"}).status == 200


def test_no_route_reads_a_tenant_from_the_request(ours: Tenant, theirs: Tenant) -> None:
    for path in (f"/v1/kb/sources?tenant_id={theirs.id}", f"/v1/kb/sources?tenant={theirs.name}"):
        assert ours.get(path).status == 422
    assert ours.post("/v1/kb/sources", {"uri": "https://example.com", "tenant_id": str(theirs.id)}).status == 422
    theirs.add("https://example.com/secret")
    assert ours.get("/v1/kb/sources", **{"X-Tenant-Id": str(theirs.id)}).json["items"] == []


def test_tokens_are_random_and_stored_as_their_hash_alone(shared: Deployment, ours: Tenant) -> None:
    stored = "\n".join("\n".join(rows) for rows in tables.dump(shared).values())
    for token in (ours.api_token, ours.admin_token):
        assert token not in stored
        assert tokens._hash(token).hex() in stored
        assert len(token.split("_", 2)[2]) >= 43, "256 bits as base64url"


@pytest.fixture
def asker(route: Route, request: pytest.FixtureRequest) -> tuple[Tenant, dict[str, UUID]]:
    """A tenant with all that it has; one of this test's own for a route that may change it."""
    if route.method == "GET":
        furnished: Furnished = request.getfixturevalue("furnished")
        return furnished.ours, furnished.ids
    ours: Tenant = request.getfixturevalue("ours")
    return ours.as_operator(), furnish(ours)


# Last, since many of these leave a tenant with all that it has, which every look at all tables would read.
@each(ROUTES)
def test_a_right_request_gets_a_documented_answer(
    route: Route, shared: Deployment, asker: tuple[Tenant, dict[str, UUID]]
) -> None:
    tenant, ids = asker
    answer = ask(route, shared, tenant._headers(), ids)
    assert 200 <= answer.status < 300, answer
    assert answer.headers["cache-control"] == "private, no-store"
    assert ("ratelimit" in answer.headers) == ("ratelimit-policy" in answer.headers)
    proposed = isinstance(answer.json, dict) and answer.json.get("proposed")
    if not proposed:  # a look for near-duplicates counts if it finds any
        assert ("ratelimit" in answer.headers) == contract.mutates(route)
