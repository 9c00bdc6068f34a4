from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.ranking import DEFAULT_WEIGHTS, RRF_K, fuse

modest = settings(max_examples=50, deadline=None)

rankings = st.lists(st.integers(0, 30), unique=True, max_size=20)
weights = st.tuples(st.sampled_from([0.25, 0.5, 1.0, 2.0]), st.sampled_from([0.25, 0.5, 1.0, 2.0]))


def ids(fused: list[tuple[str, float]]) -> list[str]:
    return [identity for identity, _ in fused]


def test_a_hit_that_both_legs_know_comes_first() -> None:
    fused = fuse(["a", "b", "c"], ["d", "c"], weights=(1, 1))
    assert ids(fused) == ["c", "a", "d", "b"]
    assert dict(fused)["c"] == pytest.approx(1 / 63 + 1 / 62)


def test_equal_scores_are_ordered_by_id() -> None:
    assert ids(fuse(["b"], ["a"], weights=(1, 1))) == ["a", "b"]


def test_the_weight_of_a_leg_counts() -> None:
    assert ids(fuse(["v"], ["k"], weights=(0.5, 1.0))) == ["k", "v"]
    assert ids(fuse(["v"], ["k"])) == ["v", "k"], "by default meaning weighs more than words"
    assert DEFAULT_WEIGHTS.vector > DEFAULT_WEIGHTS.keyword > 0


def test_an_id_named_twice_counts_where_it_stands_first() -> None:
    assert fuse(["a", "b", "a", "c"], []) == fuse(["a", "b", "c"], [])


def test_there_are_as_many_weights_as_legs() -> None:
    with pytest.raises(ValueError, match="zip"):
        fuse(["a"], ["b"], weights=(1.0,))  # type: ignore[arg-type]


@given(rankings, rankings, weights)
@modest
def test_the_score_is_the_sum_over_the_legs(
    vector: list[int], keyword: list[int], weights: tuple[float, float]
) -> None:
    fused = fuse(vector, keyword, weights=weights)
    assert {identity for identity, _ in fused} == {*vector, *keyword}
    assert fused == sorted(fused, key=lambda item: (-item[1], item[0]))
    for identity, score in fused:
        exact = sum(
            Fraction(weight) / (RRF_K + ranking.index(identity) + 1)
            for ranking, weight in zip((vector, keyword), weights, strict=True)
            if identity in ranking
        )
        assert score == pytest.approx(float(exact))


@given(rankings, weights)
@modest
def test_one_leg_alone_keeps_its_order(ranking: list[int], weights: tuple[float, float]) -> None:
    assert ids(fuse(ranking, [], weights=weights)) == ranking
    assert ids(fuse([], ranking, weights=weights)) == ranking
