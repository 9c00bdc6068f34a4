"""A process that was started here, told from a stranger that got the same number later."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Process:
    """``started`` is the kernel's start time in seconds: a pid alone may have been given away again."""

    name: str
    pid: int
    started: float

    @classmethod
    def of(cls, name: str, pid: int) -> Process:
        """The running process ``pid``. Raises psutil.NoSuchProcess if there is none."""
        return cls(name, pid, psutil.Process(pid).create_time())

    def alive(self) -> bool:
        """Whether exactly this process still runs."""
        return self._find() is not None

    def stop(self, how: signal.Signals = signal.SIGTERM, patience: float = 5.0) -> None:
        """Send ``how`` and wait; kill what is left after ``patience`` seconds, children included.

        Does nothing if the process is gone or its number belongs to another one.
        """
        found = self._find()
        if found is None:
            return
        children = found.children(recursive=True)
        _send(found, how)
        left = _wait([found], patience) + _wait(children, 1.0)
        for process in left:
            _send(process, signal.SIGKILL)
        _wait(left, patience)

    def _find(self) -> psutil.Process | None:
        try:
            found = psutil.Process(self.pid)
            # The kernel counts in ticks; two readings of one process differ by less than a hundredth of a second.
            return found if abs(found.create_time() - self.started) < 0.5 and _runs(found) else None
        except psutil.NoSuchProcess:
            return None


def end_all_within(folder: Path) -> None:
    """Kill what still works in ``folder``, a folder that nobody else uses: started there, or told of it."""
    inside = str(folder)
    left = [process for process in psutil.process_iter() if process.pid != os.getpid() and _works_in(process, inside)]
    for process in left:
        _send(process, signal.SIGKILL)
    _wait(left, 5.0)


def _works_in(process: psutil.Process, folder: str) -> bool:
    try:
        told_of = any(word == folder or word.startswith(folder + os.sep) for word in process.cmdline())
        return told_of or (process.cwd() + os.sep).startswith(folder + os.sep)
    except psutil.Error:  # gone meanwhile, or another user's
        return False


def _runs(process: psutil.Process) -> bool:
    """A zombie has ended; whoever inherited it may be slow to collect it."""
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _wait(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Those that still run after ``seconds`` at most."""
    deadline = time.monotonic() + seconds
    while (left := [process for process in processes if _runs(process)]) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


def _send(process: psutil.Process, how: signal.Signals) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(how)
