"""HTML of megabytes, made to be slow."""

from __future__ import annotations

from time import process_time

from chalicelib.fetching.extract import extract
from chalicelib.fetching.html_sheets import StyleSheets

LIMIT = 2.0  # seconds for 2 MB (spec 2.4 names them for the secret scan)
MEGABYTE = 1_000_000
HOSTILE = [
    "<b>", "<table><tr><td>x", "<td>x", "<ul><li>", "<b></i></div></p>", "<!--", "<!", "<?", "&amp;", "&", "&#", "<",
    '<a b="', "<p hidden>x", "<b style='font-size:0;color:red'>x", "<title>", "<p>&#x200b;", "<p> \n", "<style>/*",
    '<style>"\\"', "<style>[a=", "<style>a:b(", "<style>.a{", "<i class=a>x", "<td rowspan=9 colspan=9>x",
]  # fmt: skip


def text(html: str) -> str:
    return extract(html.encode(), "text/html; charset=utf-8").text


def test_a_hundred_thousand_nested_tags_are_read_in_time() -> None:
    begin = process_time()
    assert text("start" + "<div>" * 100_000) == "start"
    assert process_time() - begin < LIMIT / 2  # half a megabyte: room for a busy machine, none for quadratic time


def test_one_element_of_a_hundred_thousand_attributes_is_read_in_time() -> None:
    begin = process_time()
    assert text("<a " + " ".join(f"a{number}" for number in range(100_000)) + ">x") == "x"
    assert process_time() - begin < LIMIT


def test_many_rules_for_many_elements_are_compared_a_bounded_number_of_times() -> None:
    sheets = StyleSheets()
    sheets.add_sheet("<style>" + ".a{color:red}" * 10_000)
    begin = process_time()
    for number in range(20_000):
        sheets.cascade("p", {"class": f"a x{number}"}, {})
    assert process_time() - begin < LIMIT


def test_hostile_pages_of_a_megabyte_together_are_read_in_time() -> None:
    begin = process_time()
    for unit in HOSTILE:
        assert text("<p>start</p>" + unit * (MEGABYTE // len(HOSTILE) // len(unit))).startswith("start")
    assert process_time() - begin < LIMIT
