from __future__ import annotations

import pytest

from chalicelib.fetching import extract, json_text, text_lines


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> int:
    """Characters that a document may give in this test: few, so that one above it is quickly made and read."""
    for module in (extract, json_text, text_lines):
        monkeypatch.setattr(module, "MAX_CHARACTERS", 40_000)
    return 40_000
