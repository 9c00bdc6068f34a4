"""Whatever is asked of whatever route: nothing of it is in the log."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from chalicelib.api.resource import Route
from chalicelib.telemetry import logger
from tests.api import contract
from tests.api.furniture import furnish, write_version
from tests.security.ear import MARK, PUBLIC, TEXT, Ear, listening, marked_deployment, marked_tenant  # noqa: F401 - fixtures
from tests.tenants import Deployment, Tenant


def test_a_mark_that_is_logged_or_printed_is_heard(ear: Ear) -> None:
    logger.debug("told", query="zqloggedqz")
    print("zqprintedqz")
    assert set(MARK.findall(ear.heard())) == {"zqloggedqz", "zqprintedqz"}


Furnished = tuple[Tenant, dict[str, Any]]


@pytest.fixture(scope="module")
def standing(shared: Deployment) -> Furnished:
    """A tenant with one of everything, for the routes that change none of it."""
    tenant = shared.tenant("zqstandingqz")
    return tenant, furnish(tenant)


@pytest.fixture
def furnished(route: Route, standing: Furnished, request: pytest.FixtureRequest, ear: Ear) -> Furnished:
    """A tenant with one of everything, which is made while the ear hears if the route may change it."""
    if route.method in ("GET", "OPTIONS"):
        return standing
    ours: Tenant = request.getfixturevalue("ours")
    return ours, furnish(ours)


@pytest.mark.parametrize("route", contract.routes(), ids=contract.title)
def test_nothing_of_a_request_is_logged(route: Route, shared: Deployment, furnished: Furnished, ear: Ear) -> None:
    ours, ids = furnished
    path = route.path.format(**{**ids, "registration": ids["provider_id"]})
    marked_path = re.sub(r"{\w+}", "zqpathqz", route.path)
    body = contract.body_for(route)
    raw = b'{"zqrawqz": "zqrawqz'
    for headers in (ours._headers(), marked_headers(), ours._headers() | marked_headers(but="X-Admin-Token")):
        more = MORE | headers
        shared.request(route.method, f"{marked_path}?zqqueryqz=zqqueryqz", more, body)
        shared.request(route.method, f"{path}?limit=zqqueryqz&cursor=zqqueryqz&at=zqqueryqz", more, body)
        shared.request(route.method, path, more, raw=raw)
        shared.request(route.method, path, more, {**(body or {}), "zqfieldqz": "zqvalueqz"})
        shared.request(route.method, path + contract.query_for(route), more, marked(body))
        shared.request(route.method, path + contract.query_for(route), more, body)
    ear.heard_nothing_of(ours.api_token, ours.admin_token, but=route.path)


MORE = {
    "If-Match": '"zqifmatchqz"',
    "Idempotency-Key": "zqidempotencyqz",
    "Cookie": "session=zqcookieqz",
    "Origin": "https://zqoriginqz.example.com",
    "User-Agent": "zqagentqz",
    "X-Forwarded-For": PUBLIC,
    "X-Larder-Request": "zqrequestqz",
    "X-Larder-Signature": "t=1,v1=zqsignatureqz",
    "X-Larder-Timestamp": "zqtimestampqz",
    "X-Larder-Nonce": "zqnonceqz",
}


def marked_headers(but: str = "") -> dict[str, str]:
    """Tokens that are none, without the one of this name."""
    wrong = {"Authorization": "Bearer larder_zqtokenqz", "X-Admin-Token": "larder_zqadminqz"}
    return {name: value for name, value in wrong.items() if name != but}


def marked(value: Any) -> Any:
    """The same body with a mark in every text."""
    if isinstance(value, dict):
        return {name: marked(one) for name, one in value.items()}
    if isinstance(value, list):
        return [marked(one) for one in value]
    return f"{value} zqbodyqz" if isinstance(value, str) else value


def test_nothing_of_a_reading_is_logged(ours: Tenant, ear: Ear) -> None:
    source = ours.add("https://zqhostqz.example.com/zqurlqz", name="zqnameqz")["id"]
    begin = datetime.now(UTC) - timedelta(days=1)
    write_version(ours, UUID(source), 1, TEXT, begin, None)
    query = "when does the kettle of zqquestionqz whistle"
    for path, body in (("kb/search", {"query": query}), ("context-pack", {"query": query, "max_chars": 2000})):
        found = ours.post(f"/v1/{path}", body)
        assert (found.status, "zqpagetextqz" in str(found.json)) == (200, True), "the marks did come back"
    assert "zqpagetextqz" in str(ours.get(f"/v1/kb/sources/{source}/text").json)
    note = {"text": f"Remember that {TEXT}", "title": "zqtitleqz"}
    assert ours.post("/v1/memory/notes", note).status == 202
    assert ours.post("/v1/memory/deny-patterns", {"add": ["zqpagetextqz"]}).status == 200
    assert ours.post("/v1/memory/notes", note).json["quarantine_id"]
    ear.heard_nothing_of(but="/v1/memory/notes")
