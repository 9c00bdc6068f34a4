"""infra/compose.yaml, held to what the local cloud without Docker does. No test starts a container."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from infra import compose, emulator, postgres
from infra.package import ROOT

SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "infra" / "compose.yaml").read_text(encoding="utf-8"))["services"]


def test_the_database_is_pinned_by_version_and_new_enough() -> None:
    repository, _, tag = SERVICES["postgres"]["image"].partition(":")
    assert repository == "pgvector/pgvector"
    found = re.fullmatch(r"(\d+)\.(\d+)\.\d+-pg(\d+)", tag)
    assert found, tag
    assert (int(found[1]), int(found[2])) >= (0, 8)
    assert int(found[3]) >= 16


def test_the_emulator_is_the_pinned_one_in_the_python_of_the_functions() -> None:
    lines = SERVICES["aws"]["build"]["dockerfile_inline"].splitlines()
    assert "FROM python:$${PYTHON_VERSION}-slim-bookworm" in lines
    assert "COPY requirements-emulator.txt /requirements.txt" in lines
    assert (ROOT / "infra" / SERVICES["aws"]["build"]["context"] / "requirements-emulator.txt").resolve().exists()
    assert re.search(r"^ministack==", (ROOT / "requirements-emulator.txt").read_text(), re.MULTILINE)


def test_the_emulator_is_told_what_it_is_told_without_docker(tmp_path: Path) -> None:
    without = emulator._environment(tmp_path, compose.EMULATOR_PORT)
    within = {
        "HOME": None, "TMPDIR": None, "LANG": None, "PATH": None,  # the container has its own
        "DOCKER_HOST": "unix:///no-docker.sock",
        "GATEWAY_PORT": f"${{LARDER_EMULATOR_PORT:-{compose.EMULATOR_PORT}}}",
    }  # fmt: skip
    expected = {name: within.get(name, value) for name, value in without.items() if not name.startswith("OPENBLAS_")}
    assert SERVICES["aws"]["environment"] == {name: value for name, value in expected.items() if value is not None}


def test_both_listen_on_loopback_alone() -> None:
    assert all(service["network_mode"] == "host" for service in SERVICES.values())
    assert not any("ports" in service for service in SERVICES.values())
    assert "listen_addresses=127.0.0.1" in SERVICES["postgres"]["command"]
    assert f"port=${{LARDER_POSTGRES_PORT:-{compose.POSTGRES_PORT}}}" in SERVICES["postgres"]["command"]
    assert SERVICES["aws"]["environment"]["BIND_HOST"] == "127.0.0.1"


def test_nothing_of_the_clone_can_be_written_and_the_data_goes_with_the_container() -> None:
    assert SERVICES["aws"]["volumes"] == ["${LARDER_ROOT:?the folder of the clone}:${LARDER_ROOT}:ro"]
    assert SERVICES["postgres"]["tmpfs"] == ["/var/lib/postgresql/data"]


def test_every_service_says_when_it_is_ready() -> None:
    assert all(service["healthcheck"]["test"][0] == "CMD" for service in SERVICES.values())


def test_the_database_takes_as_many_connections_as_the_one_without_docker() -> None:
    [limit] = [word for word in SERVICES["postgres"]["command"] if word.startswith("max_connections=")]
    assert limit in postgres._OPTIONS
