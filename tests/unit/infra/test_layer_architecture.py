"""A layer for one processor is not deployed to functions of another."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from infra import layer_architecture
from infra.layer_architecture import PARAMETER
from infra.stack import DeployError

X86, ARM = "python/regex/_regex.cpython-313-x86_64-linux-gnu.so", "python/regex/_regex.cpython-313-aarch64-linux-gnu.so"


def layer(folder: Path, *names: str) -> Path:
    archive = folder / "layer.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for name in ("python/app.py", *names):
            zipped.writestr(name, "")
    return archive


@pytest.mark.parametrize(
    ("module", "wanted", "standing"),
    [
        (X86, {}, {}),
        (X86, {PARAMETER: "x86_64"}, {PARAMETER: "arm64"}),
        (ARM, {PARAMETER: "arm64"}, {}),
        (ARM, {}, {PARAMETER: "arm64"}),
    ],
)
def test_a_layer_that_fits_is_taken(
    tmp_path: Path, module: str, wanted: dict[str, str], standing: dict[str, str]
) -> None:
    layer_architecture.require(layer(tmp_path, module), wanted, standing)


@pytest.mark.parametrize(
    ("modules", "wanted", "standing", "told"),
    [
        ([ARM], {}, {}, "x86_64"),
        ([X86], {PARAMETER: "arm64"}, {}, "arm64"),
        ([X86], {}, {PARAMETER: "arm64"}, "arm64"),
        ([X86, ARM], {}, {}, "x86_64"),
    ],
)
def test_a_layer_for_another_is_refused(
    tmp_path: Path, modules: list[str], wanted: dict[str, str], standing: dict[str, str], told: str
) -> None:
    with pytest.raises(DeployError, match=f"ARCH={told}"):
        layer_architecture.require(layer(tmp_path, *modules), wanted, standing)


def test_a_layer_without_compiled_modules_fits_any(tmp_path: Path) -> None:
    layer_architecture.require(layer(tmp_path), {PARAMETER: "arm64"}, {})
