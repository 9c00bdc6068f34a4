"""Fixtures that every test may ask for. The server starts when the first test needs it."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from tests import postgres, scratch


def pytest_configure(config: pytest.Config) -> None:
    for name in [n for n in os.environ if n.startswith(("AWS_", "LARDER_", "KB_", "DATABASE_"))]:
        if name != postgres._DATA:
            del os.environ[name]
    if not hasattr(config, "workerinput"):
        scratch.begin()
        postgres.agree_on_data_folder()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        postgres.stop_server()


@pytest.fixture(scope="session")
def server() -> postgres.TestServer:
    return postgres.TestServer()


@pytest.fixture
def database(server: postgres.TestServer) -> Iterator[str]:
    """The name of this test's own migrated database."""
    name = server.create()
    yield name
    server.drop(name)


def pytest_collection_finish() -> None:
    """What was collected stays to the end: the garbage collector need not look at thousands of tests time and again."""
    gc.collect()
    gc.freeze()
