"""The whole system: one local cloud a test process, emptied before each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.cloud import PrivateCloud, private_cloud
from tests.e2e.relay import Relay
from tests.e2e.site import Site, serve

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here is an e2e test. (The hook sees the items of all folders.)"""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def shared_site() -> Iterator[Site]:
    with serve() as site:
        yield site


@pytest.fixture(scope="session")
def relay() -> Iterator[Relay]:
    """A way to the shared cloud's gateway by a port that may be asked."""
    passing = Relay()
    yield passing
    passing.close()


@pytest.fixture(scope="session")
def shared_cloud(shared_site: Site, relay: Relay, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateCloud]:
    settings = {
        "KB_ALLOW_PRIVATE_NETWORKS": "true",  # the site's pages are on loopback
        "KB_ALLOWED_PORTS": f"80,443,{shared_site.port},{relay.port}",
        "KB_MUTATIONS_PER_HOUR": "100000",
    }
    with private_cloud(tmp_path_factory.mktemp("cloud"), settings=settings, tick=False) as cloud:
        gateway = urlsplit(cloud.url)
        relay.target = (str(gateway.hostname), int(gateway.port or 80))
        yield cloud


@pytest.fixture
def site(shared_site: Site) -> Site:
    shared_site.clear()
    return shared_site


@pytest.fixture
def cloud(shared_cloud: PrivateCloud) -> PrivateCloud:
    shared_cloud.reset()
    return shared_cloud
