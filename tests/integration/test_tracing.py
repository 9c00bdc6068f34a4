"""Traces: nothing is loaded or sent unless asked for, and what is sent has names of ours alone."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TRACE = "1-5759e988-bd862e3fe1be46a994272793"

_OFF = """
import sys
from app import app
from chalicelib.tracing import Tracer
with Tracer("larder", enabled=False).span("fetch"):
    pass
print([name for name in sys.modules if name.startswith("aws_xray_sdk.core")])
"""

_ON = """
from chalicelib.telemetry import logger
from chalicelib.tracing import Tracer
tracer = Tracer("larder-dev", enabled=True)
logger.set_correlation_id("the-request")
with tracer.span("GET /v1/kb/sources/{source_id}"):
    with tracer.span("fetch"):
        pass
    try:
        with tracer.span("write"):
            raise ValueError("a text that quotes a caller")
    except ValueError:
        pass
"""


def run(script: str, **environment: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "LARDER_"))}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=clean | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout + done.stderr


def heard(daemon: socket.socket) -> list[dict[str, Any]]:
    """What X-Ray's daemon was sent: each datagram is a header line and a document."""
    daemon.settimeout(0.5)
    found = []
    while True:
        try:
            found.append(json.loads(daemon.recv(65_536).split(b"\n", 1)[1]))
        except TimeoutError:
            return found


def test_off_it_loads_nothing() -> None:
    assert run(_OFF).strip() == "[]"


def test_outside_of_lambda_it_is_silent() -> None:
    assert run(_ON) == ""


def test_on_it_tells_names_times_and_the_correlation_id_and_no_text_of_an_error() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
        daemon.bind(("127.0.0.1", 0))
        run(
            _ON,
            LAMBDA_TASK_ROOT="/var/task",
            _X_AMZN_TRACE_ID=f"Root={TRACE};Parent=53995c3f42cd8ad8;Sampled=1",
            AWS_XRAY_DAEMON_ADDRESS=f"127.0.0.1:{daemon.getsockname()[1]}",
        )
        sent = heard(daemon)
    parts = {one["name"]: one for one in sent}
    assert set(parts) == {"GET /v1/kb/sources/{source_id}", "fetch", "write"}
    assert {one["trace_id"] for one in sent} == {TRACE}
    assert {one["annotations"]["correlation_id"] for one in sent} == {"the-request"}
    assert parts["fetch"]["parent_id"] == parts["GET /v1/kb/sources/{source_id}"]["id"]
    assert parts["write"]["fault"] is True
    assert "quotes a caller" not in json.dumps(sent)
