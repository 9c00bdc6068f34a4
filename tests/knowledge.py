"""A tenant with knowledge providers, through the public routes, and those who may ask them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from app import app
from chalicelib import bootstrap
from chalicelib.services import consumers
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from tests.api import live_app
from tests.api.crowd import _ThreadedLarder
from tests.postgres import TestServer
from tests.scripted_provider import ScriptedProvider
from tests.tenants import Answer, Deployment, Tenant

ORIGIN = "https://www.example.com"
READ_PUBLIC = "knowledge:read_public"
EVERY_PORT = frozenset(range(1, 65_536))


def make(server: TestServer, **environment: str) -> Deployment:
    """The app on a database of its own, with the development switch on: providers are on loopback, on any port."""
    made = Deployment(server, server.create(), {"KB_ALLOW_PRIVATE_NETWORKS": "true", **environment})
    made.outside = replace(made.outside, fetch_policy=replace(made.outside.fetch_policy, allowed_ports=EVERY_PORT))
    return made


@contextmanager
def on_a_socket(made: Deployment) -> Iterator[str]:
    """The app's base URL. Each of its threads has a connection and a request of its own, as replicas have.

    What a thread that has ended leaves behind is the next one's, as a replica is there for many requests.
    """
    taken: dict[threading.Thread, Outside] = {}
    taking = threading.Lock()

    def outside() -> Outside:
        this = threading.current_thread()
        with taking:
            if this not in taken:
                ended = next((one for one in taken if not one.is_alive()), None)
                taken[this] = taken.pop(ended) if ended else fresh()
            return taken[this]

    def fresh() -> Outside:
        return replace(made.build("larder_app"), fetch_policy=made.outside.fetch_policy)

    with live_app.serving_app(made) as url, pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "outside", outside)
        patch.setattr(app, "__class__", _ThreadedLarder)
        yield url
    for one in taken.values():
        one.database.close()


@contextmanager
def serving_app(made: Deployment) -> Iterator[None]:
    """While this lasts, the app is that of this deployment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: made.outside)
        yield


@contextmanager
def deployment(server: TestServer, **environment: str) -> Iterator[Deployment]:
    """A deployment, served, and gone afterwards."""
    made = make(server, **environment)
    with serving_app(made):
        yield made
    made.close()
    server.drop(made.database_name)


@dataclass
class Household:
    """One tenant, its agent, its assistant and its widget, by their tokens."""

    tenant: Tenant
    agent: str
    assistant: str
    assistant_id: str
    widget: str

    @property
    def deployment(self) -> Deployment:
        return self.tenant.deployment

    def register(self, provider: ScriptedProvider | str, profile: str = "customer_safe", **more: Any) -> dict[str, Any]:
        """The registration as the route shows it, with its secret."""
        url = provider if isinstance(provider, str) else provider.url
        name = more.pop("name", None) or f"provider {len(self.providers())}"
        made = self.tenant.post(
            "/v1/knowledge/providers", {"name": name, "base_url": url, "exposure_profile": profile, **more}
        )
        assert made.status == 201, made.json
        return dict(made.json)

    def providers(self) -> list[dict[str, Any]]:
        return list(self.tenant.get("/v1/knowledge/providers").json["items"])

    def change(self, provider: dict[str, Any], **changes: Any) -> Answer:
        path = f"/v1/knowledge/providers/{provider['id']}"
        return self.deployment.request("PATCH", path, self.tenant._headers(), changes)

    def remove(self, provider: dict[str, Any]) -> Answer:
        path = f"/v1/knowledge/providers/{provider['id']}"
        return self.deployment.request("DELETE", path, self.tenant._headers())

    def act(self, provider: dict[str, Any], action: str, body: dict[str, Any] | None = None) -> Answer:
        return self.tenant.post(f"/v1/knowledge/providers/{provider['id']}/{action}", body or {})

    def ask(self, query: str = "reset password", *, token: str | None = None, **more: Any) -> Answer:
        """As the agent, or with another token."""
        headers = {"Authorization": f"Bearer {token or self.agent}"}
        return self.deployment.request("POST", "/v1/knowledge/search", headers, {"query": query, **more})

    def visit(self, query: str = "reset password", *, origin: str = ORIGIN, **more: Any) -> Answer:
        """As a visitor of a page that embeds the widget."""
        headers = {"Authorization": f"Bearer {self.widget}", "Origin": origin}
        return self.deployment.request("POST", "/v1/widget/search", headers, {"query": query, **more})


def household(deployment: Deployment, name: str = "acme") -> Household:
    """A new tenant with one of each that may ask, made as its admin; the assistant may read what is public."""
    tenant, now = deployment.tenant(name), datetime.now(UTC)
    admin = Principal(tenant.id, uuid4(), True, admin_token_id=uuid4())
    create = partial(consumers.create, deployment.outside, admin)
    _, agent, _ = create("agent", "Ada", [], now)
    helper, assistant, _ = create("assistant", "Helper", [], now)
    _, widget, _ = create("widget", "Page", [ORIGIN], now)
    consumers.set_capability(deployment.outside, admin, helper.id, READ_PUBLIC, granted=True, now=now)
    return Household(tenant, agent, assistant, str(helper.id), widget)
