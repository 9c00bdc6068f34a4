"""The app in process, on a real database. Every answer to every test is held to the OpenAPI document."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib import bootstrap
from tests.api.contract import assert_documented
from tests.api.crowd import Crowd
from tests.postgres import TestServer
from tests.tenants import Answer, Deployment, Tenant, deployed

_numbers = itertools.count()


@pytest.fixture(autouse=True)
def _documented(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Deployment.request

    def checked(self: Deployment, method: str, path: str, *args: Any, **more: Any) -> Answer:
        answer = request(self, method, path, *args, **more)
        assert_documented(method, path, answer)
        return answer

    monkeypatch.setattr(Deployment, "request", checked)


@pytest.fixture
def deployment(server: TestServer, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    deployment = Deployment(server, database)
    monkeypatch.setattr(bootstrap, "outside", lambda: deployment.outside)
    yield deployment
    deployment.close()


@pytest.fixture
def acme(deployment: Deployment) -> Tenant:
    return deployment.tenant("acme")


@pytest.fixture
def other(deployment: Deployment) -> Tenant:
    return deployment.tenant("other")


@pytest.fixture(scope="module")
def shared(server: TestServer) -> Iterator[Deployment]:
    """One deployment for all tests of a module, which keep out of each other's way by tenants of their own."""
    with deployed(server) as deployment, pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: deployment.outside)
        yield deployment


@pytest.fixture
def ours(shared: Deployment) -> Tenant:
    """A tenant of this test's own in the shared deployment."""
    return shared.tenant(f"ours-{next(_numbers)}")


@pytest.fixture
def theirs(shared: Deployment) -> Tenant:
    """Another tenant in the shared deployment."""
    return shared.tenant(f"theirs-{next(_numbers)}")


@pytest.fixture
def crowd(shared: Deployment, monkeypatch: pytest.MonkeyPatch) -> Crowd:
    """Many callers at once in the shared deployment, each on a connection of its own."""
    return Crowd(shared, monkeypatch)
