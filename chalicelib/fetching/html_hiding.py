"""Whether an element of a page is hidden where it stands: by its attributes, its style, the sheets and its colours."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.fetching.hidden_style import Concealment, Paint, Rules, conceals, painted, reveals
from chalicelib.fetching.html_sheets import Cascade, StyleSheets

CONCEALMENTS = frozenset({"", "gone", "font-size", "visibility", "colour"})
_NEVER_HIDDEN = frozenset({"html", "body", "head", "title", "meta", "link", "style", "script", "br"})
"""A page that hides itself whole waits for its script to show it."""
_OWN_COLOURS = frozenset({"button", "select", "textarea", "mark"})
_COLOUR_PROPERTIES = frozenset({"color", "background-color", "background-image"})
_TELLING = frozenset({"style", "hidden", "popover", "aria-hidden", "bgcolor", "color", "text", "background"})
_UNKNOWN = Paint()
_MILDEST_FIRST = ("", "colour", "visibility", "font-size", "gone")


class Hiding:
    """Follows a page from element to element. ``paint`` is that of the open one and must be set back at its end."""

    def __init__(self) -> None:
        self.sheets = StyleSheets()
        self.paint = _UNKNOWN
        self.has_other_sheets = False

    def concerns(self, tag: str) -> bool:
        """Say whether an element may be hidden though it has no attributes."""
        return tag == "dialog" or tag in _OWN_COLOURS or self.sheets.names(tag)

    def inside(self, tag: str, attributes: Mapping[str, str], around: str) -> str:
        """Say what hides the text of an element, inside one that is hidden by ``around`` or not at all."""
        if around == "gone" or self._says_nothing(tag, attributes):
            return around
        cascade = self.sheets.cascade(tag, attributes, _hints(tag, attributes))
        before, self.paint = self.paint, self._paint(cascade)
        if tag in _NEVER_HIDDEN:
            if self.paint.hides:
                self.paint = _UNKNOWN
            return around
        if attributes.get("aria-hidden", "").lower() == "true":
            return "gone"
        why: Concealment = conceals(cascade.base)
        if why:
            why = min((conceals(rules) for rules in cascade.readings()), key=_MILDEST_FIRST.index)
        if not why and self.paint != before and self.paint.hides:
            why = "colour"
        if why == "gone" or not around:
            return why
        is_shown = self.paint != before if around == "colour" else any(reveals(r, around) for r in cascade.readings())
        return why if is_shown else around

    def _says_nothing(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Say whether nothing is to be found out, as for most elements of most pages: this saves half of the time."""
        is_plain = tag != "dialog" and _TELLING.isdisjoint(attributes)
        return is_plain and self.paint is _UNKNOWN and self.sheets.are_empty

    def _paint(self, cascade: Cascade) -> Paint:
        """Colours that may be others in another reading, or under a sheet that isn't here, are not known."""
        around = _UNKNOWN if self.has_other_sheets else self.paint
        unsure = cascade.unsure & _COLOUR_PROPERTIES
        if not unsure and _COLOUR_PROPERTIES.isdisjoint(cascade.base):
            return around
        return painted(cascade.base, around) if not unsure else _UNKNOWN


def _hints(tag: str, attributes: Mapping[str, str]) -> Rules:
    """What HTML's own sheet and the attributes of old say; any style may say otherwise (HTML standard, "Rendering")."""
    hints: dict[str, str] = {}
    if tag in _OWN_COLOURS:
        hints = {"color": "buttontext", "background-color": "buttonface"}
    elif tag == "a" and "href" in attributes:
        hints = {"color": "#0000ee"}
    if attributes.get("hidden", "").strip().lower() == "until-found":
        hints["content-visibility"] = "hidden"
    elif "hidden" in attributes or "popover" in attributes or (tag == "dialog" and "open" not in attributes):
        hints["display"] = "none"
    for attribute, name in (("bgcolor", "background-color"), ("color" if tag == "font" else "text", "color")):
        if attribute in attributes and tag != "a":
            value = attributes[attribute].strip().lower()
            hints[name] = f"#{value}" if len(value) == 6 and set(value) <= set("0123456789abcdef") else value
    if "background" in attributes:
        hints["background-image"] = "some"
    return hints
