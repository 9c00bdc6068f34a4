"""What the command prints: tables for people, JSON for programs."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_AS_JSON, _OPTIONS = "larder.as_json", "larder.options"
_GAP = "  "
_ODD = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON leaves as it is and a terminal does not: DEL, C1, line separators, marks that turn text around, halves."""


def json_option(command: Command) -> Command:
    """Add ``--json``: the answer as JSON on stdout, a problem as JSON on stderr."""

    def remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.meta[_AS_JSON] = value
        options = (one for one in ctx.command.params if isinstance(one, click.Option))
        ctx.meta[_OPTIONS] = {one.name: one.opts[0] for one in options}

    option = click.option(
        "--json", is_flag=True, expose_value=False, is_eager=True, callback=remember, help="Print JSON."
    )
    return option(command)


def wants_json() -> bool:
    """Whether the command was called with ``--json``."""
    return bool(click.get_current_context().meta.get(_AS_JSON))


def emit(answer: Any, as_text: str) -> None:
    """Print the API's answer as JSON if that is asked for, else ``as_text``."""
    if wants_json():
        click.echo(as_json(answer))
    elif as_text:
        click.echo(printable(as_text.removesuffix("\n")))


def as_json(document: Any) -> str:
    """JSON for programs that does nothing to a terminal either: what would drive or reorder it is escaped."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return _ODD.sub(lambda odd: f"\\u{ord(odd[0]):04x}", text)


def in_options(detail: str, field: Any) -> str:
    """What the API says of ``field``, with the option that was given in its place: ``--cap`` for the night's cap."""
    option = click.get_current_context().meta.get(_OPTIONS, {}).get(field)
    return option + detail.removeprefix(field) if option and detail.startswith(f"{field}:") else detail


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]], *, empty: str) -> str:
    """Rows under their headings, each column as wide as it must be; ``empty`` where there are none."""
    if not rows:
        return empty
    lines = [list(headings), *([_cell(value) for value in row] for row in rows)]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(headings))]
    return "\n".join(_GAP.join(map(_padded, line, widths)).rstrip() for line in lines)


def pairs(rows: Sequence[tuple[str, Any]]) -> str:
    """Names and values, one pair a line."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name.ljust(width)}{_GAP}{_cell(value)}" for name, value in rows)


def instant(text: str | None) -> str:
    """An instant of the API as local time, whole: it can be given back, as ``--at`` or ``--since``."""
    return datetime.fromisoformat(text).astimezone().isoformat() if text else ""


def to_the_second(text: str | None) -> str:
    """An instant of the API as local time, for those who only want to know about when."""
    return datetime.fromisoformat(text).astimezone().isoformat(timespec="seconds") if text else ""


def counted(number: int, noun: str) -> str:
    """A number and its noun: ``1 part``, ``2 parts``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def duration(seconds: int | None) -> str:
    """Seconds in the largest unit that they fill."""
    if seconds is None:
        return ""
    unit, size = next(
        ((name, size) for name, size in (("d", 86_400), ("h", 3600), ("min", 60)) if seconds >= size), ("s", 1)
    )
    return f"{seconds // size} {unit}"


def printable(text: str) -> str:
    """``text`` without what would drive or reorder a terminal: pages and providers are strangers' words."""
    return _ODD.sub(
        "\ufffd",
        "".join(
            character if character in "\n\t" or unicodedata.category(character) != "Cc" else "\ufffd"
            for character in text
        ),
    )


def in_line(text: str) -> str:
    """A title or an address on one line, so that it can't pass for the lines that follow."""
    return " ".join(text.split())


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else in_line(str(value))


def _width(text: str) -> int:
    """Columns that a terminal gives the text: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
