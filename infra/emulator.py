"""The local AWS: ministack, one process on a port of its own, with an environment and a temp folder of its own."""

from __future__ import annotations

import os
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from infra.postgres import free_port
from infra.process import Process

PYTHON = Path(__file__).resolve().parent.parent / ".venv-emulator" / "bin" / "python"
_START_SECONDS = 60.0
_ATTEMPTS = 3  # another program may take the free port between the look and the start


@dataclass(frozen=True, slots=True)
class Emulator:
    """A running emulator; ``url`` is the endpoint of every AWS service in it."""

    process: Process
    port: int

    @property
    def url(self) -> str:
        """Base URL, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """End the emulator and the functions that it runs. It keeps nothing, so it is not waited for long."""
        self.process.stop(patience=0.5)


def start(folder: Path, python: Path = PYTHON) -> Emulator:
    """Start an emulator whose every file is below ``folder``.

    ``python`` belongs to a virtual environment that holds ministack: it pins another botocore than Larder's, so it
    can't be Larder's own. Raises RuntimeError with the log if it does not come up.
    """
    if not python.exists():
        raise RuntimeError(f"there is no {python}: run `make setup`")
    scratch = folder / "emulator"
    scratch.mkdir(mode=0o700)  # for PostgreSQL's sake the folder above may be open to others; logs are not for them
    log = scratch / "log"
    for _attempt in range(_ATTEMPTS):
        port = free_port()
        child = _launch(python, scratch, port, log)
        emulator = Emulator(Process.of("ministack", child.pid), port)
        try:
            if _becomes_ready(emulator, child):
                return emulator
        except BaseException:
            emulator.stop()
            raise
        emulator.stop()
        child.wait()
    raise RuntimeError(f"ministack does not start; its log says:\n{log.read_text()[-2000:]}")


def _launch(python: Path, scratch: Path, port: int, log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            [python, "-m", "ministack"],
            cwd=scratch,
            env=_environment(scratch, port),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal is `up`'s to handle
        )


def _environment(scratch: Path, port: int) -> dict[str, str]:
    """All that the emulator and the functions in it see. Its workers inherit everything, so nothing of ours is in."""
    ours = {name: value for name, value in os.environ.items() if name == "PATH" or name.startswith("OPENBLAS_")}
    return ours | {
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        # Each function is held to its role's policy, as on AWS, with one difference: sqs:SendMessageBatch is an action
        # of its own here, so the tick's policy says sqs:SendMessage* where AWS needs sqs:SendMessage alone.
        "AUTH": "true",
        # It removes containers that it takes for its own as it starts and stops, and opens an MQTT port that is the
        # same for everyone: none of that belongs on somebody's laptop.
        "DOCKER_HOST": f"unix://{scratch}/no-docker.sock",
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
    }


def _becomes_ready(emulator: Emulator, child: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and child.poll() is None:
        try:
            with urllib.request.urlopen(f"{emulator.url}/_ministack/ready", timeout=2):  # noqa: S310 - loopback
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    return False
