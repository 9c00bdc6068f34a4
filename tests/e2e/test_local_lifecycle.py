"""Up and down: nothing is started twice, nothing is left behind, whatever happens in between."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import requests

from infra import local
from infra.cloud import load
from infra.package import ROOT
from infra.process import Process
from tests.e2e.cloud import PrivateCloud, packaged, private_cloud, until
from tests.e2e.processes import shared_memory, working_in


def run(command: str, state: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "infra.local", command, "--state", str(state), *more],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateCloud]:
    """A cloud with its schedule on, up from the first test to the last: nobody waits for its minute."""
    with private_cloud(tmp_path_factory.mktemp("standing"), tick=True) as cloud:
        yield cloud


def test_a_second_cloud_runs_beside_the_first_and_ends_alone(standing: PrivateCloud, tmp_path: Path) -> None:
    with private_cloud(tmp_path, tick=False) as second:
        tenant = standing.tenant("only-here")
        assert tenant.get("/v1/kb/status").status_code == 200
        elsewhere = replace(tenant, url=second.url)
        assert elsewhere.get("/v1/kb/status").status_code == 401
    assert tenant.get("/v1/kb/status").status_code == 200


def test_up_twice_is_up_once_and_down_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    first = run("up", state)
    assert first.returncode == 0, first.stderr
    cloud = load(state)
    assert cloud is not None
    try:
        assert stat.S_IMODE(state.stat().st_mode) == 0o600
        known = json.loads(state.read_text())
        assert requests.get(f"{known['url']}/healthz", timeout=60).status_code == 200
        headers = {"Authorization": f"Bearer {known['tenant']['api_token']}"}
        assert requests.get(f"{known['url']}/v1/kb/status", headers=headers, timeout=60).status_code == 200

        assert run("up", state).stdout.startswith(f"Larder is up already: {known['url']}\n")
        assert load(state) == cloud
        assert known["url"] in run("status", state).stdout
        refused = run("up", state, "--set", "KB_RESPECT_ROBOTS=true")
        assert (refused.returncode, refused.stdout) == (1, "")
        told = f"Larder is up already, at {known['url']}, with KB_MUTATIONS_PER_HOUR=1000: `make down` first\n"
        assert refused.stderr == told
        assert len(working_in(cloud.folder)) > 2
    finally:
        down = run("down", state)
    assert down.returncode == 0, down.stderr
    assert working_in(cloud.folder) == []
    assert not Path(cloud.folder).exists()
    assert not state.exists()
    assert run("down", state).stdout == "not up\n"
    assert run("status", state).returncode == 1


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


def test_a_tests_own_cloud_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from infra.package import Package\n"
        "from tests.e2e.cloud import private_cloud\n"
        "folder, *made = map(Path, sys.argv[1:])\n"
        "with private_cloud(folder, tick=False, made=Package(*made)) as cloud:\n"
        "    print(cloud.cloud.folder, flush=True); time.sleep(600)"
    )
    made = packaged()
    command = [sys.executable, "-c", program, str(tmp_path), str(made.template), str(made.code)]
    starter = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert starter.stdout is not None
        folder = starter.stdout.readline().strip()
        assert len(working_in(folder)) > 2
        starter.kill()
        until(lambda: not Path(folder).exists(), what="the watcher")
        assert working_in(folder) == []
    finally:
        starter.kill()
        starter.communicate()


def test_a_number_that_was_given_to_another_process_is_left_alone() -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        mine = Process.of("mine", stranger.pid)
        stale = Process("stale", mine.pid, mine.started - 100)
        stale.stop()
        assert not stale.alive()
        assert mine.alive()
        assert stranger.poll() is None
        mine.stop()
        assert stranger.wait(timeout=10) == -signal.SIGTERM
    finally:
        stranger.kill()


def test_the_schedule_calls_the_tick_by_itself(standing: PrivateCloud) -> None:
    """Near the end, when the minute has passed with the other tests."""
    until(lambda: '"message":"tick"' in standing.log("Tick"), seconds=180, what="the minute's tick")


def test_what_a_crash_left_is_cleared_by_the_next_up(standing: PrivateCloud) -> None:
    """The last here, since it ends the standing cloud: the one that it brings up goes down in its place."""
    crashed, state = standing.cloud, standing.state
    assert crashed.emulator is not None
    assert state is not None
    os.kill(crashed.emulator.pid, signal.SIGKILL)
    until(lambda: not crashed.alive(), what="the emulator's end")
    again = local.up(local.Wish(tenant=None, made=packaged()), state, say=lambda _: None)
    assert again.folder != crashed.folder
    assert working_in(crashed.folder) == []
    assert not Path(crashed.folder).exists()
    assert requests.get(f"{again.url}/healthz", timeout=60).status_code == 200
