"""The app in process, on a real database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chalicelib import bootstrap
from tests.postgres import TestServer
from tests.tenants import Deployment, Tenant


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
