"""The model folder: whole or not there, and never another model than the pinned one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from infra import model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(model.lay(), tmp_path / "model"))


def test_a_whole_folder_is_left_alone(folder: Path) -> None:
    before = (folder / "model.onnx").stat()
    assert model.lay(folder) == folder
    assert (folder / "model.onnx").stat().st_ino == before.st_ino


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_damaged_file_is_seen(folder: Path, name: str) -> None:
    assert model.is_complete(folder)
    (folder / name).write_bytes((folder / name).read_bytes()[:-1])
    assert not model.is_complete(folder)
    (folder / name).unlink()
    assert not model.is_complete(folder)


def test_a_damaged_folder_is_replaced_by_a_whole_one(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")
    model.lay(folder)
    assert model.is_complete(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_weights_with_another_digest_are_refused_and_nothing_is_laid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.onnx"
    other.write_bytes(b"not the model")
    monkeypatch.setattr(model, "weights", lambda: other)
    with pytest.raises(model.ModelError, match=r"model\.onnx has SHA-256"):
        model.lay(tmp_path / "model")
    assert not (tmp_path / "model").exists()
