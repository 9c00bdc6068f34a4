from __future__ import annotations

import pytest

from chalicelib.cli.passage import passage

LIST = (
    "Price list\nArticle | Price\nHeather honey | 8.90\nLime honey | 7.60\nRye flour | 2.80\nEmpty jars are taken back"
)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("heather honey", "… Article | Price\nHeather honey | 8.90\nLime honey | 7.60 …"),
        ("HEATHER", "… Article | Price\nHeather honey | 8.90\nLime honey | 7.60 …"),
        ("what does rye cost", "… Lime honey | 7.60\nRye flour | 2.80\nEmpty jars are taken back"),
        ("price list", "Price list\nArticle | Price\nHeather honey | 8.90 …"),
        ("jar", "… Lime honey | 7.60\nRye flour | 2.80\nEmpty jars are taken back"),
        ("gasoline", "Price list\nArticle | Price\nHeather honey | 8.90 …"),
        ("?!", "Price list\nArticle | Price\nHeather honey | 8.90 …"),
    ],
)
def test_it_is_the_lines_around_the_words(query: str, shown: str) -> None:
    assert passage(LIST, query) == shown


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    text = "\n".join(["the owl", "the cat", "the dog", "a", "b", "c quince"])
    assert passage(text, "the quince").endswith("c quince")


def test_a_short_text_is_shown_whole() -> None:
    assert passage("one\n\ntwo", "two") == "one\ntwo"
    assert passage("", "two") == ""


def test_a_long_line_is_cut_around_the_words() -> None:
    words = [f"word{number}" for number in range(400)]
    shown = passage(" ".join(words), "word250")
    assert "word250" in shown
    assert len(shown.splitlines()) == 3
    assert all(len(line) <= 104 for line in shown.splitlines())
    assert len(passage("\u8702\u871c" * 600, "\u8702\u871c").splitlines()) == 3
