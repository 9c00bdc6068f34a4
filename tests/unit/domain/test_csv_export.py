import csv
import io

import pytest

from chalicelib.domain.csv_export import lines


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", " \t=1", "\u00a0=1", "\u3000=1", "＝1+1", "＋1", "－1", " ＠x"],  # noqa: E501
)  # fmt: skip
def test_a_cell_that_a_spreadsheet_would_run_is_marked_as_text(cell: str) -> None:
    [[read]] = csv.reader(io.StringIO(lines([[cell]]), newline=""))
    assert read == "'" + cell


@pytest.mark.parametrize("cell", ["", "a=1", "a,b", 'a"b', "a\r\nb", "'=1", "1-2", "ops@corp.test", "[x]"])
def test_any_other_cell_stays_as_it_is(cell: str) -> None:
    [[read, _]] = csv.reader(io.StringIO(lines([[cell, "x"]]), newline=""))
    assert read == cell


def test_lines_end_as_rfc_4180_says_and_nothing_is_an_empty_cell() -> None:
    assert lines([["a", None], [1, True]]) == "a,\r\n1,True\r\n"
