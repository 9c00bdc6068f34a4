"""Ctrl-C, a kill and a closed terminal on the way up: nothing is left behind, whenever it happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from infra import local
from infra.cloud import load
from infra.package import ROOT
from tests.e2e.cloud import until
from tests.e2e.processes import shared_memory, working_in


def begin_up(state: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "infra.local", "up", "--state", str(state)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # A run in the background ignores Ctrl-C, and what it starts inherits that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.parametrize(
    ("after", "how"),
    [
        ("postgres/global", signal.SIGINT),
        ("postgres/postmaster.pid", signal.SIGINT),
        ("emulator/log", signal.SIGINT),
        ("keys.json", signal.SIGINT),
        ("layer.zip", signal.SIGTERM),
        ("postgres/global", signal.SIGHUP),
    ],
)
def test_an_interrupt_on_the_way_up_leaves_nothing(tmp_path: Path, after: str, how: signal.Signals) -> None:
    state = tmp_path / "state.json"
    bringing = begin_up(state)
    held: set[Path] = set()
    try:
        folder = Path(until(lambda: load(state), what="a state file").folder)
        until(lambda: (folder / after).exists() or bringing.poll() is not None, what=f"{after} to begin")
        os.killpg(bringing.pid, how)  # what Ctrl-C does: the whole foreground group hears it
        while bringing.poll() is None:
            held |= shared_memory(str(folder))
            time.sleep(0.05)  # the look is at every process, and takes from what is looked at
        output, _ = bringing.communicate(timeout=120)
    finally:
        bringing.kill()
        local.down(state, say=lambda _: None)
    assert bringing.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}[how], output
    assert working_in(str(folder)) == []
    assert [file for file in held if file.exists()] == []
    assert not folder.exists()
    assert not state.exists()


def test_a_server_that_a_killed_start_left_running_is_shut_down_and_not_killed(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    bringing = begin_up(state)
    try:
        folder = Path(until(lambda: load(state), what="a state file").folder)
        until(lambda: (folder / "keys.json").exists(), what="the deployment")
        bringing.kill()
        held = shared_memory(str(folder))
        assert held
    finally:
        bringing.kill()
        bringing.communicate()
        local.down(state, say=lambda _: None)
    assert working_in(str(folder)) == []
    assert [file for file in held if file.exists()] == []
