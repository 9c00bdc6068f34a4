"""A megabyte that was made to be slow, asked whether it holds credentials."""

from __future__ import annotations

import time

import pytest

from chalicelib.domain.content_class import content_class


@pytest.mark.parametrize("text", ["#*-", "a ", "[REDACTED:", "password\n", "a.b, ", "[REDACTED:password]"])
def test_it_takes_linear_time(text: str) -> None:
    begin = time.process_time()
    content_class(text * (1_000_000 // len(text)))
    assert time.process_time() - begin < 2
