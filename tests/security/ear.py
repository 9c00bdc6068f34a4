"""An ear for everything that is written while a test runs, and a deployment whose every part bears marks.

Whatever callers, pages, providers and operators give has a mark in it, a word that begins with ``zq`` and ends with
``qz``. None may be heard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.cases.provider_stage import log
from tests.knowledge import serving_app
from tests.postgres import TestServer
from tests.tenants import Deployment, Tenant

MARK = re.compile(r"zq\w+?qz", re.I)
PUBLIC, PRIVATE = "9.18.27.36", "10.91.82.73"
TEXT = "The kettle whistles at noon, says zqpagetextqz, every day of the week and twice on Sundays."


@dataclass
class Ear:
    """Hears every line of every logger at every level, and all of standard output and error."""

    lines: list[str]
    capture: pytest.CaptureFixture[str]

    def heard(self) -> str:
        out, err = self.capture.readouterr()
        self.lines.append(out + err)
        return "\n".join(self.lines)

    def heard_nothing_of(self, *more: str, but: str) -> None:
        """No mark and none of ``more``. ``but`` was heard, so there was something to hear."""
        told = self.heard()
        assert but in told
        assert MARK.findall(told) == []
        assert not [word for word in more if word in told]


@pytest.fixture(name="ear")
def listening(capfd: pytest.CaptureFixture[str]) -> Iterator[Ear]:
    with log() as lines:
        yield Ear(lines, capfd)


@pytest.fixture(scope="module", name="shared")
def marked_deployment(server: TestServer) -> Iterator[Deployment]:
    deployment = Deployment(server, server.create(), {"ENABLE_KB_RETRIEVAL": "true"})
    with serving_app(deployment):
        yield deployment
    deployment.close()
    server.drop(deployment.database_name)


@pytest.fixture(name="ours")
def marked_tenant(shared: Deployment, request: pytest.FixtureRequest) -> Tenant:
    return shared.tenant(f"zq{request.node.name}qz"[:90])
