"""Services and workers on a real database, without HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres import TestServer
from tests.tenants import Deployment


@pytest.fixture
def deployment(server: TestServer, database: str) -> Iterator[Deployment]:
    deployment = Deployment(server, database)
    yield deployment
    deployment.close()
