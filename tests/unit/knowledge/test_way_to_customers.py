"""The way to customers imports nothing that can name a provider for agents (spec 3.5)."""

from __future__ import annotations

from pathlib import Path

import grimp
import pytest

import chalicelib

ROOT = Path(chalicelib.__file__).parent
WAYS = ("chalicelib.api.widget", "chalicelib.services.widget", "chalicelib.services.public_search")
INSIDE = {
    *("chalicelib.storage.providers", "chalicelib.services.providers", "chalicelib.services.provider_checks"),
    *(
        "chalicelib.services.provider_secrets",
        "chalicelib.services.knowledge_search",
        "chalicelib.services.own_provider",
    ),
    *("chalicelib.services.knowledge_cache", "chalicelib.api.knowledge", "chalicelib.api.providers"),
    *("chalicelib.api.own_provider", "chalicelib.api.assistants"),
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("chalicelib", cache_dir=None)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_it_imports_is_of_the_inside(graph: grimp.ImportGraph, way: str) -> None:
    assert graph.find_upstream_modules(way) & INSIDE == set()
    assert graph.modules >= INSIDE, "a module was renamed"


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_it_imports_has_a_word_for_it(graph: grimp.ImportGraph, way: str) -> None:
    for module in {way, *graph.find_upstream_modules(way)}:
        path = ROOT.parent.joinpath(*module.split("."))
        source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        assert "agent_only" not in source.read_text(encoding="utf-8"), module
