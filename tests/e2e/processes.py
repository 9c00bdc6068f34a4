"""What runs on this machine and knows of a folder."""

from __future__ import annotations

from pathlib import Path

import psutil


def working_in(folder: str) -> list[str]:
    """Processes that know of ``folder``."""
    found = []
    for process in psutil.process_iter():
        try:
            words = " ".join([process.cwd(), *process.cmdline()])
        except psutil.Error:
            continue
        if folder in words and process.status() != psutil.STATUS_ZOMBIE:
            found.append(words)
    return found


def shared_memory(folder: str) -> set[Path]:
    """The files below /dev/shm that programs at work in ``folder`` have open now."""
    found: set[Path] = set()
    for process in psutil.process_iter():
        try:
            if folder in " ".join([process.cwd(), *process.cmdline()]):
                found |= {Path(one.path) for one in process.memory_maps() if one.path.startswith("/dev/shm/")}
        except (psutil.Error, OSError):
            continue
    return found
