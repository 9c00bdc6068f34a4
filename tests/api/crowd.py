"""Many callers at the same instant, each in a thread with a connection of its own, as replicas have."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from chalice.local import LocalChalice

from app import Larder, app
from chalicelib import bootstrap
from chalicelib.services.outside import Outside
from tests.tenants import Deployment

T = TypeVar("T")


class _ThreadedLarder(LocalChalice, Larder):
    """The app with a current request a thread. In Lambda a process has one request at a time."""


class Crowd:
    """Callers of one deployment."""

    def __init__(self, deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
        self._deployment = deployment
        self._here = threading.local()
        monkeypatch.setattr(bootstrap, "outside", self._outside)
        monkeypatch.setattr(app, "__class__", _ThreadedLarder)

    def rush(self, call: Callable[[int], T], callers: int = 16) -> list[T]:
        """Everybody calls at the same instant; the results, in order of the callers' numbers from 0."""
        start = threading.Barrier(callers, timeout=30)

        def run(number: int) -> T:
            self._here.outside = self._deployment.build("larder_app")
            try:
                with self._here.outside.database.transaction():
                    pass  # connected before the start, so that all calls meet
                start.wait()
                return call(number)
            finally:
                self._here.outside.database.close()

        environment = os.environ
        try:
            with ThreadPoolExecutor(callers) as pool:
                return list(pool.map(run, range(callers)))
        finally:
            # The test client swaps it during a call, which threads do to each other.
            os.environ = environment  # noqa: B003

    def _outside(self) -> Outside:
        mine: Outside = getattr(self._here, "outside", self._deployment.outside)
        return mine
