"""What a user can see is documented: the pages are what the code says now."""

from __future__ import annotations

import pytest

from infra import reference


@pytest.mark.parametrize("name", ["settings.md", "routes.md", "errors.md", "statuses.md", "metrics.md"])
def test_the_reference_is_what_the_code_says(name: str) -> None:
    written = (reference.FOLDER / name).read_text(encoding="utf-8")
    assert written == reference.pages()[name], "run: python -m infra.reference"
