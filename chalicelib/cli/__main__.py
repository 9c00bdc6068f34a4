"""``python -m chalicelib.cli``."""

from __future__ import annotations

from chalicelib.cli.main import larder

if __name__ == "__main__":
    larder(prog_name="larder")
