from __future__ import annotations

import pytest

from chalicelib.domain.provider_failure import STATUS_WORDS, FailureClass, of_status


@pytest.mark.parametrize(
    ("statuses", "failure"),
    [
        ([200], None),
        ([408, 425, 429, 500, 502, 503, 504, 599], FailureClass.TRANSIENT),
        ([401, 403, 407], FailureClass.CONFIGURATION),
        ([201, 202, 203, 204, 206, 301, 302, 304, 307, 308, 400, 404, 405, 410, 413, 415, 422], FailureClass.CONTRACT),
    ],
)
def test_the_class_of_a_status(statuses: list[int], failure: FailureClass | None) -> None:
    assert {of_status(status) for status in statuses} == {failure}


def test_every_class_has_its_word() -> None:
    assert set(STATUS_WORDS) == set(FailureClass)
