"""The layer's byte code: it travels with the layer, since a function can't keep any."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from infra import build_layer


def test_byte_code_is_in_the_layer_wherever_this_machine_keeps_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    packages = tmp_path / "layer" / "python"
    packages.mkdir(parents=True)
    (packages / "module.py").write_text("answer = 42\n")
    build_layer._compile(tmp_path / "layer", sys.executable)
    assert [path.parent.name for path in packages.rglob("module.*.pyc")] == ["__pycache__"]
    assert not (tmp_path / "elsewhere").exists()
