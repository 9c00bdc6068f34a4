"""Lines of text put together from the pieces of a page; the cells of a table's row share one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from chalicelib.fetching.extracted import MAX_CHARACTERS, ExtractionError

CELL_EDGE = " | "

_NO_INK = re.compile("[\x00-\x20\x7f-\u00a0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u2069\ufeff\U000e0000-\U000e0fff]*")
_LONGEST_ROW = 1000
"""Characters of a table row that stay in one line."""
_LAST_COLUMN = 32
_LONGEST_SPAN = 1000
"""Rows that a cell may span, as in the HTML standard for columns."""


@dataclass(slots=True)
class _Table:
    """A table that is open. Its empty cells hold their place once it has headings or a row without an empty cell."""

    has_headings: bool = False
    has_columns: bool = False
    rows: int = 0
    covered: dict[int, int] = field(default_factory=dict)
    """The last row, counted from 1, that a cell above reaches down to, for each column."""


@dataclass(slots=True)
class _Row:
    """A table row that is open. Lines from ``cell_start`` on belong to its current cell."""

    table: int
    cell_start: int
    number: int = 0
    cells: int = 0
    column: int = 0
    span: int = 1
    is_full: bool = True
    holds_rows: bool = False


class Lines:
    """Collects text. Blanks run together, unless the text is preformatted."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._cells = ""  # of the row so far, with an edge after the last: the next line follows in it
        self._line: list[str] = []
        self._inkless: list[str] = []
        self._preformatted = 0
        self._tables: list[_Table] = []
        self._rows: list[_Row] = []
        self._room = MAX_CHARACTERS
        self.joined = 0
        """Lines that were looked at again to put a row's cells into one: the work that could grow with the depth."""

    def text(self) -> str:
        """Everything so far."""
        self.end_line()
        return "".join(self._inkless) + "\n".join(self._lines)

    def add(self, text: str) -> None:
        """Append text to the current line."""
        self._line.append(text)

    def end_line(self) -> None:
        """End the line if something stands in it. Raises `ExtractionError` when the text is too long."""
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
            self._spend(len(text))

    def _spend(self, characters: int) -> None:
        self._room -= characters
        if self._room < 0:
            raise ExtractionError("too_large", f"the document has more than {MAX_CHARACTERS} characters")

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
        self._tables.append(_Table())

    def close_table(self) -> None:
        """End the innermost table."""
        self.end_line()
        self._tables.pop()

    def open_row(self) -> None:
        """Begin a row of the innermost table."""
        self.end_line()
        if self._rows:
            self._rows[-1].holds_rows = True
        row = _Row(len(self._tables), len(self._lines))
        if self._tables:
            self._tables[-1].rows += 1
            row.number = self._tables[-1].rows
        self._rows.append(row)

    def close_row(self) -> None:
        """End the innermost row; what is empty at its end is left out."""
        self.end_line()
        row = self._rows.pop()
        if row.cells:
            row.is_full &= self._take_back(row)
            if row.is_full and row.cells > 1 and row.table == len(self._tables) > 0:
                self._tables[-1].has_columns = True
            if cells := self._cells.rstrip(" |"):
                self._lines.append(cells)
            self._cells = ""

    def open_cell(self, *, is_heading: bool, rows: int = 1, columns: int = 1) -> None:
        """Separate the cell from the one before; ``rows`` and ``columns`` are what it spans.

        An empty cell and a column that a cell above reaches into hold their place in a table that has columns.
        """
        self.end_line()
        row = self._rows[-1] if self._rows else None
        if row is None or row.table != len(self._tables):
            return
        table = self._tables[-1] if self._tables else _Table()
        table.has_headings |= is_heading
        if row.cells:
            is_taken = self._take_back(row)
            row.is_full &= is_taken
            self._hold_places(table, row.span - is_taken)
        while table.covered.get(row.column, 0) >= max(1, row.number):
            self._hold_places(table, 1)
            row.column += 1
        row.cells += 1
        row.cell_start = len(self._lines)
        row.span = min(columns, _LAST_COLUMN)
        if rows > 1:
            last = row.number + min(rows, _LONGEST_SPAN) - 1
            table.covered.update(dict.fromkeys(range(row.column, min(row.column + row.span, _LAST_COLUMN)), last))
        row.column += row.span

    def _hold_places(self, table: _Table, places: int) -> None:
        if (table.has_headings or table.has_columns) and len(self._cells) < _LONGEST_ROW:
            self._cells += CELL_EDGE.lstrip() * places
            self._spend(len(CELL_EDGE) * places)

    def _take_back(self, row: _Row) -> bool:
        """Take the lines of the cell that ends back, so that the next cell follows in the same line.

        A table without headings may be there for layout: there only a single line is taken back. A cell that holds
        rows is left as it is, unread: its lines would be read again at every level of a table in a table.
        """
        held_rows, row.holds_rows = row.holds_rows, False
        if held_rows:
            return False
        lines = self._lines[row.cell_start :]
        self.joined += len(lines)
        text = " ".join(lines) if len(lines) != 1 else lines[0]
        is_one_line = text != "" and len(text) <= _LONGEST_ROW and "\n" not in text
        if is_one_line and (len(lines) == 1 or (self._tables and self._tables[-1].has_headings)):
            del self._lines[row.cell_start :]
            self._cells = text + CELL_EDGE
            return True
        return False
