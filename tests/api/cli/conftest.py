"""The command against the app on a real socket; every test has a tenant of its own."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chalicelib.cli.main import larder
from examples.serve import ExampleSite
from tests.api.live_app import live_deployment, live_site, live_url, work_off  # noqa: F401 - fixtures
from tests.tenants import Deployment, Tenant

_numbers = itertools.count()


@pytest.fixture
def acme(live: Deployment, site: ExampleSite) -> Tenant:
    site.edition = "one"
    return live.tenant(f"acme-{next(_numbers)}")


@dataclass
class Cli:
    """The command, as somebody with these environment variables has it."""

    environment: dict[str, str]
    deployment: Deployment

    def __call__(self, *arguments: str, answer: str | None = None, **environment: str | None) -> Result:
        runner = CliRunner(env={**self.environment, **environment})
        result = runner.invoke(larder, arguments, input=answer, prog_name="larder")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def json(self, *arguments: str) -> Any:
        """What ``--json`` prints, after a success."""
        result = self(*arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def work_off(self) -> list[str]:
        return work_off(self.deployment)


@pytest.fixture
def cli(url: str, acme: Tenant, live: Deployment, tmp_path: Path) -> Cli:
    environment = {
        "LARDER_URL": url,
        "LARDER_TOKEN": acme.api_token,
        "LARDER_ADMIN_TOKEN": acme.admin_token,
        "LARDER_OPS_FUNCTION": "larder-ops",
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "TZ": "UTC",
    }
    return Cli(environment, live)
