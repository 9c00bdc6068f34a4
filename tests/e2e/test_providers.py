"""Larder's own provider on the local cloud: registered by the public route, asked over HTTP, held to the suite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from chalicelib.knowledge.conformance import suite
from chalicelib.knowledge.conformance.checks import CHECKS
from chalicelib.knowledge.conformance.subject import Subject
from tests.e2e.cloud import PrivateCloud, Tenant
from tests.e2e.relay import Relay
from tests.e2e.site import Site

PAGE = "The kettle whistles at noon, every day of the week, and twice on Sundays."
SECOND_PAGE = "The kettle of the branch is descaled on the first Monday of the month."


@dataclass
class Own:
    """A tenant with both registrations, and a page that customers may reach."""

    cloud: PrivateCloud
    tenant: Tenant
    registrations: dict[str, dict[str, Any]]

    def subject(self, profile: str) -> Subject:
        one = self.registrations[profile]
        # How many others a nonce outlives is tests/conformance's to try, on the same table by the same code.
        return Subject(one["base_url"], one["secret"], profile=profile, query="kettle", budget=30.0, nonces=20)

    def ask(self, token: str, path: str = "/v1/knowledge/search", **headers: str) -> Any:
        bearer = {"Authorization": f"Bearer {token}", **headers}
        answer = requests.post(self.cloud.url + path, json={"query": "kettle"}, headers=bearer, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def own(shared_cloud: PrivateCloud, relay: Relay, shared_site: Site) -> Own:
    shared_cloud.reset()
    shared_site.clear()
    tenant = shared_cloud.tenant()
    for path, text in (("/kettles", PAGE), ("/branch", SECOND_PAGE)):  # two, so that a limit can be judged
        source = shared_cloud.learn(tenant, shared_site.publish(path, text))
        published = tenant.post(f"/v1/kb/sources/{source}/policy", {"published": True})
        assert published.status_code == 200, published.text
    registrations = {}
    for profile in ("customer_safe", "agent_only"):
        address = f"http://127.0.0.1:{relay.port}{urlsplit(shared_cloud.url).path}/v1/provider/{{registration}}"
        body = {"name": profile, "base_url": address, "exposure_profile": profile, "module": "larder"}
        made = tenant.post("/v1/knowledge/providers", body)
        assert made.status_code == 201, made.text
        registrations[profile] = made.json()
    return Own(shared_cloud, tenant, registrations)


@pytest.mark.parametrize("profile", ["customer_safe", "agent_only"])
def test_the_own_provider_keeps_the_contract(own: Own, profile: str) -> None:
    found = list(suite.run(own.subject(profile)))
    assert suite.verdict(found) == "passed", [(one.check, one.why) for one in found if one.why]
    judged = {one.check for one in found if one.status == "passed"}
    unfound = set() if profile == "customer_safe" else {"labels", "text_only", "scoring", "limit"}
    assert set(CHECKS) - judged <= {"locale"} | unfound  # it declares no locale


def test_everybody_gets_what_their_token_may_reach(own: Own) -> None:
    agent = own.tenant.post("/v1/agents", {"name": "Ada"}).json()["token"]
    widget = own.tenant.post("/v1/widgets", {"name": "page", "origins": ["https://www.example.com"]}).json()["token"]
    seen = own.ask(agent)
    assert [one["status"] for one in seen["providers"]] == ["ok", "ok"]
    assert any("kettle whistles" in one["snippet"] for one in seen["results"])
    page = own.ask(widget, "/v1/widget/search", Origin="https://www.example.com")
    assert [set(one) for one in page["results"]] == [{"title", "snippet", "url", "locale", "localeFallback"}] * 2


def test_a_page_gets_its_preflight_through_the_gateway(own: Own) -> None:
    own.tenant.post("/v1/widgets", {"name": "second", "origins": ["https://shop.example.com"]})
    headers = {"Origin": "https://shop.example.com", "Access-Control-Request-Method": "POST"}
    answer = requests.options(f"{own.cloud.url}/v1/widget/search", headers=headers, timeout=60)
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, "https://shop.example.com")


def test_a_capability_is_granted_through_the_gateway(own: Own) -> None:
    assistant = own.tenant.post("/v1/assistants", {"name": "desk"}).json()
    for word in ("knowledge:read_public", "knowledge%3Aread_public"):
        granted = own.tenant.post(f"/v1/assistants/{assistant['id']}/capabilities/{word}")
        assert (granted.status_code, granted.json()["capabilities"]) == (200, ["knowledge:read_public"])


def test_the_local_cloud_may_ask_itself_at_its_own_port(own: Own) -> None:
    address = f"{own.cloud.url}/v1/provider/{{registration}}"
    body = {"name": "own port", "base_url": address, "exposure_profile": "agent_only", "module": "larder"}
    made = own.tenant.post("/v1/knowledge/providers", body)
    assert made.status_code == 201, made.text
    path = f"/v1/knowledge/providers/{made.json()['id']}"
    refreshed = own.tenant.post(f"{path}/refresh-capabilities").json()
    own.tenant.request("DELETE", path)
    assert (refreshed["status"], refreshed["capabilities"]) == ("ok", ["scoring"])


def test_no_secret_signature_or_query_is_in_the_log(own: Own) -> None:
    told = own.cloud.log("APIHandler")
    assert "/v1/provider/{registration}/retrieve" in told
    hidden = ["kettle", "X-Larder-Signature", "v1=", *(one["secret"] for one in own.registrations.values())]
    assert not [word for word in hidden if word in told]
