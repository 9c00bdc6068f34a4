"""The difference of two versions of a page, line by line, as hunks and as unified text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from chalicelib.domain.line_matching import Matching, match

Op = Literal["equal", "delete", "insert"]
_PREFIX: dict[Op, str] = {"equal": " ", "delete": "-", "insert": "+"}


@dataclass(frozen=True)
class Change:
    """Lines in a row that are kept, gone or new. A line keeps its line feed; only the last of a text may have none."""

    op: Op
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Hunk:
    """Changes that stand close together, with their context.

    Starts count lines from 1; where a count is 0 the start is the line before, as in a unified diff.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Diff:
    """What changed: hunks in order, lines new and gone, and whether a part was replaced whole (``coarse``)."""

    hunks: tuple[Hunk, ...]
    inserted: int
    deleted: int
    coarse: bool

    def unified(self, old_name: str = "old", new_name: str = "new") -> str:
        """Return the diff in the unified format that ``patch`` reads; empty if nothing changed."""
        if not self.hunks:
            return ""
        return f"--- {old_name}\n+++ {new_name}\n" + "".join(_unified(hunk) for hunk in self.hunks)


def diff(old: str, new: str, *, context: int = 3) -> Diff:
    """Compare two texts by lines, with ``context`` equal lines around each change.

    A line ends with a line feed and nothing else. The time grows with the length of the texts, whatever they hold: see
    `line_matching`.
    """
    old_lines, new_lines = _lines(old), _lines(new)
    matching = match(old_lines, new_lines)
    edits = list(_edits(matching, len(old_lines), len(new_lines)))
    return Diff(
        hunks=tuple(_hunk(group, old_lines, new_lines, context) for group in _close_together(edits, context)),
        inserted=sum(edit.new_end - edit.new for edit in edits),
        deleted=sum(edit.old_end - edit.old for edit in edits),
        coarse=matching.coarse,
    )


def _lines(text: str) -> list[str]:
    """Split after each line feed; ``str.splitlines`` would also split at form feeds and the separators of Unicode."""
    *ended, rest = text.split("\n")
    return [f"{line}\n" for line in ended] + ([rest] if rest else [])


class _Edit(NamedTuple):
    """The lines ``old`` to ``old_end`` gave way to ``new`` to ``new_end`` (indices from 0, ends exclusive)."""

    old: int
    old_end: int
    new: int
    new_end: int


def _edits(matching: Matching, old_size: int, new_size: int) -> Iterator[_Edit]:
    """Yield what stands between the blocks."""
    old = new = 0
    for block in [*matching.blocks, None]:
        old_end, new_end = (block.old, block.new) if block else (old_size, new_size)
        if (old, new) != (old_end, new_end):
            yield _Edit(old, old_end, new, new_end)
        if block:
            old, new = block.old + block.size, block.new + block.size


def _close_together(edits: Sequence[_Edit], context: int) -> Iterator[list[_Edit]]:
    """Group edits whose contexts touch."""
    group: list[_Edit] = []
    for edit in edits:
        if group and edit.old - group[-1].old_end > 2 * context:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _hunk(edits: Sequence[_Edit], old: Sequence[str], new: Sequence[str], context: int) -> Hunk:
    before = min(context, edits[0].old)
    after = min(context, len(old) - edits[-1].old_end)
    old_begin, new_begin = edits[0].old - before, edits[0].new - before
    old_end, new_end = edits[-1].old_end + after, edits[-1].new_end + after
    changes: list[Change] = []
    here = old_begin
    for edit in edits:
        changes.append(Change("equal", tuple(old[here : edit.old])))
        changes.append(Change("delete", tuple(old[edit.old : edit.old_end])))
        changes.append(Change("insert", tuple(new[edit.new : edit.new_end])))
        here = edit.old_end
    changes.append(Change("equal", tuple(old[here:old_end])))
    return Hunk(
        old_start=old_begin + (old_end > old_begin),
        old_count=old_end - old_begin,
        new_start=new_begin + (new_end > new_begin),
        new_count=new_end - new_begin,
        changes=tuple(change for change in changes if change.lines),
    )


def _unified(hunk: Hunk) -> str:
    head = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@\n"
    return head + "".join(_unified_line(change.op, line) for change in hunk.changes for line in change.lines)


def _unified_line(op: Op, line: str) -> str:
    ending = "" if line.endswith("\n") else "\n\\ No newline at end of file\n"
    return f"{_PREFIX[op]}{line}{ending}"
