"""Whether the declarations of a style hide an element from the reader's eyes (spec 1.1 point 5, "hidden payloads").

This is no layout engine: what scripts, linked sheets or the boxes of other elements hide is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from chalicelib.fetching.html_colours import Colour, colour_of

Concealment = Literal["", "gone", "font-size", "visibility", "colour"]
"""How an element is hidden: not at all, with all that is in it, or by a property that a descendant may set anew."""
Rules = Mapping[str, str]
"""Declarations by property, in lower case; shorthands are written out as far as it matters here."""

COMMENT = re.compile(r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_IMPORTANT = re.compile(r"!\s*important")
_NUMBER = re.compile(r"[-+]?(?:\d{1,9}\.?\d{0,9}|\.\d{1,9})")
_UNIT_PIXELS = {"em": 16, "rem": 16, "ch": 8, "ex": 8, "vw": 10, "vh": 10, "vmax": 10, "cm": 38, "in": 96, "pc": 16}
"""About as many pixels as a unit has on any screen."""
_OFF_SCREEN = -900.0
_FAINT = 0.05
_FONT_SIZE = re.compile(r"0+|(?:\d{1,9}\.?\d{0,9}|\.\d{1,9})(?:[a-z]{1,4}|%)")
_IMAGE = re.compile(r"url\(|gradient\(|image|var\(|element\(")
_TRANSFORM = re.compile(r"\b(scale|translate)(?:x|y|3d)?\(([^)]{0,100})\)")
_OPACITY_FILTER = re.compile(r"\bopacity\(\s*([^)]{0,20})\)")
_CLIPPED = re.compile(r"rect\((?:[01](?:px)?[,\s]*){4}\)|inset\((?:50|100)%[^)]*\)|circle\(0\)")
# A size that does not depend on the parent's: em and % of nothing are nothing.
_ABSOLUTE_SIZE = re.compile(r"(?:px|pt|pc|rem|cm|mm|in|q|v[wh]|medium|small|large)$")


@dataclass(frozen=True, slots=True)
class Paint:
    """The colours of text and of what is behind it; None where they aren't known for sure."""

    text: Colour | None = None
    ground: Colour | None = None

    @property
    def hides(self) -> bool:
        """Say whether text in it can't be seen."""
        text, ground = self.text, self.ground
        return text is not None and (text.is_clear or (ground is not None and text.is_like(ground)))


def declarations(style: str) -> tuple[dict[str, str], dict[str, str]]:
    """Read the value of a ``style`` attribute or the inside of a rule: ordinary declarations, and important ones.

    The last one of a property counts. Linear in the length.
    """
    ordinary: dict[str, str] = {}
    important: dict[str, str] = {}
    for part in _ESCAPE.sub(_unescape, COMMENT.sub(" ", style)).lower().split(";"):
        name, _, value = part.partition(":")
        plain = _IMPORTANT.sub("", value).strip()
        (important if "!" in value and plain != value.strip() else ordinary).update(_written_out(name.strip(), plain))
    return ordinary, important


def conceals(rules: Rules) -> Concealment:
    """Say whether an element with these declarations is hidden, but for its colours."""
    if _is_gone(rules):
        return "gone"
    if _is_tiny(rules.get("font-size", "medium")):
        return "font-size"
    return "visibility" if rules.get("visibility") in ("hidden", "collapse") else ""


def reveals(rules: Rules, concealment: str) -> bool:
    """Say whether a descendant's own declarations make it visible again."""
    if concealment == "font-size":
        size = rules.get("font-size", "inherit")
        return bool(_ABSOLUTE_SIZE.search(size)) and not _is_tiny(size)
    return concealment == "visibility" and rules.get("visibility") == "visible"


def painted(rules: Rules, around: Paint) -> Paint:
    """Return the colours of an element with these declarations inside another."""
    text, ground = around.text, around.ground
    colour, behind = rules.get("color"), rules.get("background-color")
    if colour is not None and colour not in ("inherit", "unset", "currentcolor"):
        text = colour_of(colour)
    if behind is not None and behind not in ("inherit", "unset", "initial", "none"):
        own = colour_of(behind)
        if own is None or not own.is_clear:
            ground = own if own and own.alpha == 1 else None
    if rules.get("background-image", "none") != "none":
        ground = None
    if "text" in rules.get("background-clip", "") + rules.get("-webkit-background-clip", "") or "text-shadow" in rules:
        text = None
    return Paint(text, ground)


def _is_gone(rules: Rules) -> bool:
    far = ("left", "right", "top", "bottom") if rules.get("position") in ("absolute", "fixed") else ()
    return (
        rules.get("display") == "none"
        or rules.get("content-visibility") == "hidden"
        or _share(rules.get("opacity", "1")) <= _FAINT
        or any(_share(share) <= _FAINT for share in _OPACITY_FILTER.findall(rules.get("filter", "")))
        or any(_pixels(rules.get(name)) < _OFF_SCREEN for name in (*far, "text-indent", "margin-left", "margin-top"))
        or _is_flat(rules)
        or bool(_CLIPPED.fullmatch(rules.get("clip", "") + rules.get("clip-path", "")))
        or _is_moved_away(rules)
    )


def _is_flat(rules: Rules) -> bool:
    if any(_number(rules.get(name), 0) for name in ("padding", "padding-top", "padding-bottom")):
        return False
    for axis, size in (("x", "width"), ("y", "height")):
        is_cut = rules.get(f"overflow-{axis}", "").startswith(("hidden", "clip"))
        is_nothing = any(_number(rules.get(name), 1) == 0 for name in (size, f"max-{size}"))
        if is_cut and is_nothing and _number(rules.get(f"min-{size}"), 0) == 0:
            return True
    return False


def _is_moved_away(rules: Rules) -> bool:
    moves = [("scale", rules.get("scale", "")), ("translate", rules.get("translate", ""))]
    for function, arguments in moves + _TRANSFORM.findall(rules.get("transform", "")):
        values = re.split(r"[\s,]+", arguments.strip())[:2]
        if function == "scale" and any(_number(value, 1) == 0 for value in values):
            return True
        if function == "translate" and any(_pixels(value) < _OFF_SCREEN for value in values):
            return True
    return False


def _written_out(name: str, value: str) -> dict[str, str]:
    if name == "overflow":
        across, _, down = value.partition(" ")
        return {"overflow-x": across, "overflow-y": down.strip() or across}
    if name == "font":
        sizes = (word.partition("/")[0] for word in value[:200].split())
        return {"font-size": next((size for size in sizes if _FONT_SIZE.fullmatch(size)), "inherit")}
    if name == "background":
        words = (value, *value[:200].split())
        colours = (word for word in words if colour_of(word) or word in ("inherit", "unset"))
        image = "some" if _IMAGE.search(value) else "none"
        return {"background-color": next(colours, "transparent"), "background-image": image}
    return {name: value}


def _unescape(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[2]
    code = int(escape[1], 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _number(value: str | None, default: float) -> float:
    """The leading number; of ``1em`` or ``50%`` too, where only zero matters."""
    number = _NUMBER.match(value or "")
    return float(number.group()) if number else default


def _pixels(value: str | None) -> float:
    number = _NUMBER.match(value or "")
    return float(number.group()) * _UNIT_PIXELS.get((value or "")[number.end() :].strip(), 1) if number else 0.0


def _share(value: str) -> float:
    return _number(value, 1) / (100 if value.endswith("%") else 1)


def _is_tiny(font_size: str) -> bool:
    number = _number(font_size, 16)
    return number == 0 or (number <= 1 and font_size.endswith(("px", "pt")))
