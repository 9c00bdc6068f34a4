"""Where a run keeps the files that end with it: in memory, if there is room.

A database is seven hundred files. On a disk that another worker writes to, making one takes ten times as long.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
_ROOM = 4 << 30


def begin() -> None:
    """From here on temporary files of this process, and of those that it starts, go to a folder that ends with it.

    Tests' own ``tmp_path`` stay on disk: they outlive the run, to be looked at.
    """
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    folder = tempfile.mkdtemp(prefix="larder-test-", dir=_MEMORY if _is_roomy(_MEMORY) else None)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # after all that is registered later, and still writes


def _is_roomy(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free >= _ROOM
