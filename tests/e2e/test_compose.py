"""What `make up DOCKER=1` does once its containers run, on a PostgreSQL and an emulator that run without them."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra import compose, emulator, postgres
from infra.package import ROOT


@pytest.fixture
def ports() -> Iterator[tuple[int, int]]:
    folder = Path(tempfile.mkdtemp(prefix="larder-test-compose-"))
    server = postgres.start(folder / "postgres")
    try:
        running = emulator.start(folder)
        try:
            yield server.port, running.port
        finally:
            running.stop()
    finally:
        server.stop()
        shutil.rmtree(folder)


def larder(state: Path, *arguments: str) -> Any:
    run = subprocess.run(
        [ROOT / "larder", "--cloud", state, *arguments, "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(run.stdout)


def test_the_system_comes_up_on_services_that_run_elsewhere(ports: tuple[int, int], tmp_path: Path) -> None:
    state = tmp_path / "docker.json"
    cloud = compose.up({"KB_MUTATIONS_PER_HOUR": "500"}, *ports, state, lambda _: None)
    try:
        assert larder(state, "status")["enabled"]
        handler = cloud.account.functions().get_function_configuration(FunctionName=cloud.outputs["APIHandlerName"])
        allowed = handler["Environment"]["Variables"]["KB_ALLOWED_PORTS"].split(",")
        assert str(ports[1]) in allowed, "a provider of module larder can be registered, as without Docker"
        assert [tenant["name"] for tenant in larder(state, "ops", "tenant", "list")] == ["demo"]
        larder(state, "sources", "add", "https://example.com/")
        assert [source["uri"] for source in larder(state, "sources", "list")] == ["https://example.com/"]
        assert Path(cloud.folder).exists()
    finally:
        compose.forget(state)
    assert not Path(cloud.folder).exists()
    assert not state.exists()
