"""The same system on Docker's PostgreSQL and emulator: what `make up` does with `DOCKER=1`.

    python -m infra.compose up [--set NAME=VALUE ...] | down

``up`` writes where everything is to .local/docker.json, for ``./larder --cloud .local/docker.json``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import psycopg

from infra import model, postgres, thin_layer
from infra.account import Account
from infra.cloud import Cloud, load
from infra.deploy import deploy
from infra.local import FOR_PLAY, STAGE, open_to_itself, setting
from infra.package import ROOT, PackageError, package, parameter_name
from infra.postgres import Postgres
from infra.process import Process
from infra.stack import DeployError

STATE = ROOT / ".local" / "docker.json"
POSTGRES_PORT, EMULATOR_PORT = 54320, 54321
_COMPOSE = ("docker", "compose", "--file", str(ROOT / "infra" / "compose.yaml"))
_ELSEWHERE = Process("in a container", 0, 0.0)


def up(
    settings: Mapping[str, str],
    postgres_port: int = POSTGRES_PORT,
    emulator_port: int = EMULATOR_PORT,
    state: Path = STATE,
    say: Callable[[str], None] = print,
) -> Cloud:
    """Deploy to a PostgreSQL and an emulator that run and are empty, and make a tenant called demo.

    Raises PackageError, DeployError, ModelError or psycopg.Error.
    """
    server = Postgres(_ELSEWHERE, postgres_port)
    folder = Path(tempfile.mkdtemp(prefix="larder-"))
    cloud = Cloud(str(folder), dict(settings), endpoint_url=f"http://127.0.0.1:{emulator_port}")
    cloud.save(state)
    say("packaging and deploying")
    postgres.create_database(server)
    parameters = {
        "PythonRuntime": thin_layer.RUNTIME,
        "ModelFolder": str(model.lay()),
        "AppDatabaseUrl": server.url(postgres.APP),
        "WorkerDatabaseUrl": server.url(postgres.WORKER),
        "OwnerDatabaseUrl": server.url(postgres.OWNER),
        **{parameter_name(name): value for name, value in open_to_itself(settings, emulator_port).items()},
    }
    layer = thin_layer.write(folder / "layer.zip", Path(sysconfig.get_paths()["purelib"]))
    made = package(folder / "package")
    deployment = deploy(STAGE, made, layer, parameters, Account(endpoint_url=cloud.endpoint_url), lambda _: None)
    tenant = deployment.ops("tenant_create", name="demo")
    cloud = Cloud(str(folder), dict(settings), None, None, cloud.endpoint_url, dict(deployment.outputs), tenant)
    cloud.save(state)
    say(f"up: {deployment.url}")
    return cloud


def forget(state: Path = STATE) -> None:
    """Remove what ``up`` wrote."""
    found = load(state)
    if found is not None:
        shutil.rmtree(found.folder, ignore_errors=True)
    state.unlink(missing_ok=True)


def _docker(*arguments: str) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    environment = {**os.environ, "LARDER_ROOT": str(ROOT), "LARDER_PYTHON": version}
    subprocess.run([*_COMPOSE, *arguments], check=True, env=environment)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m infra.compose", description="The system on Docker.")
    parser.add_argument("command", choices=("up", "down"))
    parser.add_argument("--set", metavar="NAME=VALUE", type=setting, action="append", default=[])
    chosen = parser.parse_args(arguments)
    try:
        _docker("down", "--volumes")
        forget()
        if chosen.command == "up":
            _docker("up", "--detach", "--build", "--wait")
            up({**FOR_PLAY, **dict(chosen.set)})
            print(f"use it as ./larder --cloud {STATE.relative_to(ROOT)} COMMAND")
    except (DeployError, PackageError, psycopg.Error, OSError, RuntimeError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
