"""The whole system on this machine, from the template that AWS gets: no cloud account, no Docker.

    python -m infra.local up [--set NAME=VALUE ...] | down | status

``up`` writes where everything is, and the demo tenant's tokens, to .local/state.json. ``down`` leaves no process and
no file; the data goes with it.
"""

from __future__ import annotations

import argparse
import fcntl
import signal
import sys
import sysconfig
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from chalicelib import keys
from chalicelib.settings import VARIABLES
from infra import emulator, model, postgres, thin_layer
from infra.account import Account
from infra.cloud import DATA, Cloud, load
from infra.deploy import deploy
from infra.model import ModelError
from infra.package import ROOT, SETTINGS, Package, PackageError, package, parameter_name
from infra.stack import DeployError

STATE = ROOT / ".local" / "state.json"
STAGE = "local"
FOR_PLAY = {"KB_MUTATIONS_PER_HOUR": "1000"}
"""What the command sets unless told otherwise: the default of ten an hour is spent in one sitting of trying things."""


ENDINGS = (signal.SIGTERM, signal.SIGHUP)
"""What ends a command beside Ctrl-C: somebody, or the terminal that closes."""


class AlreadyUp(Exception):
    """A local cloud runs with other settings than the ones asked for."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How a local cloud shall be.

    ``settings`` are environment variables of the functions, by their documented names. ``tick`` off leaves the
    minute's schedule out, for a test that calls the function itself. ``tenant`` is the plan-free name of a tenant to
    create, or None. ``made`` is the package to deploy; without one the app here is packaged. ``packages`` is the
    folder that the functions import from: the virtual environment's by default. ``layer`` is a built layer's archive,
    which then brings the packages, and ``model`` the folder of its model.
    """

    settings: Mapping[str, str] = field(default_factory=dict)
    tick: bool = True
    tenant: str | None = "demo"
    made: Package | None = None
    packages: Path = Path(sysconfig.get_paths()["purelib"])
    model: Path = model.DEFAULT_FOLDER
    layer: Path | None = None


def up(wish: Wish | None = None, state: Path = STATE, say: Callable[[str], None] = print) -> Cloud:
    """Bring a local cloud up, or return the one that ``state`` describes if it runs.

    What a crash left behind is cleaned away first; a failure or an interrupt on the way leaves nothing.
    Raises AlreadyUp if one runs with other settings, RuntimeError, PackageError or DeployError.
    """
    wish = wish or Wish()
    with _alone(state):
        found = load(state)
        if found is not None and found.alive():
            if found.settings != dict(wish.settings):
                raise AlreadyUp(f"Larder is up already, at {found.url}, {_told(found)}: `make down` first")
            say(f"Larder is up already: {found.url}")
            return found
        if found is not None:
            say("clearing what an earlier run left behind")
            found.end()
        cloud = Cloud(tempfile.mkdtemp(prefix="larder-"), dict(wish.settings))
        cloud.save(state)  # before the first process: whatever happens next, someone can clean up
        try:
            cloud = _build(cloud, wish, say)
            cloud.save(state)
        except BaseException:
            with _undisturbed():
                try:
                    say("stopping what was started")
                finally:  # a terminal that has hung up takes no more words
                    cloud.end()
                    state.unlink(missing_ok=True)
            raise
        return cloud


def down(state: Path = STATE, say: Callable[[str], None] = print) -> None:
    """Stop what ``state`` describes and remove its files."""
    with _alone(state):
        found = load(state)
        if found is None:
            say("not up")
            return
        with _undisturbed():
            found.end()
            state.unlink(missing_ok=True)
        say("down")


def _build(cloud: Cloud, wish: Wish, say: Callable[[str], None]) -> Cloud:
    started = time.monotonic()
    folder = Path(cloud.folder)
    say("starting PostgreSQL and the emulator, packaging the app")
    with ThreadPoolExecutor() as pool:
        database = pool.submit(_database, folder / DATA)
        packaged = pool.submit(lambda: wish.made or package(folder / "package"))
        try:
            running = emulator.start(folder)
            server, made = database.result(), packaged.result()
        except BaseException:
            with _undisturbed():  # PostgreSQL is let start, so that it can be stopped: see postgres.start
                pool.shutdown()
            raise
    cloud = replace(cloud, postgres=server, emulator=running.process, endpoint_url=running.url)
    keys.make_file(folder / "keys.json")
    say("deploying")
    deployment = deploy(
        STAGE,
        made,
        wish.layer or thin_layer.write(folder / "layer.zip", wish.packages),
        {
            "PythonRuntime": thin_layer.RUNTIME,
            "ModelFolder": str(model.lay(wish.model)),
            "AppDatabaseUrl": server.url(postgres.APP),
            "WorkerDatabaseUrl": server.url(postgres.WORKER),
            "OwnerDatabaseUrl": server.url(postgres.OWNER),
            "TickState": "ENABLED" if wish.tick else "DISABLED",
            parameter_name("LARDER_KEYS"): str(folder / "keys.json"),
            **{parameter_name(name): value for name, value in open_to_itself(wish.settings, running.port).items()},
        },
        Account(endpoint_url=running.url),
        lambda _: None,
    )
    tenant = deployment.ops("tenant_create", name=wish.tenant) if wish.tenant else {}
    _require_answer(deployment.url)
    say(f"up in {time.monotonic() - started:.1f} s: {deployment.url}")
    return replace(cloud, outputs=dict(deployment.outputs), tenant=tenant)


def open_to_itself(settings: Mapping[str, str], port: int) -> dict[str, str]:
    """``settings`` with the API's own port among those that may be asked, for registrations of module larder.

    The emulator's port may be another each time, so nobody can name it. That it is on loopback is the switch's to allow
    or not.
    """
    allowed = settings.get("KB_ALLOWED_PORTS") or VARIABLES["allowed_ports"].default
    return {**settings, "KB_ALLOWED_PORTS": f"{allowed},{port}"}


def _require_answer(url: str) -> None:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=60):  # noqa: S310 - loopback
            return
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"the API answers {error.code}: {error.read().decode(errors='replace')[:2000]}") from error


def _database(folder: Path) -> postgres.Postgres:
    server = postgres.start(folder)
    postgres.create_database(server)
    return server


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    """One at a time on one state file. The kernel lets go of the lock when its holder dies."""
    state.parent.mkdir(parents=True, exist_ok=True)
    with state.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Clean up to the end, however often Ctrl-C is pressed or the terminal's end is told."""
    if threading.current_thread() is not threading.main_thread():  # which alone is interrupted
        yield
        return
    before = {ending: signal.signal(ending, signal.SIG_IGN) for ending in (signal.SIGINT, *ENDINGS)}
    try:
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)


def _status(state: Path, say: Callable[[str], None]) -> int:
    found = load(state)
    if found is None or not found.alive():
        say("not up" if found is None else "not up, but an earlier run left something: `make down` clears it")
        return 1
    say(f"up: {found.url}")
    say(_told(found))
    return 0


def _told(cloud: Cloud) -> str:
    return f"with {', '.join(f'{name}={value}' for name, value in cloud.settings.items()) or 'every default'}"


def setting(text: str) -> tuple[str, str]:
    """Read ``NAME=VALUE``, a documented setting and a value that it may have. Raises argparse.ArgumentTypeError."""
    name, equals, value = text.partition("=")
    if not equals or name not in SETTINGS:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE with NAME one of {', '.join(sorted(SETTINGS))}")
    variable = SETTINGS[name]
    if variable.choices and value not in variable.choices:
        raise argparse.ArgumentTypeError(f"{name}: must be one of {', '.join(variable.choices)}")
    try:
        variable.parse(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{name}: {error}") from error
    return name, value


def _terminated(ending: int, _: object) -> None:
    raise SystemExit(128 + ending)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m infra.local", description="The whole system on this machine.")
    parser.add_argument("command", choices=("up", "down", "status"))
    parser.add_argument(
        "--set", metavar="NAME=VALUE", type=setting, action="append", default=[], help="a setting of the functions"
    )
    parser.add_argument("--state", type=Path, default=STATE, help="the file that says what runs (%(default)s)")
    parser.add_argument("--packages", type=Path, help="the folder that functions import from, such as a built layer's")
    chosen = parser.parse_args(arguments)
    for ending in ENDINGS:  # so that they clean up as Ctrl-C does
        if signal.getsignal(ending) is not signal.SIG_IGN:  # nohup
            signal.signal(ending, _terminated)
    try:
        if chosen.command == "status":
            return _status(chosen.state, print)
        if chosen.command == "down":
            down(chosen.state)
            return 0
        wish = Wish(settings={**FOR_PLAY, **dict(chosen.set)})
        cloud = up(replace(wish, packages=chosen.packages.resolve()) if chosen.packages else wish, chosen.state)
        print(_told(cloud))
        print(f"the tokens of the tenant {wish.tenant} are in {chosen.state}")
        return 0
    except KeyboardInterrupt:
        print("\ninterrupted: nothing is left running", file=sys.stderr)
        return 130
    except (AlreadyUp, DeployError, ModelError, PackageError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
