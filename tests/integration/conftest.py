"""Services and workers on a real database, without HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cases import provider_deadline
from tests.postgres import TestServer
from tests.tenants import Deployment


@pytest.fixture
def deployment(server: TestServer, database: str) -> Iterator[Deployment]:
    deployment = Deployment(server, database)
    yield deployment
    deployment.close()


@pytest.fixture
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases of providers that don't answer wait for a tenth of the deadline."""
    monkeypatch.setattr(provider_deadline, "SCALE", 0.1)
