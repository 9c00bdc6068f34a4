import subprocess
from pathlib import Path
from shutil import which

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.diff import Change, Diff, Hunk, diff

modest = settings(max_examples=50, deadline=None)

texts = st.text("ab\n", max_size=60) | st.text("abcdefgh\n\r\f\u2028 é", max_size=120)
contexts = st.integers(0, 4)


def lines(text: str) -> list[str]:
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]


def rebuilt(old: str, changes: Diff) -> str:
    """The new text, made from the old one and the hunks alone."""
    source, result, here = lines(old), [], 0
    for hunk in changes.hunks:
        begin = hunk.old_start - (hunk.old_count > 0)
        result += source[here:begin]
        assert len(result) == hunk.new_start - (hunk.new_count > 0)
        for change in hunk.changes:
            if change.op != "delete":
                result += change.lines
            if change.op != "insert":
                assert list(change.lines) == source[begin : begin + len(change.lines)]
                begin += len(change.lines)
        here = hunk.old_start - (hunk.old_count > 0) + hunk.old_count
    return "".join(result + source[here:])


def test_a_change_stands_between_three_equal_lines() -> None:
    old = "".join(f"{n}\n" for n in range(1, 10))
    assert diff(old, old.replace("5", "five")) == Diff(
        hunks=(
            Hunk(
                old_start=2,
                old_count=7,
                new_start=2,
                new_count=7,
                changes=(
                    Change("equal", ("2\n", "3\n", "4\n")),
                    Change("delete", ("5\n",)),
                    Change("insert", ("five\n",)),
                    Change("equal", ("6\n", "7\n", "8\n")),
                ),
            ),
        ),
        inserted=1,
        deleted=1,
        coarse=False,
    )


def test_equal_texts_have_no_difference() -> None:
    for text in ("", "a", "a\n", "a\nb\n"):
        assert diff(text, text) == Diff((), 0, 0, coarse=False)
        assert diff(text, text).unified() == ""


@pytest.mark.parametrize(("between", "hunks"), [(0, 1), (6, 1), (7, 2)])
def test_changes_share_a_hunk_if_their_contexts_touch(between: int, hunks: int) -> None:
    old = "x\n" + "".join(f"{n}\n" for n in range(between)) + "x\n"
    assert len(diff(old, old.replace("x", "y")).hunks) == hunks


def test_the_unified_text_is_the_one_that_everybody_knows() -> None:
    assert diff("a\nb\nc\n", "a\nB\nc").unified("version 1", "version 2") == (
        "--- version 1\n+++ version 2\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n"
    )
    assert diff("", "a\n").unified() == "--- old\n+++ new\n@@ -0,0 +1,1 @@\n+a\n"
    assert diff("a\n", "").unified() == "--- old\n+++ new\n@@ -1,1 +0,0 @@\n-a\n"


def test_only_a_line_feed_ends_a_line() -> None:
    assert diff("a\fb\u2028c\r\n", "a\fb\u2028c\n").deleted == 1


@given(texts, texts, contexts)
@modest
def test_the_old_text_and_the_hunks_give_the_new_text(old: str, new: str, context: int) -> None:
    changes = diff(old, new, context=context)
    assert rebuilt(old, changes) == new
    every = [change for hunk in changes.hunks for change in hunk.changes]
    assert changes.inserted == sum(len(change.lines) for change in every if change.op == "insert")
    assert changes.deleted == sum(len(change.lines) for change in every if change.op == "delete")
    assert all(change.lines for change in every)
    assert (changes.hunks == ()) == (old == new)


@pytest.mark.skipif(which("patch") is None, reason="patch is not installed")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc"),
        ("a\nb", "a\nb\n"),
        ("a", "b"),
        ("\n\n", "\n"),
        ("".join(f"{n}\n" for n in range(40)), "".join(f"{n}\n" for n in range(2, 45) if n % 9)),
        ("a\fb\n\r\nc\u2028d\n", "a\fb\n\n\r\nc\u2028e\n"),
    ],
)
def test_patch_accepts_the_unified_text(tmp_path: Path, old: str, new: str) -> None:
    page = tmp_path / "page"
    page.write_bytes(old.encode())
    subprocess.run(["patch", "--binary", str(page)], input=diff(old, new).unified().encode(), check=True)
    assert page.read_bytes().decode() == new
