from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.line_matching import Block, Matching, match

modest = settings(max_examples=50, deadline=None)

few_lines = st.lists(st.sampled_from("abcdef"), max_size=30)
many_lines = st.lists(st.integers(0, 60), max_size=60)


def common(old: list, new: list) -> int:
    """The length of a longest common subsequence, by the textbook's table."""
    row = [0] * (len(new) + 1)
    for left in old:
        corner = 0
        for column, right in enumerate(new, start=1):
            corner, row[column] = row[column], corner + 1 if left == right else max(row[column], row[column - 1])
    return row[-1]


def matched(matching: Matching) -> int:
    return sum(block.size for block in matching.blocks)


@given(few_lines | many_lines, few_lines | many_lines)
@modest
def test_blocks_are_equal_lines_in_the_order_of_both_texts(old: list, new: list) -> None:
    blocks = match(old, new).blocks
    for block in blocks:
        assert block.size > 0
        assert old[block.old : block.old + block.size] == new[block.new : block.new + block.size]
    for block, following in pairwise(blocks):
        ends = (block.old + block.size, block.new + block.size)
        assert ends[0] <= following.old
        assert ends[1] <= following.new
        assert ends != (following.old, following.new), "neighbours are one block"


@given(few_lines, few_lines)
@modest
def test_between_anchors_as_many_lines_are_matched_as_can_be(old: list[str], new: list[str]) -> None:
    doubled_old, doubled_new = old + old, new + new  # no line stands once, so there are no anchors
    matching = match(doubled_old, doubled_new)
    assert not matching.coarse
    assert matched(matching) == common(doubled_old, doubled_new)


@given(few_lines, few_lines)
@modest
def test_a_text_matches_itself_and_what_was_added_around_it(text: list[str], other: list[str]) -> None:
    assert match(text, text).blocks == ([Block(0, 0, len(text))] if text else [])
    assert matched(match(text, other + text)) >= len(text)
    assert matched(match(text + other, text)) >= len(text)


def test_a_moved_paragraph_is_the_shorter_of_the_two_that_changed_places() -> None:
    assert match("ABxyz", "xyzAB").blocks == [Block(2, 0, 3)]


def test_lines_that_stand_once_hold_the_others_in_place() -> None:
    old = ["{", "one", "}", "{", "two", "}"]
    new = ["{", "new", "}", "{", "one", "}", "{", "two", "}"]
    assert matched(match(old, new)) == len(old)


def test_a_rewritten_text_is_compared_exactly_however_long_it_is() -> None:
    old = ["head", *(f"old {n}" for n in range(4000)), "x", "x"]
    new = ["head", *(f"new {n}" for n in range(4000)), "x", "y", "x"]
    assert match(old, new) == Matching([Block(0, 0, 1), Block(4001, 4001, 1), Block(4002, 4003, 1)], coarse=False)


def test_a_few_lines_are_found_in_many_that_look_like_them() -> None:
    few, many = [*"xyxy"], [*"yx"] * 1000
    for matching in (match(few, many), match(many, few)):
        assert not matching.coarse
        assert matched(matching) == 4


@given(few_lines, few_lines)
@modest
def test_without_steps_the_ends_still_match(head: list[str], tail: list[str]) -> None:
    old, new = [*head, *"12" * 40, *tail], [*head, *"21" * 3, *"112" * 30, *tail]
    matching = match(old, new, steps=0)
    assert matching.coarse
    assert matched(matching) >= len(head) + len(tail)
