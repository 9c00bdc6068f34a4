"""The processor that a layer's packages were built for: a deployment that says another would start no function."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

from infra.stack import DeployError

PARAMETER = "Architecture"
_DEFAULT = "x86_64"
_OF_MACHINE = {"x86_64": "x86_64", "aarch64": "arm64"}
_MODULE = re.compile(r"-(x86_64|aarch64)-linux-gnu\.so$")


def require(layer: Path, wanted: Mapping[str, str], standing: Mapping[str, str]) -> None:
    """Raise DeployError if the archive ``layer`` holds compiled modules for another processor than the functions have.

    ``wanted`` are the parameters of a deployment, ``standing`` those of the stack until now.
    """
    with zipfile.ZipFile(layer) as archive:
        built = {_OF_MACHINE[found[1]] for name in archive.namelist() if (found := _MODULE.search(name))}
    told = wanted.get(PARAMETER) or standing.get(PARAMETER) or _DEFAULT
    if built and built != {told}:
        raise DeployError(
            f"the layer is for {', '.join(sorted(built))}, and the functions are {told}: "
            f"build it with ARCH={told}, or set {PARAMETER} to what it is for"
        )
