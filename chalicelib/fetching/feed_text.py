"""Feeds as text: RSS 0.9 to 2.0 and Atom. Each entry gives its title, its date and its text.

The HTML inside is read like a page. Of the feed itself title, description and language are metadata; its dates are left
out, since they change with every answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from chalicelib.fetching.html_text import HtmlText, read_html
from chalicelib.fetching.xml_text import local_name

FEED_ROOTS = frozenset({"rss", "feed", "rdf", "channel"})

_ENTRIES = frozenset({"item", "entry"})
_ATOM = "{http://www.w3.org/2005/Atom}"
_NAMESPACES = (
    _ATOM,
    "{http://purl.org/rss/1.0/}",
    "{http://purl.org/rss/1.0/modules/content/}",
    "{http://purl.org/dc/elements/1.1/}",
    "{http://my.netscape.com/rdf/simple/0.9/}",
)
_OF_FEED = frozenset({"title", "description", "subtitle", "language"})
# Of several texts of an entry the first of these counts; of several dates too.
_TEXTS = ("encoded", "content", "description", "summary")
_DATES = ("published", "pubDate", "date", "issued")
_OF_ENTRY = frozenset({"title", *_TEXTS, *_DATES})
# A title of RSS may say "a < b" or "Using <div>" in plain text, or be HTML.
_SURELY_HTML = re.compile(r"</[a-zA-Z]|<[a-zA-Z]+ ?/>|&#?\w{1,10};")


@dataclass
class _Field:
    """A child of the feed or of an entry; ``markup`` receives the elements in it, if there are any."""

    name: str
    kind: str
    depth: int
    raw: list[str] = field(default_factory=list)
    markup: HtmlText | None = None


class FeedText:
    """Receives the events of `parse_xml`."""

    def __init__(self, *, keep_hidden: bool = False) -> None:
        self.entries: list[str] = []
        self.title: str | None = None
        self.description: str | None = None
        self.language: str | None = None
        self.hidden_removed = 0
        self._keep_hidden = keep_hidden
        self._path: list[str] = []  # the names of the open elements
        self._entry_depth = 0
        self._entry: dict[str, str] | None = None
        self._field: _Field | None = None

    def text(self) -> str:
        """All entries, one after the other."""
        return "\n".join(self.entries)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """See `XmlTarget`."""
        name = local_name(tag)
        parent = self._path[-1] if self._path else ""
        self._path.append(name)
        if not parent:
            self.language = attributes.get("{http://www.w3.org/XML/1998/namespace}lang")
        if self._field is not None:
            self._markup(self._field).start(name.lower(), attributes)
        elif name in _ENTRIES:
            self._entry, self._entry_depth = {}, len(self._path)
        elif self._is_field(name, parent) and (tag.startswith(_NAMESPACES) or not tag.startswith("{")):
            kind = attributes.get("type", "text" if tag.startswith(_ATOM) else "")
            self._field = _Field(name, kind, len(self._path))

    def data(self, text: str) -> None:
        """See `XmlTarget`."""
        if self._field is not None:
            (self._field.markup.data if self._field.markup else self._field.raw.append)(text)

    def end(self, tag: str) -> None:
        """See `XmlTarget`."""
        if self._field is not None and self._field.depth == len(self._path):
            self._end_field(self._field)
        elif self._field is not None:
            self._markup(self._field).end(tag)
        elif local_name(tag) in _ENTRIES:
            self._end_entry()
        self._path.pop()

    def close(self) -> None:
        """See `XmlTarget`. What a broken feed leaves open counts as far as it goes."""
        if self._field is not None:
            self._end_field(self._field)
        self._end_entry()

    def _is_field(self, name: str, parent: str) -> bool:
        """A field is a child: the title of an image or of an entry's source is another thing's."""
        if self._entry is None:
            return name in _OF_FEED and parent.lower() in FEED_ROOTS
        return name in _OF_ENTRY and len(self._path) == self._entry_depth + 1

    def _markup(self, open_field: _Field) -> HtmlText:
        """Where the elements inside a field go: a page of its own, which begins with the text before them."""
        if open_field.markup is None:
            open_field.markup = HtmlText(keep_hidden=self._keep_hidden)
            open_field.markup.data("".join(open_field.raw))
        return open_field.markup

    def _end_field(self, done: _Field) -> None:
        self._field = None
        text = self._read(done)
        if self._entry is not None:
            self._entry.setdefault(done.name, text)
        elif done.name == "title":
            self.title = self.title or text
        elif done.name == "language":
            self.language = self.language or text
        else:
            self.description = self.description or text

    def _read(self, done: _Field) -> str:
        raw = "".join(done.raw)
        markup = done.markup
        if markup is None:
            is_html = done.kind != "text" and ("<" in raw or "&" in raw)
            if not is_html or (done.name == "title" and not done.kind and not _SURELY_HTML.search(raw)):
                return raw.strip() if done.name in _TEXTS else " ".join(raw.split())
            markup = read_html(raw, keep_hidden=self._keep_hidden)
        self.hidden_removed += markup.hidden_removed
        return markup.lines.text()

    def _end_entry(self) -> None:
        if self._entry is None:
            return
        texts = [self._entry[name] for name in _TEXTS if self._entry.get(name)]
        dates = [self._entry[name] for name in _DATES if self._entry.get(name)]
        self.entries.extend(filter(None, (self._entry.get("title"), *dates[:1], *texts[:1])))
        self._entry = None
