"""The whole of it for a case to play on: the real app on a real Postgres, providers on real sockets.

Started when the first case needs it, and ended with the process. A case gets a tenant of its own.
"""

from __future__ import annotations

import atexit
import itertools
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any
from uuid import UUID

from chalicelib.fetching import ssrf
from chalicelib.knowledge.exchange import Post
from chalicelib.knowledge.sealed import seal
from chalicelib.services.outside import Outside
from chalicelib.telemetry import logger
from tests import postgres
from tests.api.furniture import write_version
from tests.api.tables import superuser
from tests.cases import ssrf_certificates as certificates
from tests.cases.ssrf_world import World
from tests.knowledge import Household, household, make
from tests.tenants import Deployment

_numbers = itertools.count()


@cache
def stage() -> Deployment:
    """One deployment for all cases of a run."""
    if postgres._DATA not in os.environ:
        postgres.agree_on_data_folder()
        atexit.register(postgres.stop_server)
    return make(postgres.TestServer(), LARDER_KNOWLEDGE_CACHE_SECONDS="60")


def tenant() -> Household:
    """A tenant of a case's own."""
    return household(stage(), f"case-{next(_numbers)}")


def strict() -> Outside:
    """The deployment without its development switch: https alone, public addresses alone."""
    found = stage().outside
    return replace(found, fetch_policy=replace(found.fetch_policy, allow_private_networks=False))


def through(world: World) -> Post:
    """The guard's POST mode, with the names and addresses of ``world``."""
    return partial(ssrf.post, resolver=world.resolver, connector=world.connector, tls=certificates.trusting())


def publish(house: Household, text: str) -> None:
    """A source of the tenant's own that customers may reach."""
    source = house.tenant.add(f"https://published-{next(_numbers)}.example.com/")
    write_version(house.tenant, UUID(source["id"]), 1, text, datetime.now(UTC) - timedelta(hours=1), None)
    with superuser(house.deployment) as connection:
        connection.execute("update kb_sources set published = true where id = %s", (source["id"],))


def give_secret(house: Household, provider: dict[str, Any], secret: str, previous: str | None = None) -> None:
    """Make a secret that a case knows the registration's, sealed as ever; and one that is good beside it."""
    if previous is not None:
        house.act(provider, "rotate-secret")
        former = seal(house.deployment.outside.keys, UUID(provider["id"]), previous)
        with superuser(house.deployment) as connection:
            connection.execute(
                "update knowledge_providers set previous_secret = %s, previous_secret_key_id = %s, "
                "previous_secret_until = '2100-01-01' where id = %s",
                (former.ciphertext, former.key_id, provider["id"]),
            )
    kept = seal(house.deployment.outside.keys, UUID(provider["id"]), secret)
    with superuser(house.deployment) as connection:
        connection.execute(
            "update knowledge_providers set secret = %s, secret_key_id = %s where id = %s",
            (kept.ciphertext, kept.key_id, provider["id"]),
        )


def rows(house: Household, query: str, *values: Any) -> list[Any]:
    """What the database holds, seen by nobody's rules."""
    with superuser(house.deployment) as connection:
        return connection.execute(query, values).fetchall()


@contextmanager
def log() -> Iterator[list[str]]:
    """Every line that is logged meanwhile, by anybody, at any level."""
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(f"{self.format(record)} {record.__dict__}")

    keep = Keep(logging.DEBUG)
    watched = [logging.getLogger(), logging.getLogger(logger.name)]
    levels = [one.level for one in watched]
    for one in watched:
        one.addHandler(keep)
        one.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        for one, level in zip(watched, levels, strict=True):
            one.removeHandler(keep)
            one.setLevel(level)
