"""Lines of text put together from the pieces of a page; the cells of a table's row share one."""

from __future__ import annotations

import re
from dataclasses import dataclass

CELL_EDGE = " | "

_NO_INK = re.compile("[\x00-\x20\x7f-\u00a0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u2069\ufeff\U000e0000-\U000e0fff]*")
_LONGEST_ROW = 1000
"""Characters of a table row that stay in one line."""


@dataclass(slots=True)
class _Row:
    """A table row that is open. Lines from ``cell_start`` on belong to its current cell."""

    table: int
    cell_start: int
    cells: int = 0
    holds_table: bool = False


class Lines:
    """Collects text. Blanks run together, unless the text is preformatted."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._cells = ""  # of the row so far, with an edge after the last: the next line follows in it
        self._line: list[str] = []
        self._inkless: list[str] = []
        self._preformatted = 0
        self._tables: list[bool] = []  # the open ones: do they have headings?
        self._rows: list[_Row] = []

    def text(self) -> str:
        """Everything so far."""
        self.end_line()
        return "".join(self._inkless) + "\n".join(self._lines)

    def add(self, text: str) -> None:
        """Append text to the current line."""
        self._line.append(text)

    def end_line(self) -> None:
        """End the line if something stands in it."""
        if not self._line:
            return
        text = "".join(self._line)
        self._line.clear()
        if self._preformatted:
            text = text.strip("\n").rstrip()
        else:
            text = " ".join(text.split())
            if text.endswith("¶"):  # the anchor that documentation puts behind a heading
                text = text[:-1].rstrip()
        if not text.isprintable() and _NO_INK.fullmatch(text):
            self._inkless.append(text)  # makes no line, but is counted by who cleans the text
        elif text:
            self._lines.append(self._cells + text)
            self._cells = ""

    def break_line(self) -> None:
        """``<br>``: where lines are kept it makes one, elsewhere it ends one."""
        if self._preformatted:
            self._line.append("\n")
        else:
            self.end_line()

    def open_preformatted(self) -> None:
        """From here on lines and blanks are kept."""
        self.end_line()
        self._preformatted += 1

    def close_preformatted(self) -> None:
        """Undo one `open_preformatted`."""
        self.end_line()
        self._preformatted -= 1

    def open_table(self) -> None:
        """Begin a table, which may stand in a cell of another."""
        self.end_line()
        if self._rows:
            self._rows[-1].holds_table = True
        self._tables.append(False)

    def close_table(self) -> None:
        """End the innermost table."""
        self.end_line()
        self._tables.pop()

    def open_row(self) -> None:
        """Begin a row of the innermost table."""
        self.end_line()
        self._rows.append(_Row(len(self._tables), len(self._lines)))

    def close_row(self) -> None:
        """End the innermost row; what is empty at its end is left out."""
        self.end_line()
        row = self._rows.pop()
        if row.cells:
            self._take_back(row)
            if cells := self._cells.rstrip(" |"):
                self._lines.append(cells)
            self._cells = ""

    def open_cell(self, *, is_heading: bool) -> None:
        """Separate the cell from the one before. An empty cell holds its place in a table that has headings."""
        self.end_line()
        row = self._rows[-1] if self._rows else None
        if row is None or row.table != len(self._tables):
            return
        if is_heading and self._tables:
            self._tables[-1] = True
        if row.cells and not self._take_back(row) and self._has_headings() and len(self._cells) < _LONGEST_ROW:
            self._cells += CELL_EDGE.lstrip()
        row.cells += 1
        row.cell_start = len(self._lines)

    def _has_headings(self) -> bool:
        return bool(self._tables) and self._tables[-1]

    def _take_back(self, row: _Row) -> bool:
        """Take the lines of the cell that ends back, so that the next cell follows in the same line.

        A table without headings may be there for layout: there only a single line is taken back.
        """
        lines = self._lines[row.cell_start :]
        text = " ".join(lines) if len(lines) != 1 else lines[0]
        is_one_line = text != "" and len(text) <= _LONGEST_ROW and not row.holds_table and "\n" not in text
        row.holds_table = False
        if is_one_line and (len(lines) == 1 or self._has_headings()):
            del self._lines[row.cell_start :]
            self._cells = text + CELL_EDGE
            return True
        return False
