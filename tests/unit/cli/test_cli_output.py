from __future__ import annotations

import json
from datetime import datetime

import pytest

from chalicelib.cli.output import as_json, counted, duration, instant, pairs, printable, table, to_the_second
from chalicelib.cli.parameters import Instant


def test_columns_are_as_wide_as_they_must_be_also_under_wide_characters() -> None:
    shown = table(("ID", "NAME"), [("1", "a"), ("long", "蜂蜜"), (None, "e\u0301")], empty="none")
    assert shown.splitlines() == ["ID    NAME", "1     a", "long  蜂蜜", "      e\u0301"]
    wide = table(("A", "B"), [("蜂蜜", "x"), ("abcd", "y")], empty="none")
    assert wide.splitlines() == ["A     B", "蜂蜜  x", "abcd  y"]


def test_a_cell_stays_on_its_line() -> None:
    assert table(("A",), [("one\ntwo\tthree",)], empty="none") == "A\none two three"
    assert pairs([("name", "one\r\ntwo"), ("on", True), ("gone", None)]) == "name  one two\non    yes\ngone  "


def test_no_rows_say_so() -> None:
    assert table(("A",), [], empty="no sources") == "no sources"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(None, ""), (0, "0 s"), (59, "59 s"), (60, "1 min"), (3600, "1 h"), (86_399, "23 h"), (604_800, "7 d")],
)
def test_a_duration_is_told_in_its_largest_unit(seconds: int | None, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize("text", ["2026-11-30T02:00:00.000001Z", "2026-11-30T02:00:00.5Z", "2026-11-30T02:00:00Z"])
def test_an_instant_is_told_so_that_it_can_be_given_back(text: str) -> None:
    shown = instant(text)
    assert " " not in shown
    assert Instant().convert(shown, None, None) == datetime.fromisoformat(text)
    assert instant(None) == ""


def test_an_instant_that_nobody_gives_back_is_told_to_the_second() -> None:
    shown = to_the_second("2026-11-30T02:00:00.999999Z")
    assert Instant().convert(shown, None, None) == datetime.fromisoformat("2026-11-30T02:00:00Z")
    assert to_the_second(None) == ""


def test_one_is_one_and_others_are_many() -> None:
    assert [counted(number, "part") for number in (0, 1, 2)] == ["0 parts", "1 part", "2 parts"]


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\rover", "\x00", "\ud800", "\u202e", "\u2067"]
)
def test_what_would_drive_a_terminal_is_not_printed(text: str) -> None:
    shown = printable(f"a{text}b\n\tc")
    assert shown.startswith("a\ufffd")
    assert shown.endswith("b\n\tc")
    shown.encode()
    assert not set(shown) & set("\x1b\x9b\r\x07\x00")


def test_json_is_the_same_document_without_what_would_drive_a_terminal() -> None:
    document = {"title": "a\x7f\x80\x9b31m\x9f\u2028\u202e\u2066b", "half": "\ud800", "plain": "Чайник 蜂蜜\n\x1b[0m"}
    shown = as_json(document)
    assert json.loads(shown) == document
    assert "Чайник 蜂蜜" in shown
    assert not set(shown.replace("\n", "")) & {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x202E, 0xD800)}
