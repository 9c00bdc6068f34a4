"""The text of an HTML page as its reader sees it (spec 1.7, "Text form").

Block elements end a line and inline elements add nothing; a run of blanks is one space and a run of blank lines one
line end; ``pre`` keeps its lines and indentation; the cells of a row stand in one line, ``Plan | Price``. The title
stands apart. Of links the text is kept, of buttons and options too, each in a line of its own.

Not text: script, style, noscript, template, svg, comments, what frames and media show when they can't be shown, and
``alt`` of images for the same reason. What is hidden (`chalicelib.fetching.html_hiding`) is dropped, and counted if it
had text; ``keep_hidden`` keeps it, for pages that fold their answers away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from chalicelib.fetching.html_events import parse_html
from chalicelib.fetching.html_hiding import CONCEALMENTS, Hiding
from chalicelib.fetching.text_lines import Lines

_BLOCKS = (
    "address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p "
    "search section select summary tbody tfoot thead ul"
)
_PREFORMATTED = "pre listing xmp plaintext textarea"
_DROPPED = (
    "script noscript template svg iframe noembed noframes audio video canvas datalist annotation annotation-xml applet"
)
# Where one of these opens inside svg, HTML has left it (HTML standard, "any other start tag" in foreign content).
_LEAVE_SVG = (
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta "
    "nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
)
_LEAVES_SVG = frozenset(_LEAVE_SVG.split())
_HTML_IN_SVG = frozenset({"foreignobject", "desc", "title"})
AtEnd = Callable[[], None] | None


class HtmlText:
    """Receives the events of `parse_html` and of XHTML inside feeds."""

    def __init__(self, *, keep_hidden: bool = False) -> None:
        self.lines = Lines()
        self.title: str | None = None
        self.language: str | None = None
        self.canonical_url: str | None = None
        self.description: str | None = None
        self.hidden_removed = 0
        self.depth = 0
        self._keep_hidden = keep_hidden
        self._hiding = Hiding()
        self._at_end: list[AtEnd] = []  # of every open element
        self._dropping = ""  # why text is dropped here: a Concealment or a tag
        self._is_counted = False
        self._in_svg_html = 0
        self._aside: list[str] | None = None  # takes the text of title and style

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """See `Sink`."""
        self.depth += 1
        if not self._keep_hidden and (attributes or self._hiding.concerns(tag)) and self._dropping in CONCEALMENTS:
            self._at_end.append(self._start_styled(tag, attributes))
        elif self._dropping:
            self._at_end.append(self._start_in_dropped(tag, attributes))
        else:
            begin = _STARTS.get(tag)  # as `_begin`, without its call: most of the time goes here
            self._at_end.append(begin(self, attributes) if begin else None)

    def end(self, tag: str) -> None:
        """See `Sink`."""
        self.depth -= 1
        if self._at_end and (at_end := self._at_end.pop()):
            at_end()

    def data(self, text: str) -> None:
        """See `Sink`."""
        if self._dropping:
            if not self._is_counted and self._dropping in CONCEALMENTS and not text.isspace():
                self.hidden_removed += 1
                self._is_counted = True
        elif self._aside is not None:
            self._aside.append(text)
        else:
            self.lines.add(text)

    def close(self) -> None:
        """See `Sink`."""

    def flatten(self) -> None:
        """See `Sink`. What is hidden stays hidden, to the end."""
        self._at_end = [None] * len(self._at_end)

    def _start_styled(self, tag: str, attributes: Mapping[str, str]) -> AtEnd:
        """Begin an element that a style may hide, or show inside a hidden one."""
        before = self._hiding.paint
        why = self._hiding.inside(tag, attributes, self._dropping)
        at_end: AtEnd = None
        if why != self._dropping:
            at_end = self._drop(why, again=bool(why and self._dropping))
        if not why:
            at_end = _both(at_end, self._begin(tag, attributes))
        if self._hiding.paint is before:
            return at_end

        def restore() -> None:
            self._hiding.paint = before

        return _both(restore, at_end)

    def _drop(self, why: str, *, again: bool = False) -> Callable[[], None]:
        """Drop text until the element ends, or none if there is no reason why."""
        before = self._dropping
        self._dropping, self._is_counted = why, self._is_counted and again

        def restore() -> None:
            self._dropping = before

        return restore

    def _begin(self, tag: str, attributes: Mapping[str, str]) -> AtEnd:
        begin = _STARTS.get(tag)
        return begin(self, attributes) if begin else None

    def _start_in_dropped(self, tag: str, attributes: Mapping[str, str]) -> AtEnd:
        if self._dropping == "svg":
            if tag in _HTML_IN_SVG:
                self._in_svg_html += 1
                return self._leave_svg_html
            if tag in _LEAVES_SVG and not self._in_svg_html:
                self._dropping = ""
                return self._begin(tag, attributes)
        return None

    def _leave_svg_html(self) -> None:
        self._in_svg_html -= 1

    def _block(self, _: Mapping[str, str]) -> AtEnd:
        self.lines.end_line()
        return self.lines.end_line

    def _break(self, _: Mapping[str, str]) -> AtEnd:
        self.lines.break_line()
        return None

    def _preformatted(self, _: Mapping[str, str]) -> AtEnd:
        self.lines.open_preformatted()
        return self.lines.close_preformatted

    def _table(self, _: Mapping[str, str]) -> AtEnd:
        self.lines.open_table()
        return self.lines.close_table

    def _row(self, _: Mapping[str, str]) -> AtEnd:
        self.lines.open_row()
        return self.lines.close_row

    def _cell(self, attributes: Mapping[str, str], *, is_heading: bool = False) -> AtEnd:
        rows, columns = (_span(attributes.get(name, "1")) for name in ("rowspan", "colspan"))
        self.lines.open_cell(is_heading=is_heading, rows=rows, columns=columns)
        return None

    def _heading_cell(self, attributes: Mapping[str, str]) -> AtEnd:
        return self._cell(attributes, is_heading=True)

    def _title(self, _: Mapping[str, str]) -> AtEnd:
        if self.title is not None:
            return self._drop("title")
        self._aside = []
        return self._end_title

    def _end_title(self) -> None:
        self.title = "".join(self._aside or ())
        self._aside = None

    def _style(self, attributes: Mapping[str, str]) -> AtEnd:
        self._aside = []

        def end_style() -> None:
            css = "".join(self._aside or ())
            self._hiding.sheets.add_sheet(css, attributes.get("media", ""))
            self._hiding.has_other_sheets |= "@import" in css.lower()
            self._aside = None

        return end_style

    def _html(self, attributes: Mapping[str, str]) -> AtEnd:
        self.language = self.language or attributes.get("lang") or attributes.get("xml:lang")
        return self._block(attributes)

    def _meta(self, attributes: Mapping[str, str]) -> AtEnd:
        name = (attributes.get("name") or attributes.get("property") or "").lower()
        if name == "description" or (name == "og:description" and not self.description):
            self.description = attributes.get("content") or self.description
        return None

    def _link(self, attributes: Mapping[str, str]) -> AtEnd:
        rel = attributes.get("rel", "").lower().split()
        if "canonical" in rel:
            self.canonical_url = self.canonical_url or attributes.get("href")
        if "stylesheet" in rel:
            self._hiding.has_other_sheets = True
        return None


def _both(last: AtEnd, first: AtEnd) -> AtEnd:
    if last is None or first is None:
        return last or first

    def at_end() -> None:
        first()
        last()

    return at_end


def _span(value: str) -> int:
    """Rows or columns of a cell; what is no number counts as one."""
    digits = re.match(r"\s*([0-9]{1,4})", value)
    return max(1, int(digits[1])) if digits else 1


Start = Callable[[HtmlText, Mapping[str, str]], AtEnd]


def _dropping(tag: str) -> Start:
    return lambda page, _: page._drop(tag)


_STARTS: dict[str, Start] = {
    **dict.fromkeys(_BLOCKS.split(), HtmlText._block),
    **dict.fromkeys(_PREFORMATTED.split(), HtmlText._preformatted),
    **{tag: _dropping(tag) for tag in _DROPPED.split()},
    "br": HtmlText._break,
    "table": HtmlText._table,
    "tr": HtmlText._row,
    "td": HtmlText._cell,
    "th": HtmlText._heading_cell,
    "title": HtmlText._title,
    "style": HtmlText._style,
    "html": HtmlText._html,
    "meta": HtmlText._meta,
    "link": HtmlText._link,
}


def read_html(text: str, *, keep_hidden: bool = False) -> HtmlText:
    """Read a page or a fragment; the text is in ``lines``. Raises nothing and takes linear time."""
    page = HtmlText(keep_hidden=keep_hidden)
    parse_html(text, page)
    return page
