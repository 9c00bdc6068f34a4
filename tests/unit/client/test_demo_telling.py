from __future__ import annotations

from datetime import UTC, datetime

from examples.telling import QUIET_SECONDS, Telling


def test_a_table_marks_and_counts_what_was_true_and_leaves_out_what_is_only_told() -> None:
    lines: list[str] = []
    telling = Telling(lines.append)
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    telling.table(("what", "when"), [(True, ("one", noon)), (False, ("two\nlines", None)), (None, ("three", 3))])
    assert lines == ["     what       when", "  ✓  one        12:00:00", "  ✗  two lines  –", "  ·  three      3"]
    assert (telling.true, telling.false) == (1, 1)


def test_a_wait_speaks_only_after_a_silence() -> None:
    lines: list[str] = []
    now = [0.0]
    telling = Telling(lines.append, lambda: now[0])
    for now[0] in (1.0, QUIET_SECONDS - 1, QUIET_SECONDS, QUIET_SECONDS + 1, 2 * QUIET_SECONDS):
        telling.still("waiting")
    assert lines == ["[  10.0 s] waiting", "[  20.0 s] waiting"]


def test_the_time_counts_from_the_restart() -> None:
    lines: list[str] = []
    now = [100.0]
    telling = Telling(lines.append, lambda: now[0])
    now[0] = 130.0
    telling.restart()
    now[0] = 131.5
    telling.say("on we go")
    assert lines == ["[   1.5 s] on we go"]
