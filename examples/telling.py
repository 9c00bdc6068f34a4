"""How the demo talks: progress with elapsed times, and a table of what was true after each step."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime

MARKS = {True: "✓", False: "✗", None: "·"}
"""True, false, and what is told without being judged."""

Row = tuple[bool | None, Sequence[object]]

QUIET_SECONDS = 10.0
"""After so long a silence a wait says that it still waits."""


class Telling:
    """Counts what was true; ``clock`` is in seconds."""

    def __init__(self, write: Callable[[str], None] = print, clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._began = self._spoke = clock()
        self.true = self.false = 0

    def restart(self) -> None:
        """Count the time from here on."""
        self._began = self._clock()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._began

    def step(self, title: str) -> None:
        """A new step."""
        self._write(f"\n{title}\n{'─' * len(title)}")

    def say(self, text: str) -> None:
        """One line of progress."""
        self._spoke = self._clock()
        self._write(f"[{self.elapsed:6.1f} s] {text}")

    def still(self, text: str) -> None:
        """The same, if nothing was said for a while."""
        if self._clock() - self._spoke >= QUIET_SECONDS:
            self.say(text)

    def table(self, headings: Sequence[str], rows: Sequence[Row]) -> None:
        """What was seen, each row with its mark."""
        self.true += sum(mark is True for mark, _ in rows)
        self.false += sum(mark is False for mark, _ in rows)
        lines = [["", *headings], *([MARKS[mark], *(_cell(value) for value in cells)] for mark, cells in rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        for line in lines:
            self._write("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())

    def text(self, text: str) -> None:
        """Words as they are, set in."""
        for line in text.splitlines():
            self._write(f"    {line}")


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        return value.strftime("%H:%M:%S")
    return "–" if value is None else " ".join(str(value).split())
