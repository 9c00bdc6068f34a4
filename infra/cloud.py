"""The local cloud as a thing to hold, write down and find again: PostgreSQL, the emulator and a stack in it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from infra import postgres
from infra.account import Account
from infra.deploy import Deployment
from infra.postgres import Postgres
from infra.process import Process, end_all_within

DATA = "postgres"
"""The folder of PostgreSQL's data, within the cloud's."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """What runs, and where. ``outputs`` is empty until the stack is deployed; ``tenant`` until one is created.

    ``folder`` holds every file of it. Its location is secret to nobody, ``tenant`` holds tokens: write it with save().
    """

    folder: str
    settings: dict[str, str] = field(default_factory=dict)
    postgres: Postgres | None = None
    emulator: Process | None = None
    endpoint_url: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    tenant: dict[str, Any] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The API's base URL, without a slash at the end."""
        return self.deployment.url

    @property
    def deployment(self) -> Deployment:
        """The stack: its functions can be invoked through this."""
        return Deployment(self.account, self.outputs)

    @property
    def account(self) -> Account:
        """The emulator as an AWS account."""
        return Account(endpoint_url=self.endpoint_url)

    def database_url(self, role: str) -> str:
        """Where to connect as ``role``: one of postgres.OWNER, APP, WORKER, or ``postgres``."""
        assert self.postgres is not None
        return self.postgres.url(role)

    def alive(self) -> bool:
        """Whether it was brought up completely and every process of it runs."""
        processes = (self.postgres.process if self.postgres else None, self.emulator)
        return bool(self.outputs) and all(process is not None and process.alive() for process in processes)

    def end(self) -> None:
        """Stop every process and remove every file. Safe on a cloud that is half up, half down or gone."""
        if self.emulator is not None:
            self.emulator.stop()
        server = self.postgres or postgres.find(Path(self.folder) / DATA)  # one that nobody had written down yet
        if server is not None:
            server.stop()
        end_all_within(Path(self.folder))
        shutil.rmtree(self.folder, ignore_errors=True)

    def save(self, file: Path) -> None:
        """Write all of it to ``file`` in one step, readable by its owner alone."""
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, fresh = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")  # made with mode 0600
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(asdict(self) | {"url": self.url if self.outputs else ""}, stream, indent=2)
        Path(fresh).replace(file)


def load(file: Path) -> Cloud | None:
    """The cloud that save() wrote to ``file``; None if there is no such file or it is unreadable."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        del found["url"]
        cloud = Cloud(**found)
        if cloud.emulator is not None:
            cloud = replace(cloud, emulator=Process(**found["emulator"]))
        if cloud.postgres is not None:
            process = Process(**found["postgres"]["process"])
            cloud = replace(cloud, postgres=Postgres(process, found["postgres"]["port"]))
        return cloud
    except (OSError, ValueError, KeyError, TypeError):
        return None
