"""Whether a style hides its element from the reader's eyes (spec 1.1 point 5, "hidden payloads").

Inline styles, and of style sheets inside the page the rules for one class or id. This is no layout engine: what
scripts, linked sheets or the boxes of other elements hide is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Concealment = Literal["", "gone", "font-size", "visibility"]
"""How an element is hidden: not at all, with all that is in it, or by a property that a descendant may set anew."""

LARGEST_SHEET = 200_000
"""Characters of style sheets that are looked at in one page."""

_COMMENT = re.compile(r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d{1,9}\.?\d{0,9}|\.\d{1,9})")
_SIMPLE_SELECTOR = re.compile(r"[a-z0-9]{0,20}[.#][\w-]{1,100}", re.IGNORECASE)
_CLASSES = re.compile(r"\.([\w-]{1,100})")
_OFF_SCREEN = -900.0
# A size that does not depend on the parent's: em and % of nothing are nothing.
_ABSOLUTE_SIZE = re.compile(r"(?:px|pt|pc|rem|cm|mm|in|q|v[wh]|medium|small|large)$")


def conceals(style: str) -> Concealment:
    """Say whether the declarations of a ``style`` attribute or rule hide the element. Linear in the length."""
    rules = _declarations(style)
    if _is_gone(rules):
        return "gone"
    if _is_tiny(rules.get("font-size", "medium")):
        return "font-size"
    return "visibility" if rules.get("visibility") in ("hidden", "collapse") else ""


def reveals(style: str, concealment: str) -> bool:
    """Say whether a descendant's own style makes it visible again."""
    rules = _declarations(style)
    if concealment == "font-size":
        size = rules.get("font-size", "inherit")
        return bool(_ABSOLUTE_SIZE.search(size)) and not _is_tiny(size)
    return concealment == "visibility" and rules.get("visibility") == "visible"


def _is_gone(rules: Mapping[str, str]) -> bool:
    far = ("left", "right", "top", "bottom") if rules.get("position") in ("absolute", "fixed") else ()
    is_flat = any(_number(rules.get(name), 1) == 0 for name in ("width", "height", "max-width", "max-height"))
    is_padded = any(_number(rules.get(name), 0) for name in ("padding", "padding-top", "padding-bottom"))
    clip = rules.get("clip", "") + rules.get("clip-path", "")
    colour = rules.get("color")
    return (
        rules.get("display") == "none"
        or rules.get("content-visibility") == "hidden"
        or _number(rules.get("opacity"), 1) == 0
        or any(_number(rules.get(name), 0) < _OFF_SCREEN for name in (*far, "text-indent", "margin-left", "margin-top"))
        or (is_flat and not is_padded and rules.get("overflow", "").startswith(("hidden", "clip")))
        or bool(re.fullmatch(r"rect\((?:[01](?:px)?[,\s]*){4}\)|inset\((?:50|100)%[^)]*\)|circle\(0\)", clip))
        or bool(re.search(r"\bscale[xy3d]*\(0\b(?!\.)", rules.get("transform", "")))
        or (
            colour is not None
            and "text" not in rules.get("background-clip", "") + rules.get("-webkit-background-clip", "")
            and (colour in ("transparent", rules.get("background-color"), rules.get("background")))
        )
    )


def _declarations(style: str) -> dict[str, str]:
    """The last value of every property, without comments, escapes, blanks around and ``!important``."""
    plain = _ESCAPE.sub(_unescape, _COMMENT.sub(" ", style)).lower()
    pairs = (part.partition(":") for part in plain.split(";"))
    return {
        name.strip(): value.replace("!important", "").replace("! important", "").strip() for name, _, value in pairs
    }


def _unescape(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[2]
    code = int(escape[1], 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _number(value: str | None, default: float) -> float:
    """The leading number; of ``1em`` or ``50%`` too, since only zero and far off matter."""
    number = _NUMBER.match(value or "")
    return float(number.group()) if number else default


def _is_tiny(font_size: str) -> bool:
    number = _number(font_size, 16)
    return number == 0 or (number <= 1 and font_size.endswith(("px", "pt")))


class HiddenClasses:
    """The classes and ids that the page's own style sheets hide, as far as rules with one simple selector say so."""

    def __init__(self) -> None:
        self._hidden: set[str] = set()
        self._shown_with: dict[str, set[str]] = {}
        self._budget = LARGEST_SHEET

    def add_sheet(self, css: str) -> None:
        """Read the top-level rules of a style sheet. Rules inside ``@media`` and the like hold sometimes only."""
        css, self._budget = css[: self._budget], max(0, self._budget - len(css))
        depth = 0
        for part in _COMMENT.sub("", css).split("}"):
            *before, declarations = part.split("{")
            if depth == 0 and len(before) == 1:
                self._add_rule(before[0], declarations)
            depth = max(0, depth + len(before) - 1)

    def _add_rule(self, selectors: str, declarations: str) -> None:
        hides = conceals(declarations) != ""
        rules = _declarations(declarations)
        shows = not hides and ("display" in rules or "visibility" in rules or "opacity" in rules)
        if not hides and not shows:
            return
        for selector in map(str.strip, selectors.split(",")):
            if not _SIMPLE_SELECTOR.fullmatch(selector):
                names = _CLASSES.findall(selector)
                for name in names if shows else ():
                    self._shown_with.setdefault(name, set()).update(names)
            elif hides:
                self._hidden.add(selector)
            else:
                self._hidden.discard(selector)

    def __contains__(self, element: tuple[str, str, str]) -> bool:
        """Say whether an element ``(tag, class attribute, id)`` is hidden, and not shown for another of its classes."""
        tag, classes, ident = element
        if not self._hidden:
            return False
        names = classes.split()
        if ident and not self._hidden.isdisjoint((f"#{ident}", f"{tag}#{ident}")):
            return True
        return any(
            not self._hidden.isdisjoint((f".{name}", f"{tag}.{name}"))
            and self._shown_with.get(name, set()).isdisjoint(set(names) - {name})
            for name in names
        )
