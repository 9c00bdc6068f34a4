import re

import pytest

from chalicelib.domain import outcome
from chalicelib.domain.outcome import Outcome, of_http_status


def test_every_word_is_explained_once_and_in_order() -> None:
    explained = re.findall(r"^``(\w+)``  ", outcome.__doc__ or "", re.MULTILINE)
    assert explained == [word.value for word in Outcome]


def test_only_a_check_that_ended_well_moves_the_freshness_clock() -> None:
    assert {word for word in Outcome if word.is_success} == {"new_version", "unchanged"}


def test_waiting_for_a_person_and_being_switched_off_are_neither_success_nor_failure() -> None:
    assert {word for word in Outcome if not word.is_success and not word.is_failure} == {
        "needs_review",
        "skipped_inactive",
    }
    assert not any(word.is_success and word.is_failure for word in Outcome)


def test_what_was_skipped_was_not_attempted() -> None:
    assert [word for word in Outcome if not word.was_attempted] == ["skipped_inactive"]


@pytest.mark.parametrize(
    ("status", "word"),
    [
        *[(status, None) for status in (200, 203)],
        *[(status, "empty") for status in (204, 205)],
        *[(status, "unreachable") for status in (100, 101, 201, 202, 206, 226, 300, 301, 308)],
        *[(status, "http_403") for status in (401, 403, 407)],
        *[(status, "http_404") for status in (404, 410)],
        *[(status, "http_4xx") for status in (400, 402, 405, 406, 418, 421, 425, 451, 499)],
        (408, "timeout"),
        (429, "http_429"),
        *[(status, "http_5xx") for status in (500, 502, 503, 504, 511, 520, 599, 600, 999)],
    ],
)
def test_a_status_code_decides_alone_unless_there_is_a_page_to_read(status: int, word: str | None) -> None:
    assert of_http_status(status, conditional=True) == word
    assert of_http_status(status, conditional=False) == word


def test_a_304_is_good_only_if_it_was_asked_for() -> None:
    assert of_http_status(304, conditional=True) == "unchanged"
    assert of_http_status(304, conditional=False) == "unreachable"


def test_no_error_status_is_ever_content_or_success() -> None:
    for status in range(400, 1000):
        word = of_http_status(status, conditional=True)
        assert word is not None
        assert word.is_failure
