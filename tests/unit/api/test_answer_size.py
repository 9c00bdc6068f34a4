from __future__ import annotations

import json

import pytest

from chalicelib.api.resource import Output, encoded
from chalicelib.domain.answer_room import MAX_ANSWER
from chalicelib.errors import AnswerTooLarge


class Page(Output):
    """A page of text."""

    text: str


def test_text_in_any_script_goes_out_unescaped() -> None:
    """Two megabytes of windows-1251 are four in UTF-8, and would be twelve in escapes."""
    text = "Чайник красный. " * 130_000
    assert json.loads(encoded(Page(text=text))) == {"text": text}
    assert "Чайник" in encoded(Page(text=text))


@pytest.mark.parametrize("text", ["x" * MAX_ANSWER, '"' * 1_600_000, "\x01" * 900_000, "水" * 2_100_000])
def test_an_answer_that_lambda_would_not_carry_is_refused(text: str) -> None:
    with pytest.raises(AnswerTooLarge) as refused:
        encoded(Page(text=text))
    assert refused.value.extra == {"limit": MAX_ANSWER}
