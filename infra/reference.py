"""Writes docs/reference from the code: settings, routes, error codes, status words, metrics.

    python -m infra.reference

A test holds the pages to what this writes, so what a user can see is documented.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from chalicelib import errors
from chalicelib.api import resources
from chalicelib.api.resource import NoQuery, Route
from chalicelib.domain import outcome
from chalicelib.domain.outcome import Outcome
from chalicelib.metrics import CATALOGUE, NAMESPACE
from chalicelib.settings import VARIABLES

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTE = "<!-- written by `python -m infra.reference` -->\n"
_TOKENS = {
    "open": "none",
    "read": "API token",
    "write": "API token and admin token",
    "consumer": "agent or assistant token",
    "widget": "widget token",
    "signed": "signature",
    "unsigned": "none",
}


def pages() -> dict[str, str]:
    """The text of each page by its file's name."""
    return {
        "settings.md": NOTE + "\n".join(_settings()) + "\n",
        "routes.md": NOTE + "\n".join(_routes()) + "\n",
        "errors.md": NOTE + "\n".join(_errors()) + "\n",
        "statuses.md": NOTE + "\n".join(_statuses()) + "\n",
        "metrics.md": NOTE + "\n".join(_metrics()) + "\n",
    }


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def _settings() -> Iterator[str]:
    yield "# Settings\n"
    yield "Environment variables of the functions. The template has a parameter for each, or fills it in itself.\n"
    yield "| Variable | Default | Meaning |"
    yield "|---|---|---|"
    for variable in sorted(VARIABLES.values(), key=lambda variable: variable.name):
        default = (
            "must be set" if variable.default is None else f"`{variable.default}`" if variable.default else "unset"
        )
        yield f"| `{variable.name}` | {default} | {variable.help} |"


def _routes() -> Iterator[str]:
    yield "# Routes\n\nThe whole of it, with every field, is `/v1/openapi.json`.\n"
    yield "| Route | Token | What it does | Fields | Answers |"
    yield "|---|---|---|---|---|"
    for resource in resources():
        for route in resource.routes:
            yield _route(route)


def _route(route: Route) -> str:
    fields = [f"`{field.alias or name}`" for name, field in route.body.model_fields.items()]
    if route.query is not NoQuery:
        fields += [f"`?{field.alias or name}`" for name, field in route.query.model_fields.items()]
    answers = ", ".join(str(status) for status in route.answers)
    cells = (f"`{route.method} {route.path}`", _TOKENS[route.access], route.summary, " ".join(fields), answers)
    return f"| {' | '.join(cells)} |"


def _errors() -> Iterator[str]:
    yield "# Errors\n"
    yield "`application/problem+json` (RFC 9457). `code` is one of these, or a more exact one of the same status.\n"
    yield "| Status | Code | When |"
    yield "|---|---|---|"
    kinds = sorted(_problems(errors.Problem), key=lambda kind: (kind.status, kind.code))
    for kind in kinds:
        yield f"| {kind.status} | `{kind.code}` | {(kind.__doc__ or '').strip().splitlines()[0]} |"


def _problems(kind: type[errors.Problem]) -> Iterator[type[errors.Problem]]:
    for child in kind.__subclasses__():
        if child.__module__ == "chalicelib.errors":
            yield child
        yield from _problems(child)


def _statuses() -> Iterator[str]:
    yield "# Status words\n\nHow an attempt to refresh a source ended; all that a tenant learns of it.\n"
    yield "| Word | What it tells |"
    yield "|---|---|"
    meanings = dict(_meanings())
    for word in Outcome:
        yield f"| `{word}` | {meanings[word]} |"


def _metrics() -> Iterator[str]:
    yield "# Metrics\n"
    yield f"Namespace `{NAMESPACE}` of CloudWatch, under the dimension `service`, which is the stack's name, and under"
    yield "one more where there is one. Its words are a closed list, and `other`.\n"
    yield "| Metric | Unit | By | What it counts or measures |"
    yield "|---|---|---|---|"
    for metric in CATALOGUE:
        by = f"`{metric.dimension.name}`" if metric.dimension else ""
        yield f"| `{metric.name}` | {metric.unit} | {by} | {metric.help} |"
    dimensions = {metric.dimension.name: metric.dimension for metric in CATALOGUE if metric.dimension}
    for name, dimension in dimensions.items():
        yield f"\n`{name}`: {', '.join(f'`{word}`' for word in sorted(dimension.words))}."


def _meanings() -> Iterator[tuple[str, str]]:
    for line in (outcome.__doc__ or "").splitlines():
        word, _, meaning = line.partition("  ")
        if word.startswith("``") and word.endswith("``"):
            yield word.strip("`"), meaning.strip()


if __name__ == "__main__":
    main()
