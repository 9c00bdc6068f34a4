"""Proves that code and layer are enough: every module loads and one text is embedded with nothing else there.

The emulator can't show this, since its own packages stand in for what a layer lacks.
"""

from __future__ import annotations

import subprocess
import sysconfig
import tempfile
import zipfile
from pathlib import Path

from infra.package import Package, package

# What the Lambda image brings along (Lambda Developer Guide, "Runtime-included SDK versions").
_IN_THE_IMAGE = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "six.py", "urllib3")

_PROGRAM = """
import importlib, pkgutil, sys
code, packages, image, model = sys.argv[1:]
sys.path[:0] = [code, packages]
sys.path.append(image)
import app, chalicelib
for module in pkgutil.walk_packages(chalicelib.__path__, "chalicelib."):
    importlib.import_module(module.name)
from chalicelib.errors import NotFound
from chalicelib.ui.render import render  # loads its library with the first page
assert "<h1>Not found</h1>" in render("problem.html", root="", session=None, problem=NotFound())
from chalicelib.embedding.model import LocalModel
(vector,) = LocalModel(model).embed(["a jar of plums"])
assert len(vector) == 384, len(vector)
"""


def check(layer: Path, python: str, made: Package | None = None) -> str:
    """What goes wrong with ``made`` on the unpacked ``layer`` under the interpreter ``python``, or an empty string."""
    installed = Path(sysconfig.get_paths()["purelib"])
    with tempfile.TemporaryDirectory(prefix="larder-layer-") as scratch:
        code, image = Path(scratch) / "code", Path(scratch) / "image"
        with zipfile.ZipFile((made or package(Path(scratch) / "package")).code) as archive:
            archive.extractall(code)
        image.mkdir()
        for name in _IN_THE_IMAGE:
            (image / name).symlink_to(installed / name)
        # -I and -S: no environment variable, no working folder, no site-packages
        command = [python, "-I", "-S", "-c", _PROGRAM]
        command += [str(folder) for folder in (code, layer / "python", image, layer / "model")]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.stderr.strip() if run.returncode else ""
