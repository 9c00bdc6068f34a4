"""Where the command connects to: the environment says, or else the local cloud's own state file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from chalicelib.client import Client
from chalicelib.client.ops import OpsFunction

STATE = Path(__file__).resolve().parent.parent.parent / ".local" / "state.json"


@dataclass(frozen=True, slots=True)
class Connection:
    """Made once a command; connects when first asked to. ``state`` is the local cloud's file.

    ``notices`` says what was taken for want of a variable: for those who ask for it, and if something goes wrong.
    """

    state: Path
    verbose: bool = False
    notices: list[str] = field(default_factory=list)

    def client(self, *, as_operator: bool = False) -> Client:
        """The API's client. The local cloud's tokens go to the local cloud alone.

        ``as_operator``: there must be an admin token.
        """
        url, token, admin = (_variable(name) for name in ("LARDER_URL", "LARDER_TOKEN", "LARDER_ADMIN_TOKEN"))
        if url is None:
            cloud = self._local_cloud("LARDER_URL")
            url, tenant = str(cloud["url"]), cloud.get("tenant") or {}
            token, admin = token or tenant.get("api_token"), admin or tenant.get("admin_token")
        if as_operator and admin is None:
            raise click.UsageError("--as-operator needs LARDER_ADMIN_TOKEN")
        try:
            return Client(url, token, admin)
        except ValueError as error:
            raise click.UsageError(f"LARDER_URL or a token: {error}") from error

    def ops(self) -> OpsFunction:
        """The operations function."""
        name = _variable("LARDER_OPS_FUNCTION")
        if name is not None:
            return OpsFunction(name, _variable("AWS_ENDPOINT_URL"))
        cloud = self._local_cloud("LARDER_OPS_FUNCTION")
        return OpsFunction(str(cloud["outputs"]["OpsName"]), str(cloud["endpoint_url"]), emulated=True)

    def _local_cloud(self, variable: str) -> dict[str, Any]:
        try:
            cloud: dict[str, Any] = json.loads(self.state.read_text(encoding="utf-8"))
            if cloud["url"] and cloud["outputs"]:
                self._notice(f"{variable} is not set: using the local cloud at {cloud['url']}")
                return cloud
        except (OSError, ValueError, KeyError, TypeError):
            pass
        raise click.UsageError(f"{variable} is not set, and no local cloud is up (`make up` starts one)")

    def _notice(self, text: str) -> None:
        if self.verbose:
            click.echo(text, err=True)
        else:
            self.notices.append(text)


def _variable(name: str) -> str | None:
    """An environment variable; one that is empty is not set."""
    return os.environ.get(name, "").strip() or None
