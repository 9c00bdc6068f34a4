"""The catalogue is all that is sent and all of it is sent; a dimension has the words of its list and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from chalicelib import metrics
from chalicelib.domain.outcome import Outcome
from chalicelib.fetching.errors import Reason
from chalicelib.meter import Meter
from chalicelib.metrics import CATALOGUE, Metric
from tests import emf

PACKAGE = Path(metrics.__file__).parent
NAMED = {name: value for name, value in vars(metrics).items() if isinstance(value, Metric)}


def used(file: Path) -> Iterator[str]:
    """The metrics that a file takes samples of: ``metrics.NAME.of(…)`` or ``NAME.of(…)``, or ``refusals(…)``."""
    text = file.read_text(encoding="utf-8")
    if not re.search(r"\bof\b|\brefusals\b", re.sub(r'"""(.|\n)*?"""|#.*', "", text)):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "of":
            taken = node.func.value
            name = taken.attr if isinstance(taken, ast.Attribute) else getattr(taken, "id", "")
            if name in NAMED:
                yield name
        if getattr(node, "attr", getattr(node, "id", "")) == "refusals":
            yield "GUARD_REFUSALS"


FILES = [file for file in PACKAGE.rglob("*.py") if file != PACKAGE / "metrics.py"]


def test_every_metric_is_in_the_catalogue_once() -> None:
    assert list(NAMED.values()) == list(CATALOGUE)
    assert len({metric.name for metric in CATALOGUE}) == len(CATALOGUE)


def test_every_metric_is_sent_somewhere() -> None:
    assert {name for file in FILES for name in used(file)} == set(NAMED)


def test_nothing_is_sent_but_what_the_catalogue_has() -> None:
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\bSample\(|\bMetric\(|CloudWatchMetrics|single_metric", text), file
        if file.name != "meter.py":
            assert not re.search(r"\badd_metric\b|EphemeralMetrics", text), file


def test_the_domain_and_the_storage_send_nothing() -> None:
    for folder in ("domain", "storage", "fetching", "embedding", "queueing", "knowledge"):
        for file in (PACKAGE / folder).rglob("*.py"):
            assert not re.search(r"chalicelib(\.| import )(metrics|meter)\b", file.read_text(encoding="utf-8")), file


@pytest.mark.parametrize("metric", CATALOGUE, ids=lambda metric: metric.name)
def test_a_metric_has_a_name_as_cloudwatch_has_them_and_a_sentence(metric: Metric) -> None:
    assert re.fullmatch(r"([A-Z][a-z]+)+", metric.name)
    assert metric.unit in ("Count", "Milliseconds")
    assert metric.help.endswith(".")
    if metric.dimension is not None:
        assert metric.dimension.words, "a dimension has a closed list"
        assert all(re.fullmatch(r"[a-z0-9_]+", word) for word in metric.dimension.words)


def test_the_words_are_those_of_the_code() -> None:
    assert metrics.REFRESHES.dimension is not None
    assert metrics.REFRESHES.dimension.words == set(Outcome)
    for reason in Reason:
        samples = metrics.refusals([reason.value, None])
        assert [one.word for one in samples] == ([reason.partition(":")[2]] if reason.status == "refused" else [])


@pytest.mark.parametrize("metric", [m for m in CATALOGUE if m.dimension], ids=lambda metric: metric.name)
@pytest.mark.parametrize(
    "word", ["", "10.0.0.1", "https://example.com/", "7f9c24e5-2f0c-4f8d-9d3c-2a1f0c9d8e7b", "Acme"]
)
def test_a_word_that_is_in_no_list_counts_as_other(metric: Metric, word: str) -> None:
    assert metric.of(1, word).word == "other"


def test_a_line_bears_the_deployments_name_and_the_word(capsys: pytest.CaptureFixture[str]) -> None:
    Meter("larder-dev").emit(
        metrics.TICKS_DONE.of(),
        metrics.SOURCES_DUE.of(7),
        metrics.REFRESHES.of(1, "refused"),
        metrics.QUEUE_AGE.of(2.5),
    )
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 2, "one for what has no dimension, one for what has"
    points = {point.name: point for point in emf.read(out)}
    assert {point.namespace for point in points.values()} == {"Larder"}
    assert points["SourcesDue"].dimensions == {("service", "larder-dev")}
    assert points["Refreshes"].dimensions == {("service", "larder-dev"), ("status", "refused")}
    assert (points["QueueAge"].value, points["QueueAge"].unit) == (2.5, "Milliseconds")


def test_nothing_measured_is_nothing_written(capsys: pytest.CaptureFixture[str]) -> None:
    Meter("larder").emit()
    assert capsys.readouterr().out == ""
