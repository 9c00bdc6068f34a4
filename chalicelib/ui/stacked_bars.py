"""Counts by day as stacked bars: a pure function from numbers to SVG 1.1, coloured by a style sheet's classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from xml.etree.ElementTree import Element, SubElement, tostring

WIDTH, HEIGHT = 760, 220
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 12, 26  # room for the axes' labels
BAR = 0.72  # of a day's width
LEAST = 2.0  # a count that is there is seen
LABELS = 5  # days from one label to the next, counted back from the last


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of the bars. ``style`` is a class of the style sheet; a day that ``counts`` lacks has none."""

    name: str
    style: str
    counts: Mapping[date, int]

    @property
    def total(self) -> int:
        """Over all days."""
        return sum(self.counts.values())


def stacked_bars(days: Sequence[date], stack: Sequence[Series], *, title: str) -> str:
    """An ``svg`` element to stand in HTML. The first of ``stack`` is lowest; ``days`` run from left to right.

    It is an image with a title and a description in words; each part of a bar names itself to a pointer.
    """
    top = _ceiling(max((sum(series.counts.get(day, 0) for series in stack) for day in days), default=0))
    svg = Element("svg", {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "class": "chart"})
    SubElement(svg, "title").text = title
    SubElement(svg, "desc").text = description(days, stack)
    for share in (0, 0.5, 1):
        _grid_line(svg, _y(share), f"{top * share:g}")
    slot = (WIDTH - LEFT - RIGHT) / max(1, len(days))
    for place, day in enumerate(days):
        left = LEFT + slot * (place + (1 - BAR) / 2)
        _bar(svg, left, slot * BAR, day, stack, top)
        if (len(days) - 1 - place) % LABELS == 0:
            _text(svg, left + slot * BAR / 2, HEIGHT - 8, f"{day.day} {day:%b}", "middle")
    return tostring(svg, encoding="unicode")


def description(days: Sequence[date], stack: Sequence[Series]) -> str:
    """The chart in a sentence."""
    totals = ", ".join(f"{series.name} {series.total}" for series in stack if series.total) or "nothing"
    return f"From {days[0].isoformat()} to {days[-1].isoformat()}: {totals}."


def _bar(svg: Element, left: float, width: float, day: date, stack: Sequence[Series], top: int) -> None:
    bottom = _y(0)
    for series in stack:
        count = series.counts.get(day, 0)
        if not count:
            continue
        height = max(LEAST, (_y(0) - _y(1)) * count / top)
        bottom -= height
        place = {"x": left, "y": bottom, "width": width, "height": height}
        part = SubElement(
            svg, "rect", {name: f"{value:.1f}" for name, value in place.items()} | {"class": series.style}
        )
        SubElement(part, "title").text = f"{day.day} {day:%b}: {series.name} {count}"


def _grid_line(svg: Element, y: float, label: str) -> None:
    ends = {"x1": f"{LEFT}", "x2": f"{WIDTH - RIGHT}", "y1": f"{y:.1f}", "y2": f"{y:.1f}"}
    SubElement(svg, "line", {**ends, "class": "grid"})
    _text(svg, LEFT - 8, y + 4, label, "end")


def _text(svg: Element, x: float, y: float, text: str, anchor: str) -> None:
    SubElement(svg, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}).text = text


def _y(share: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)


def _ceiling(most: int) -> int:
    """The least of 2, 4, 10, 20, 40, 100, … that is no less: its half is whole."""
    power = 1
    while True:
        for step in (2, 4, 10):
            if most <= step * power:
                return step * power
        power *= 10
