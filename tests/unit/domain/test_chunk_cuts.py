import re
from itertools import pairwise
from pydoc_data.topics import topics

from chalicelib.domain.chunk_cuts import MAX_BODY, MAX_CHARACTERS, MIN_BODY, cuts, middle_cut, overlap_start
from chalicelib.domain.chunking import chunk

# Pages as an extraction gives them, out of Python's own manual: a paragraph or a line of code is a line.
PAGES = [
    "\n".join(
        block if block.startswith("   ") else " ".join(block.split())
        for block in re.split(r"\n{2,}", topic.strip("\n"))
    )
    for name, topic in sorted(topics.items())
    if 8000 <= len(topic) <= 30_000
]
SENTENCE = "The limit was raised to 40 requests a minute in the spring release."


def cost(before: str, after: str) -> int:
    """How many chunks of the new text the old one did not have, overlap included."""
    return len({one.text for one in chunk(after)} - {one.text for one in chunk(before)})


def bodies(text: str) -> list[str]:
    return [text[start:end] for start, end in pairwise(cuts(text))]


def test_the_pages_are_worth_measuring() -> None:
    assert len(PAGES) >= 5
    assert all(len(cuts(page)) > 8 for page in PAGES)


def test_a_banner_that_grows_at_the_top_leaves_what_is_below() -> None:
    page = PAGES[0]
    for sentences in range(1, 12):
        longer = " ".join([SENTENCE] * sentences)
        assert cost(f"{longer}\n{page}", f"{longer} {SENTENCE}\n{page}") <= 3


def test_one_changed_chunk_near_the_end_costs_at_most_two() -> None:
    page = "\n".join(
        f"Section {number}. " + " ".join(f"word{number * word}" for word in range(150)) for number in range(20)
    )
    assert cost(page, page.replace("word2697 ", "other ")) <= 2


def test_lines_that_end_alike_do_not_make_cuts_depend_on_those_before() -> None:
    rows = [f"{number * 7919 % 1000:03} {'x' * 60}\nWas this page of any help to you? Yes No" for number in range(400)]
    page = "\n".join(rows)
    assert cost(page, "\n".join([SENTENCE, *rows])) <= 3


def test_two_neighbours_together_are_longer_than_one_body() -> None:
    for page in PAGES:
        parts = bodies(page)
        assert all(len(one) + len(other) > MAX_BODY for one, other in pairwise(parts))
        assert len(parts[0]) + len(parts[1]) > MAX_CHARACTERS, "the first has no overlap and so more room"
        assert min(map(len, parts)) >= MIN_BODY


def test_cuts_are_after_paragraphs_where_there_are_any() -> None:
    paragraph = "A pump moves a liquid. It has to be primed, and its valve has to be open, before it is started.\n"
    assert all(body.endswith(".\n") for body in bodies(paragraph * 40))


def test_a_heading_stays_with_what_follows() -> None:
    page = "\n".join(
        f"Section {number}\n" + " ".join([f"Sentence {number} of the section."] * (number % 9 + 5))
        for number in range(80)
    )
    assert not any(re.search(r"\nSection \d+\n$", body) for body in bodies(page))


def test_a_list_stays_with_the_line_that_announces_it() -> None:
    page = "".join(
        f"{'The tank has to be emptied first. ' * 4}Then, on day {number}, take these steps in their order:\n"
        "Close the valve\nOpen the drain\nWait\n"
        for number in range(40)
    )
    assert not any(body.endswith(":\n") for body in bodies(page))


def test_without_paragraphs_cuts_are_after_sentences() -> None:
    sentence = 'He said "Version 3.11 of it, e.g. the one you have, is fine." '
    assert all(body.endswith('." ') for body in bodies(sentence * 100))
    assert all(body.endswith("。」") for body in bodies("「来源在夜间更新。」" * 500))
    assert all(body.endswith("। ") for body in bodies("स्रोत रात में अद्यतन होता है। " * 100))


def test_the_number_of_an_item_is_no_sentence() -> None:
    page = "".join(f"{number}. {'Turn the handle to the left' if number % 2 else 'Wait'}\n" for number in range(1, 300))
    assert all(body.endswith("\n") for body in bodies(page)[:-1])


def test_without_sentences_cuts_are_after_words() -> None:
    assert all(body.endswith(" ") for body in bodies("alpha beta gamma " * 300)[:-1])


def test_the_middle_is_cut_by_form_too() -> None:
    text = "word " * 60 + "end.\n" + "word " * 60
    assert text[: middle_cut(text, 0, len(text))].endswith("end.\n")


def test_the_repeat_never_reaches_beyond_the_neighbour() -> None:
    text = "abc " * 100
    assert overlap_start(text, 360, 400) == 360
    assert overlap_start(text, 0, 0) == 0
