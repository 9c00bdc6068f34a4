"""What the demo plays on: the example site, a local cloud that may fetch from it, and one as it is delivered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from chalicelib.client import Client
from examples.serve import ExampleSite
from infra import local
from infra.cloud import Cloud, load

STATE = local.STATE.with_name("demo.json")
STRICT_STATE = local.STATE.with_name("demo-strict.json")
DEFAULT_PORTS = "80,443,8080,8443"
MUTATIONS_PER_HOUR = "1000"

TRAPS = {
    "/moved-to-metadata": "http://169.254.169.254/latest/meta-data/",
    "/moved-to-file": "file:///etc/passwd",
    "/moved-to-user-name": "http://somebody@127.0.0.1/",
}
"""Paths of the site that lead where the guard must not follow."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Stage:
    """``client`` is a tenant of its own on the cloud that may fetch from ``site``; ``strict`` one on the other."""

    site: ExampleSite
    client: Client
    strict: Client


@contextmanager
def set_stage(say: Say, cloud: Path = local.STATE) -> Iterator[Stage]:
    """Everything up, and down again afterwards, whatever happens; a cloud that was up already stays up.

    The one that ``cloud`` describes is used if it may fetch from 127.0.0.1; else one is started beside it, which
    doesn't touch it.
    """
    with ExitStack() as stack:
        running = _usable(load(cloud))
        site = stack.enter_context(_site(_ports(running.settings)) if running else ExampleSite(redirects=TRAPS))
        say(f"the example site is at {site.url}")
        if running:
            say(f"using the local cloud that is up already, with a tenant for this demo: {running.url}")
            client = stack.enter_context(_tenant(running))
        else:
            client = stack.enter_context(_own_cloud(STATE, _settings(site.port), say))
        say("a second cloud as it is delivered, to show what the guard refuses by default")
        yield Stage(site, client, stack.enter_context(_own_cloud(STRICT_STATE, {}, say, tick=False)))


def _settings(port: int) -> Mapping[str, str]:
    return {
        "KB_ALLOW_PRIVATE_NETWORKS": "true",
        "KB_ALLOWED_PORTS": f"{DEFAULT_PORTS},{port}",
        "KB_MUTATIONS_PER_HOUR": MUTATIONS_PER_HOUR,
    }


def _usable(found: Cloud | None) -> Cloud | None:
    """The cloud, if it runs and could fetch from a site on 127.0.0.1 at a port that is free."""
    if found is None or not found.alive() or found.settings.get("KB_ALLOW_PRIVATE_NETWORKS", "").lower() != "true":
        return None
    with suppress(OSError), _site(_ports(found.settings)):
        return found
    return None


def _ports(settings: Mapping[str, str]) -> list[int]:
    return [int(port) for port in settings.get("KB_ALLOWED_PORTS", DEFAULT_PORTS).split(",") if int(port) > 1023]


def _site(ports: list[int]) -> ExampleSite:
    """The site at the first of these ports that is free. Raises OSError."""
    for port in ports:
        with suppress(OSError):
            return ExampleSite(port=port, redirects=TRAPS)
    raise OSError("no port that may be fetched from is free")


@contextmanager
def _own_cloud(state: Path, settings: Mapping[str, str], say: Say, *, tick: bool = True) -> Iterator[Client]:
    """A cloud with a tenant, from entering the context to leaving it."""
    found = load(state)
    if found is not None and found.alive():
        how = f"python -m infra.local down --state {state}"
        raise RuntimeError(f"another demo runs, or one was killed: `{how}` ends it")
    for name, value in settings.items():
        say(f"for this demo alone: {name}={value}")
    try:
        cloud = local.up(local.Wish(settings=settings, tick=tick), state, say)
        yield Client(cloud.url, cloud.tenant["api_token"], cloud.tenant["admin_token"])
    finally:
        if state.exists():  # a start that failed has cleared itself away
            local.down(state, say)


@contextmanager
def _tenant(cloud: Cloud) -> Iterator[Client]:
    """A tenant of its own on somebody else's cloud, removed afterwards with all it has."""
    made = cloud.deployment.ops("tenant_create", name=f"demo-{datetime.now(UTC):%Y%m%dT%H%M%S}", plan="team")
    try:
        yield Client(cloud.url, made["api_token"], made["admin_token"])
    finally:
        cloud.deployment.ops("tenant_delete", name=made["name"])
