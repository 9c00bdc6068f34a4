"""The night that docs/scaling.md shows is the one that its command simulates."""

from __future__ import annotations

from bench import night
from infra.package import ROOT


def test_the_night_as_it_comes_is_what_the_command_prints() -> None:
    wish = night.Wish()
    printed = "\n".join(night.report(wish, night.simulate(wish)))
    page = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    assert f"$ .venv/bin/python -m bench.night\n{printed}\n" in page
