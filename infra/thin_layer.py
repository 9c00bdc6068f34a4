"""The local stand-in for the dependencies' layer: a kilobyte that points at packages that are installed already."""

from __future__ import annotations

import sys
import sysconfig
import zipfile
from pathlib import Path

from infra import model

RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"


def write(archive: Path, packages: Path) -> Path:
    """Write a layer that puts the folder ``packages`` on the path of a function, and return it.

    A plain path line in a .pth file is appended, which lets the emulator's own packages shadow ours: the line must
    insert. Emulator and packages must be of one Python version.
    """
    line = f"import sys; sys.path.insert(1, {str(packages)!r})\n"
    with zipfile.ZipFile(archive, "w") as layer:
        member = zipfile.ZipInfo(f"python/lib/{RUNTIME}/site-packages/larder.pth", (1980, 1, 1, 0, 0, 0))
        layer.writestr(member, line)
    return archive


def ready(folder: Path) -> tuple[Path, dict[str, str]]:
    """A layer in ``folder`` that points at this virtual environment, and the template's parameters that go with it.

    The emulator runs functions by its own Python, which the layer for AWS may not be made for. Raises ModelError.
    """
    print(f"the emulator runs {RUNTIME}: packages and model are this machine's, and build/layer.zip stays here")
    layer = write(folder / "thin-layer.zip", Path(sysconfig.get_paths()["purelib"]))
    return layer, {"PythonRuntime": RUNTIME, "ModelFolder": str(model.lay())}
