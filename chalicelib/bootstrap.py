"""The composition root: from the environment to everything that services reach. Built once a container, when needed."""

from __future__ import annotations

import os
from functools import cache, partial

from chalicelib.domain import firewall_mode
from chalicelib.embedding.model import LocalModel
from chalicelib.fetching import ssrf
from chalicelib.keys import Keyring
from chalicelib.meter import Meter
from chalicelib.queueing.sqs import SqsQueue
from chalicelib.services.outside import Outside
from chalicelib.settings import Settings, read
from chalicelib.storage.connection import Database
from chalicelib.telemetry import logger
from chalicelib.tracing import Tracer


@cache
def outside() -> Outside:
    """What this container reaches. Raises SettingsError with every fault of the environment.

    A firewall mode that is no mode counts as advisory (spec 2.2) and is told to the operator's log.
    """
    settings = read(os.environ)
    logger.setLevel(settings.log_level)
    for fault in firewall_mode.faults(
        LARDER_FIREWALL_MODE=settings.firewall_mode, LARDER_FIREWALL_FLOOR=settings.firewall_floor
    ):
        logger.warning(fault)
    return build(settings)


def build(settings: Settings) -> Outside:
    """Real parts for ``settings``; nothing is connected or loaded yet."""
    return Outside(
        settings=settings,
        database=Database(settings.database_url, settings.database_tls),
        fetch=partial(_fetch, fetch_policy(settings)),
        fetch_policy=fetch_policy(settings),
        embedder=LocalModel(settings.model_dir, settings.embed_model),
        queue=SqsQueue(settings.queue_url),
        keys=Keyring(settings.keys),
        meter=Meter(settings.service),
        tracer=Tracer(settings.service, enabled=settings.tracing),
    )


def fetch_policy(settings: Settings) -> ssrf.FetchPolicy:
    """What the deployment lets the guard fetch."""
    contact = f" (+{settings.fetch_contact})" if settings.fetch_contact else ""
    return ssrf.FetchPolicy(
        allowed_domains=settings.allowed_domains,
        allowed_ports=settings.allowed_ports,
        allow_private_networks=settings.allow_private_networks,
        user_agent=f"Larder/1.0{contact}",
    )


def _fetch(
    policy: ssrf.FetchPolicy, url: str, *, validators: ssrf.Validators | None, no_cache: bool
) -> ssrf.FetchResult:
    return ssrf.fetch(url, policy, validators=validators, no_cache=no_cache)
