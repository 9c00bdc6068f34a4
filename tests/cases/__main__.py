"""Play a case library: ``python -m tests.cases KIND FILE.jsonl``.

KIND names the player module ``tests.cases.KIND_player``, which exposes ``play(case) -> Verdict``.
Without FILE the library of that kind in this folder is played.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

from tests.cases.report import run

HERE = Path(__file__).parent


def main(arguments: list[str]) -> int:
    """Dispatch on the first word; the exit code is 1 if any case failed, 2 for a wrong call."""
    kinds = sorted(path.stem.removesuffix("_player") for path in HERE.glob("*_player.py"))
    if len(arguments) not in (1, 2) or arguments[0] not in kinds:
        print(f"usage: python -m tests.cases {{{','.join(kinds)}}} [FILE.jsonl]", file=sys.stderr)
        return 2
    kind = arguments[0]
    path = Path(arguments[1]) if len(arguments) == 2 else HERE / f"{kind}.jsonl"
    if not path.is_file():
        print(f"no such case library: {path}", file=sys.stderr)
        return 2
    # What Larder itself writes, metrics among it, and its processes, is no verdict.
    with (
        os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as verdicts,
        Path(os.devnull).open("w") as nowhere,
    ):
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
        return run(importlib.import_module(f"tests.cases.{kind}_player").play, path, verdicts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
