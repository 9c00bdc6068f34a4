"""What a page's own style sheets say of an element, as far as that is sure (CSS Cascade 4, Selectors 4).

A rule that is sure has one compound of element, classes, id and attributes, and stands outside conditions other than
the screen. All other rules (``div .x``, ``.x:not(.y)``, ``@media (min-width: 40em)``) may hold or not: each makes
another reading of the elements it could match, and only what is hidden in every reading is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from chalicelib.fetching.hidden_style import COMMENT, Rules, declarations

LARGEST_SHEET = 200_000
"""Characters of style sheets that are looked at in one page."""
MOST_COMPARISONS = 300_000
"""Rules times elements that are looked at in one page; behind them no sheet hides anything."""
_MOST_READINGS = 20
_NOTHING: frozenset[str] = frozenset()

_TOKEN = re.compile(r"[{}]")
_STRING = re.compile(r""""(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?""", re.DOTALL)
_NAME = r"(?:[\w-]|\\.){1,100}"
_COMPOUND = re.compile(rf"(?P<tag>[a-z][\w-]{{0,30}}|\*)?(?P<rest>(?:[.#]{_NAME}|\[[\w-]{{1,50}}\])*)", re.IGNORECASE)
_PART = re.compile(rf"([.#\[])({_NAME})")
_ATTRIBUTE_VALUE = re.compile(r"\[\s*([\w-]{1,50})\s*[~|^$*]?=[^\[\]]*\]")
_PSEUDO_ELEMENT = re.compile(r"::|(?<!\\):(?:before|after|first-line|first-letter)\b")
_PSEUDO_CLASS = re.compile(r"(?<!\\):[\w-]+(?:\([^()]*\))?")
_POINTED_AT = re.compile(r"(?<!\\):(?:hover|focus|active)[\w-]*$")  # what is hidden can't be pointed at
_SURE_MEDIA = frozenset({"", "all", "screen", "only screen", "only all"})
_OTHER_MEDIA = re.compile(r"(?:only\s+)?(?:print|speech|aural|embossed|braille|tty)\b")
_PROPERTIES = (
    "display visibility opacity filter content-visibility font font-size position left right top bottom text-indent "
    "margin-left margin-top width height max-width max-height min-width min-height overflow overflow-x overflow-y "
    "padding padding-top padding-bottom clip clip-path transform scale translate color background background-color "
    "background-image background-clip -webkit-background-clip text-shadow"
)
_KNOWN = frozenset(_PROPERTIES.split())


@dataclass(frozen=True, slots=True)
class _Rule:
    parts: frozenset[str]
    weight: tuple[int, int, int]
    is_sure: bool
    ordinary: Rules
    important: Rules


@dataclass(frozen=True, slots=True)
class Cascade:
    """All that is said of an element. ``unsure`` are the properties that hold sometimes only."""

    base: Rules
    unsure: frozenset[str]
    others: Callable[[], Iterator[Rules]]

    def readings(self) -> Iterator[Rules]:
        """The declarations that hold for sure, then those of every other reading."""
        yield self.base
        yield from self.others()


class StyleSheets:
    """The rules of all ``<style>`` elements so far, found by what they need an element to have."""

    def __init__(self) -> None:
        self._rules: dict[str, list[_Rule]] = {}
        self._cascades: dict[tuple[frozenset[str], str, tuple[tuple[str, str], ...]], Cascade] = {}
        self._order = 0
        self._budget = LARGEST_SHEET
        self._comparisons = MOST_COMPARISONS

    @property
    def are_empty(self) -> bool:
        """Say whether there is no rule that could hide or show anything."""
        return not self._rules

    def names(self, tag: str) -> bool:
        """Say whether an element without attributes may have rules."""
        return tag in self._rules or "*" in self._rules

    def add_sheet(self, css: str, media: str = "") -> None:
        """Read a sheet. Rules for other media than screens are left out."""
        self._cascades.clear()
        css, self._budget = css[: self._budget], max(0, self._budget - len(css))
        css = _STRING.sub("''", COMMENT.sub(" ", css)).replace("<!--", " ").replace("-->", " ")
        css += "}" * (css.count("{") - css.count("}"))
        blocks: list[tuple[str, bool | None, list[str]]] = [("@", _holds(media), [])]  # prelude, is sure, declarations
        at = 0
        for token in _TOKEN.finditer(css):
            text, at = css[at : token.start()], token.end()
            prelude, sure, inside = blocks[-1]
            if token.group() == "{":
                before, _, opened = text.rpartition(";")
                inside.append(before)
                opened = opened.strip()
                inner = _inside(opened, prelude, sure)
                is_of_rule = opened.startswith("@") and not prelude.startswith("@")
                blocks.append((prelude, inner and False, []) if is_of_rule else (opened, inner, []))
            elif len(blocks) > 1:
                blocks.pop()
                if sure is not None and not prelude.startswith("@"):
                    self._add_rule(prelude, sure, ";".join((*inside, text)))

    def _add_rule(self, selectors: str, is_sure: bool, style: str) -> None:
        ordinary, important = (
            {name: value for name, value in part.items() if name in _KNOWN} for part in declarations(style)
        )
        if not ordinary and not important:
            return
        for selector in _PSEUDO_CLASS.sub(lambda pseudo: pseudo[0].replace(",", " "), selectors).split(","):
            if (subject := _subject(selector.strip())) is None:
                continue
            parts, is_whole = subject
            kinds = [part[0] for part in parts]
            self._order += 1
            classes = kinds.count(".") + kinds.count("[")
            weight = (kinds.count("#"), 1000 * classes + len(parts) - classes - kinds.count("#"), self._order)
            key = min(parts, key=lambda part: "#.[".find(part[0]) % 4, default="*")
            rule = _Rule(frozenset(parts), weight, is_sure and is_whole, ordinary, important)
            self._rules.setdefault(key, []).append(rule)

    def cascade(self, tag: str, attributes: Mapping[str, str], hints: Rules) -> Cascade:
        """Put together what an element's attributes (``hints``), the sheets and its own ``style`` say."""
        style = attributes.get("style", "")
        has = self._parts(tag, attributes) if self._rules else _NOTHING
        key = (has, style, tuple(hints.items()))
        cascade = self._cascades.get(key)
        if cascade is None:
            cascade = self._cascades[key] = _cascade(self._matching(has), style, hints)
        return cascade

    @staticmethod
    def _parts(tag: str, attributes: Mapping[str, str]) -> frozenset[str]:
        """What a selector can ask for, as it is written there."""
        has = {tag, *("." + name for name in attributes.get("class", "").split()), *("[" + name for name in attributes)}
        if "id" in attributes:
            has.add("#" + attributes["id"])
        return frozenset(has)

    def _matching(self, has: frozenset[str]) -> list[_Rule]:
        candidates = [rule for key in (*has, "*") for rule in self._rules.get(key, ())]
        self._comparisons -= len(candidates)
        if self._comparisons < 0:
            self._rules = {}
            return []
        return sorted((rule for rule in candidates if rule.parts <= has), key=lambda rule: rule.weight)


def _cascade(rules: list[_Rule], style: str, hints: Rules) -> Cascade:
    own, own_important = declarations(style)
    sure = [rule for rule in rules if rule.is_sure]
    unsure = [rule for rule in rules if not rule.is_sure]

    def reading(*more: _Rule) -> Rules:
        ordinary = [rule.ordinary for layer in (sure, more) for rule in layer]
        important = [rule.important for layer in (sure, more) for rule in layer]
        merged: dict[str, str] = {}
        for declared in (hints, *ordinary, own, *important, own_important):
            merged.update(declared)
        return merged

    def others() -> Iterator[Rules]:
        yield from (reading(rule) for rule in unsure[:_MOST_READINGS])
        if len(unsure) > 1:
            yield reading(*unsure)

    names = frozenset(name for rule in unsure for name in (*rule.ordinary, *rule.important))
    return Cascade(reading(), names, others)


def _holds(media: str) -> bool | None:
    """Say whether a media query list holds on a screen: for sure, sometimes (False), or never (None)."""
    queries = [" ".join(query.split()) for query in media.lower().split(",")]
    if not _SURE_MEDIA.isdisjoint(queries):
        return True
    return None if all(map(_OTHER_MEDIA.match, queries)) else False


def _inside(opened: str, prelude: str, sure: bool | None) -> bool | None:
    """Say for a block whether what is in it holds: as what is around it, or less."""
    if sure is None:
        return None
    if not opened.startswith("@"):
        return sure and prelude.startswith("@")  # a rule in a rule needs its ancestor
    if opened.lower().startswith("@media"):
        return _holds(opened[6:]) and sure
    return False if opened.lower().startswith(("@supports", "@layer", "@container", "@scope", "@starting")) else None


def _subject(selector: str) -> tuple[list[str], bool] | None:
    """Return what the element of a selector must have, and whether that is all that the selector asks for."""
    if _PSEUDO_ELEMENT.search(selector) or _POINTED_AT.search(selector):
        return None
    plain = _ATTRIBUTE_VALUE.sub(r"[\1]", selector)
    root = plain.replace(":root", "html")
    for _ in range(4):  # as deep as :not(:is(…)) goes
        root = _PSEUDO_CLASS.sub("", root)
    *before, last = re.split(r"(?<!\\)[\s>+~]+", root.replace("&", ""))
    compound = _COMPOUND.fullmatch(last)
    if compound is None:
        return None
    parts = [mark + re.sub(r"\\(.)", r"\1", name) for mark, name in _PART.findall(compound["rest"])]
    if compound["tag"] not in (None, "*"):
        parts.append(compound["tag"].lower())
    return parts, not before and root == selector
