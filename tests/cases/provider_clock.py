"""The time of a case: the routes read it where they would read the clock, and words move it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

_ROUTES = [f"chalicelib.api.{name}.datetime" for name in ("resource", "widget", "own_provider", "knowledge")]
_UNITS = {"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86400}
_UNITS |= {"day": 86400}
_SPAN = r"(\d+(?:\.\d+)?) ?(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)?\b"
_FROM_START = re.compile(rf"(?:\bat |@ ?)?\bt(?:0?(?: ?\+ ?{_SPAN})|0\b(?! ?=))", re.I)
_LATER = re.compile(
    rf"(?:\b(?:after|waits?|sleep|advance|another|then)(?: for| by)?|\+) ?{_SPAN}(?: later)?"
    rf"|{_SPAN} (?:later|pass(?:es)?)\b",
    re.I,
)


@dataclass
class Clock:
    """Stands still until somebody moves it, but for a microsecond a look, so that what came later stays later."""

    start: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))
    elapsed: timedelta = timedelta(0)
    looks: int = 0

    @property
    def now(self) -> datetime:
        return self.start + self.elapsed

    def read(self) -> datetime:
        """The time, and never the same twice."""
        self.looks += 1
        return self.now + timedelta(microseconds=self.looks)

    def move(self, words: str) -> str:
        """Move to the time that ``words`` name, "at t0+61" or "61 s later"; what is left of them says what happens."""
        for pattern, is_offset in ((_FROM_START, False), (_LATER, True)):
            found = pattern.search(words)
            if found is not None:
                span = _seconds(found)
                self.elapsed = self.elapsed + span if is_offset else span
                return f"{words[: found.start()]} {words[found.end() :]}".strip(" ,:;")
        return words.strip()


def seconds(words: Any) -> float:
    """``90``, "90 s", "1 h" in seconds."""
    if isinstance(words, int | float):
        return words
    found = re.match(_SPAN, str(words))
    if found is None:
        raise ValueError(words)
    return float(found[1]) * _UNITS[_unit(found[2])]


def _seconds(found: re.Match[str]) -> timedelta:
    numbers = [(found[n], found[n + 1]) for n in range(1, found.re.groups, 2) if found[n]]
    return timedelta(seconds=float(numbers[0][0]) * _UNITS[_unit(numbers[0][1])]) if numbers else timedelta(0)


def _unit(word: str | None) -> str:
    word = (word or "s").lower()
    return word if word in _UNITS else word.removesuffix("s")


@contextmanager
def governing(clock: Clock) -> Iterator[None]:
    """While this lasts, the routes take their time from ``clock``."""

    class Told(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return clock.read()

    with ExitStack() as stack:
        for name in _ROUTES:
            stack.enter_context(mock.patch(name, Told))
        yield
