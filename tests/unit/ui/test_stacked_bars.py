from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import date, timedelta

import pytest

from chalicelib.ui.stacked_bars import Series, description, stacked_bars

LAST = date(2026, 11, 30)
DAYS = [LAST - timedelta(days=back) for back in range(29, -1, -1)]


def draw(*stack: Series) -> ET.Element:
    return ET.fromstring(stacked_bars(DAYS, stack, title="By day"))


def bars(svg: ET.Element) -> list[tuple[str, float, float]]:
    """Class, bottom and height of each part."""
    return [
        (part.attrib["class"], float(part.attrib["y"]) + float(part.attrib["height"]), float(part.attrib["height"]))
        for part in svg.iter("rect")
    ]


def test_a_bar_stands_on_the_one_below_and_heights_are_in_proportion() -> None:
    [low, high] = bars(draw(Series("fine", "allow", {LAST: 75}), Series("blocked", "block", {LAST: 25})))
    assert (low[0], high[0]) == ("allow", "block")
    assert low[2] == pytest.approx(3 * high[2], abs=0.3)
    assert high[1] == pytest.approx(low[1] - low[2], abs=0.2)


def test_the_highest_bar_fits_under_the_highest_line() -> None:
    for count in (1, 2, 3, 9, 10, 11, 99, 12345, 10**9):
        svg = draw(Series("fine", "allow", {LAST: count}))
        lines = [float(line.attrib["y1"]) for line in svg.iter("line")]
        [(_, bottom, height)] = bars(svg)
        assert min(lines) <= bottom - height + 0.1
        assert height > (max(lines) - min(lines)) * 0.35


def test_a_count_that_is_small_is_seen_and_none_is_not_drawn() -> None:
    svg = draw(
        Series("fine", "allow", {LAST: 100_000}), Series("rare", "rare", {LAST: 1}), Series("never", "never", {})
    )
    assert [(style, height >= 2) for style, _, height in bars(svg)] == [("allow", True), ("rare", True)]


def test_everything_is_inside_the_picture() -> None:
    svg = draw(Series("fine", "allow", dict.fromkeys(DAYS, 7)))
    width, height = (float(end) for end in svg.attrib["viewBox"].split()[2:])
    for part in svg.iter("rect"):
        x, y, wide, high = (float(part.attrib[name]) for name in ("x", "y", "width", "height"))
        assert x >= 0
        assert x + wide <= width
        assert y >= 0
        assert y + high <= height
    assert len(list(svg.iter("rect"))) == len(DAYS)


def test_it_says_in_words_what_it_shows() -> None:
    svg = draw(Series("allowed", "allow", {LAST: 4, DAYS[0]: 1}), Series("expired", "block", {LAST: 2}))
    assert svg.attrib["role"] == "img"
    assert svg.findtext("title") == "By day"
    assert svg.findtext("desc") == "From 2026-11-01 to 2026-11-30: allowed 5, expired 2."
    assert "30 Nov: expired 2" in [title.text for title in svg.iter("title")]
    assert description(DAYS, [Series("allowed", "allow", {})]).endswith(": nothing.")


def test_the_last_day_has_a_label_and_no_day_at_all_is_no_error() -> None:
    labels = [text.text for text in draw(Series("fine", "allow", {})).iter("text")]
    assert labels[-1] == "30 Nov"
    assert labels[:3] == ["0", "1", "2"]


def test_names_are_escaped() -> None:
    svg = stacked_bars(DAYS, [Series("<script>x</script>", 'a" onload="x', {LAST: 1})], title="<b>&")
    assert "<script>" not in svg
    assert 'onload="' not in svg
    assert "&lt;b&gt;&amp;" in svg
