"""From a template and values to HTML; every value is escaped unless a template says otherwise."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chalicelib.ui import words

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, **shown: Any) -> str:
    """The template's text. Raises UndefinedError for a name that nobody gave it."""
    return _environment().get_template(template).render(shown)


@cache
def _environment() -> Environment:
    """Loaded with the first page: no other route needs it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "moment": _moment,
        "number": _number,
        "names": words.names,
        "decision": words.decision,
        "outcome": words.outcome,
    }
    return environment


def _moment(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def _number(count: int) -> str:
    return f"{count:,}".replace(",", "\u202f")
