"""What an operator's file of parameters may be, and what is said of one that is something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.deploy import read_parameters
from infra.stack import DeployError


def test_an_object_of_texts(tmp_path: Path) -> None:
    file = tmp_path / "some.json"
    file.write_text('{"WorkerConcurrency": "20", "KbFetchContact": ""}')
    assert read_parameters(file) == {"WorkerConcurrency": "20", "KbFetchContact": ""}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"WorkerConcurrency": 20, "EnableKb": false, "KbFetchContact": ""}', "not so: EnableKb, WorkerConcurrency"),
        (b'["WorkerConcurrency"]', "an object"),
        (b'{"WorkerConcurrency": ', "line 1"),
        (b'{"KbFetchContact": "\xff"}', "utf-8"),
    ],
)
def test_anything_else_is_named(tmp_path: Path, text: bytes, said: str) -> None:
    file = tmp_path / "some.json"
    file.write_bytes(text)
    with pytest.raises(DeployError, match=said) as caught:
        read_parameters(file)
    assert str(file) in str(caught.value)
