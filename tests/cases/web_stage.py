"""The stage of a case: the run's one server and database, a tenant and a site of the case's own."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any
from unittest import mock

import psycopg
from psycopg.rows import dict_row

from chalicelib import bootstrap
from chalicelib.services.outside import Outside
from chalicelib.storage.connection import Database
from chalicelib.telemetry import logger
from tests import postgres
from tests.cases.web_site import Site
from tests.integration.cycle import Cycle
from tests.tenants import Deployment, HashEmbedder, Tenant

_numbers = itertools.count()


@dataclass
class Stage:
    """What a case is played on. The cycle's clock is the case's."""

    deployment: Deployment
    cycle: Cycle
    tenant: Tenant
    site: Site

    @property
    def now(self) -> datetime:
        """What time it is."""
        return self.cycle.now

    def sql(self, statement: str, *parameters: Any) -> list[dict[str, Any]]:
        """Rows, as the superuser sees them, whom row-level security does not bind."""
        cursor = _connection().execute(statement.encode(), parameters)
        return cursor.fetchall() if cursor.description else []

    @property
    def embedded(self) -> list[str]:
        """Every text that was embedded on this stage."""
        assert isinstance(self.deployment.embedder, HashEmbedder)
        return self.deployment.embedder.embedded

    def worker(self, **more: Any) -> Outside:
        """What a further worker reaches, on a connection of its own."""
        url = self.deployment.server.url(self.deployment.database_name, "larder_worker")
        return replace(self.cycle.outside, **{"database": Database(url), **more})


@lru_cache(maxsize=1)
def _deployment() -> Deployment:
    """The run's database. Whoever is first to agree on the server's folder ends the server."""
    if postgres._DATA not in os.environ:
        postgres.agree_on_data_folder()
        atexit.register(postgres.stop_server)
    server = postgres.TestServer()
    return Deployment(server, server.create())


@lru_cache(maxsize=1)
def _connection() -> psycopg.Connection[dict[str, Any]]:
    deployment = _deployment()
    url = deployment.server.url(deployment.database_name, "postgres")
    return psycopg.connect(url, autocommit=True, row_factory=dict_row)


@contextlib.contextmanager
def stage(now: datetime, plan: str = "team") -> Iterator[Stage]:
    """A fresh tenant on an empty database, for as long as the context lasts."""
    deployment = _deployment()
    _connection().execute("delete from tenants")
    _connection().execute("truncate host_leases, embedding_cache")
    deployment.queue.messages.clear()
    deployment.queue.refuses, deployment.queue.idle = False, True
    deployment.embedder = HashEmbedder()
    deployment.worker = replace(deployment.worker, embedder=deployment.embedder)
    deployment.outside = replace(deployment.outside, embedder=deployment.embedder)
    level = logger.log_level
    logger.setLevel(logging.CRITICAL)
    site = Site()
    cycle = Cycle(deployment, now)
    cycle.outside = replace(deployment.worker, fetch=site.fetch)
    try:
        with mock.patch.object(bootstrap, "outside", return_value=deployment.outside):
            yield Stage(deployment, cycle, deployment.tenant(f"case-{next(_numbers)}", plan), site)
    finally:
        logger.setLevel(level)
        site.close()
