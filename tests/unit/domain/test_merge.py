from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.merge import Batch, merge


def batch(priority: int, *items: tuple[str, float | None], scoring: bool = False) -> Batch[str]:
    return Batch(priority, scoring, items)


def test_priority_goes_before_score() -> None:
    low = batch(2, ("best", 0.99), scoring=True)
    high = batch(1, ("first", 0.01), scoring=True)
    assert merge([low, high], 10) == ["first", "best"]


def test_inside_one_priority_the_higher_score_goes_ahead() -> None:
    assert merge([batch(1, ("a", 0.2), scoring=True), batch(1, ("b", 0.9), scoring=True)], 10) == ["b", "a"]


def test_equal_scores_keep_the_order_of_registration() -> None:
    batches = [batch(1, ("a1", 0.5), ("a2", 0.5), scoring=True), batch(1, ("b1", 0.5), scoring=True)]
    assert merge(batches, 10) == ["a1", "a2", "b1"]


def test_the_others_follow_in_turns() -> None:
    batches = [
        batch(1, ("x1", 0.99), ("x2", None)),  # a score that is not declared to mean anything
        batch(1, ("s1", 0.9), ("s2", 0.1), scoring=True),
        batch(1, ("y1", None), ("y2", None), ("y3", None)),
    ]
    assert merge(batches, 10) == ["s1", "s2", "x1", "y1", "x2", "y2", "y3"]


def test_a_scoring_providers_result_without_a_score_goes_behind_the_scored() -> None:
    batches = [batch(1, ("none", None), ("half", 0.5), scoring=True), batch(1, ("tiny", -7.0), scoring=True)]
    assert merge(batches, 10) == ["half", "tiny", "none"]


def test_the_same_document_of_two_registrations_answers_twice() -> None:
    assert merge([batch(1, ("d1", None)), batch(1, ("d1", None))], 10) == ["d1", "d1"]


def test_the_limit_cuts_after_the_merge() -> None:
    batches = [batch(5, *((f"late{n}", None) for n in range(9))), batch(1, ("early", None))]
    assert merge(batches, 2) == ["early", "late0"]


def test_nobody_asked_is_an_empty_answer() -> None:
    assert merge([], 10) == merge([batch(1)], 10) == []


_BATCHES = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.booleans(),
        st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), max_size=4),
    ),
    max_size=5,
)


@settings(max_examples=40, deadline=None)
@given(_BATCHES, st.integers(1, 8))
def test_nothing_is_lost_doubled_or_out_of_its_priority(
    given_batches: list[tuple[int, bool, list[float | None]]], limit: int
) -> None:
    batches = [
        Batch(priority, scoring, [((priority, number, place), score) for place, score in enumerate(scores)])
        for number, (priority, scoring, scores) in enumerate(given_batches)
    ]
    everything = [item for one in batches for item, _ in one.items]
    merged = merge(batches, len(everything) + 1)
    assert sorted(merged) == sorted(everything)
    assert [item[0] for item in merged] == sorted(item[0] for item in everything)
    assert merge(batches, limit) == merged[:limit]
