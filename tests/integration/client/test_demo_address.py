"""`make demo URL=…` stops before anything is set up if the address is none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from examples import demo

ROOT = Path(__file__).resolve().parents[3]


def test_make_refuses_what_is_no_address_before_the_set_up() -> None:
    command = ["make", "--no-print-directory", "demo", "URL=notaurl", "PYTHON=false"]  # a set-up would say otherwise
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("URL='notaurl' is no page: an address starts with http:// or https://\n")


@pytest.mark.parametrize("url", ["notaurl", "http://a b/", "http://somebody:secret@example.com/", "https://"])
def test_the_demo_refuses_it_before_anything_is_started(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        demo.main(["--url", url])
    assert left.value.code == 2
    told = capsys.readouterr()
    assert (told.out, "argument --url: " in told.err) == ("", True)


def test_an_address_is_taken_as_sources_are() -> None:
    assert demo.page_address("HTTPS://Example.com") == "https://example.com/"
