from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LAUNCHER = ROOT / "larder"


@pytest.mark.skipif(not (ROOT / ".venv" / "bin" / "python").exists(), reason="the launcher runs the clone's own Python")
def test_the_launcher_works_from_anywhere_and_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "chalicelib").mkdir()
    (tmp_path / "chalicelib" / "__init__.py").write_text("raise SystemExit('somebody else')")
    link = tmp_path / "link"
    link.symlink_to(LAUNCHER)
    run = subprocess.run([link, "--help"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("Usage: larder ")


def test_the_command_starts_without_what_only_the_service_needs() -> None:
    probe = (
        "import sys, chalicelib.cli.main as _; "
        "print([m for m in ('psycopg', 'chalice', 'fastembed', 'boto3', 'pydantic') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
