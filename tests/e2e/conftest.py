"""The whole system: one local cloud a test process, emptied before each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.cloud import PrivateCloud, private_cloud
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
def shared_cloud(shared_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateCloud]:
    settings = {
        "KB_ALLOW_PRIVATE_NETWORKS": "true",  # the site's pages are on loopback
        "KB_ALLOWED_PORTS": f"80,443,{shared_site.port}",
        "KB_MUTATIONS_PER_HOUR": "100000",
    }
    with private_cloud(tmp_path_factory.mktemp("cloud"), settings=settings, tick=False) as cloud:
        yield cloud


@pytest.fixture
def site(shared_site: Site) -> Site:
    shared_site.clear()
    return shared_site


@pytest.fixture
def cloud(shared_cloud: PrivateCloud) -> PrivateCloud:
    shared_cloud.reset()
    return shared_cloud
