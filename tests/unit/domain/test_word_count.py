import pytest

from chalicelib.domain.word_count import count_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("  \n\t ", 0),
        ("abcd ef gh", 3),
        ("Schwarzwaldhochstrasse geschlossen", 2),
        ("single-sign-on isn't one", 3),
        ("a\u00a0b\u2003c", 3),
        ("— … !", 0),
        ("v1 2026", 2),
        ("東京は日本の首都です。", 10),
        ("今天 meeting 三点", 5),
        ("한국어 단어", 2),
        ("カタカナ", 1),
        ("příští týden", 2),
    ],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    assert count_words(text) == words


def test_thai_and_khmer_have_more_than_one_word_without_a_blank() -> None:
    assert count_words("สวัสดีชาวโลก") > 3
    assert count_words("ភាសាខ្មែរ") > 2


def test_counting_stops_where_it_is_told_to() -> None:
    assert count_words("a " * 1000, at_most=10) == 10
