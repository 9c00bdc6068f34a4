"""What every player shares: the verdict of one case, reading a library, printing and counting."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

Case = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one case went. ``why`` is empty for a plain pass and names every mismatch of a failure."""

    status: Literal["PASS", "FAIL", "SKIP"]
    why: str = ""


def passed(why: str = "") -> Verdict:
    """Every expectation that the case states was compared and held."""
    return Verdict("PASS", why)


def failed(why: str) -> Verdict:
    """At least one expectation did not hold."""
    return Verdict("FAIL", why)


def skipped(why: str) -> Verdict:
    """The case can't be judged here; ``why`` says what is missing."""
    return Verdict("SKIP", why)


def judge(mismatches: Iterable[str]) -> Verdict:
    """A pass if there are no mismatches, else a failure that lists them."""
    found = [text for text in mismatches if text]
    return failed("; ".join(found)) if found else passed()


def read_cases(path: Path | str) -> Iterator[Case]:
    """The cases of a JSON Lines file, one a line, in order; blank lines are skipped."""
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def run(play: Callable[[Case], Verdict], path: Path | str, out: TextIO | None = None) -> int:
    """Play a whole library, print ``id STATUS why`` and the closing count; 1 if any case failed, else 0.

    They go to ``out``, by default standard output.

    A player that raises has not judged its case: that is a failure, not a crash of the run.
    """
    count: Counter[str] = Counter()
    for case in read_cases(path):
        try:
            verdict = play(case)
        except Exception as error:  # the run must reach its end
            verdict = failed(f"player raised {type(error).__name__}: {error}")
        count[verdict.status] += 1
        why = " ".join(verdict.why.split())
        print(f"{case.get('id', '?')} {verdict.status} {why}".rstrip(), file=out, flush=True)
    print(f"{count['PASS']} passed, {count['FAIL']} failed, {count['SKIP']} skipped", file=out, flush=True)
    return 1 if count["FAIL"] else 0
