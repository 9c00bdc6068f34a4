"""Colours that can be told apart (WCAG 2.2, 1.4.3 and 1.4.11), and a class for everything that is coloured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chalicelib.ui import sign_in, words

STYLE = (Path(sign_in.__file__).parent / "static" / "style.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_controls_stand_out(scheme: dict[str, str]) -> None:
    for ground in ("ground", "card"):
        for text in ("ink", "faint", "accent", "danger"):
            assert contrast(scheme[text], scheme[ground]) >= 4.5, (text, ground)
    assert contrast(scheme["on-accent"], scheme["accent"]) >= 4.5
    for part in ("expired", "tenant", "role", "purpose", "tier", "quarantine", "refuse"):
        assert contrast(scheme[part], scheme["card"]) >= 3, part


def test_both_schemes_name_the_same_colours() -> None:
    assert LIGHT.keys() == DARK.keys()


@pytest.mark.parametrize("word", [*words.DECISIONS, *words.OUTCOMES])
def test_everything_that_a_chart_shows_has_a_colour(word: str) -> None:
    style = word.replace("_", "-")
    assert f"rect.{style} " in STYLE or f"rect.{style}," in STYLE
    assert f".swatch.{style} " in STYLE or f".swatch.{style}," in STYLE
