import re

from chalicelib.domain import outcome
from chalicelib.domain.outcome import Outcome


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


def test_only_a_page_that_is_not_there_can_be_gone() -> None:
    assert [word for word in Outcome if word.is_gone] == ["http_404"]
