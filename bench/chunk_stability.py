"""How many chunks an edit costs: ``python -m bench.chunk_stability [TEXT_FILE ...]``. Prints ratios of one run.

An edit costs the chunks whose text, overlap included, the page did not have before: those must be embedded. Four ways
to cut are compared: windows of a fixed length; the best place in a band after the cut before; cuts that depend on the
text alone (what `chunking.chunk` does); and "sticky" cuts, which keep the previous version's bodies wherever they still
stand. Without files, the pages are those of Python's own manual.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from pydoc_data.topics import topics

from chalicelib.domain.chunk_cuts import MAX_BODY, MIN_BODY, middle_cut, overlap_start
from chalicelib.domain.chunking import chunk

SMALLEST, LARGEST = 8_000, 80_000  # characters of a page: ten chunks to a hundred
SENTENCES = (
    "The limit was raised to 40 requests a minute in the spring release.",
    "This applies to accounts on the team plan and above, unless your contract says otherwise.",
    "See the migration guide for the steps that an operator has to take before the upgrade.",
    "Support for the older format ends on 31 March.",
)
Edit = Callable[[list[str], random.Random], list[str]]
Cutter = Callable[[str, list[str]], list[str]]  # a text and its previous chunks' bodies → the bodies


def insert_sentence(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    sentences = lines[at].split(". ")
    sentences.insert(rng.randint(0, len(sentences)), rng.choice(SENTENCES).rstrip("."))
    return [*lines[:at], ". ".join(sentences), *lines[at + 1 :]]


def insert_paragraph(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    return [*lines[:at], " ".join(rng.choices(SENTENCES, k=4)), *lines[at:]]


def delete_paragraph(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    return lines[:at] + lines[at + 1 :]


def grow_banner(lines: list[str], rng: random.Random) -> list[str]:
    return [" ".join(rng.choices(SENTENCES, k=rng.randint(1, 3))), *lines]


def change_date(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.choice((0, len(lines) - 1))
    return [*lines[:at], f"{lines[at]} Last changed on {rng.randint(1, 28)} May 2026", *lines[at + 1 :]]


def change_word(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    words = lines[at].split(" ")
    words[rng.randrange(len(words))] = "changed"
    return [*lines[:at], " ".join(words), *lines[at + 1 :]]


def swap_paragraphs(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines) - 1)
    return [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]


def edit_near_end(lines: list[str], rng: random.Random) -> list[str]:
    at = len(lines) - 1 - rng.randrange(min(5, len(lines)))
    return [*lines[:at], f"{lines[at]} {rng.choice(SENTENCES)}", *lines[at + 1 :]]


EDITS: tuple[Edit, ...] = (
    insert_sentence,
    insert_paragraph,
    delete_paragraph,
    grow_banner,
    change_date,
    change_word,
    swap_paragraphs,
    edit_near_end,
)


def fixed(text: str, _before: list[str]) -> list[str]:
    """The windows that a splitter by length makes."""
    return [text[at : at + MAX_BODY] for at in range(0, len(text), MAX_BODY)]


def banded(text: str, _before: list[str]) -> list[str]:
    """The usual way to cut by content: after each cut, the best place in a band behind it, from the top down."""
    bodies = []
    while len(text) > MAX_BODY:
        at = middle_cut(text, 0, 3 * MAX_BODY // 2)  # the middle third: 525 to 1 050 characters
        bodies.append(text[:at])
        text = text[at:]
    return [*bodies, text]


def by_content(text: str, _before: list[str]) -> list[str]:
    return [one.body for one in chunk(text)]


def sticky(text: str, before: list[str]) -> list[str]:
    """Keep the old bodies that are still there, in their order; join what lies between to the one before, or cut it."""
    bodies: list[str] = []
    at = 0
    for body in [*before, ""]:
        found = text.find(body, at) if body else len(text)
        if found < 0:
            continue
        gap = text[at:found]
        if bodies and len(gap) < MIN_BODY and len(bodies[-1]) + len(gap) <= MAX_BODY:
            bodies[-1] += gap
        else:
            bodies += by_content(gap, [])
        bodies += [body] if body else []
        at = found + len(body)
    return bodies


def texts(bodies: list[str]) -> list[str]:
    """The bodies with what each repeats of the one before."""
    whole, ends = "".join(bodies), [0, *accumulate(map(len, bodies))]
    return [
        whole[overlap_start(whole, before, start) : end]
        for before, start, end in zip([0, *ends], ends, ends[1:], strict=False)
    ]


def measure(cutter: Cutter, pages: Sequence[str], repeats: int, only: Edit | None = None) -> str:
    rng = random.Random(1)
    costs: list[int] = []
    kept: list[float] = []
    counts = []
    for page in pages:
        before = cutter(page, [])
        known = set(texts(before))
        counts.append(len(page) / len(before))
        for edit in [only] if only else EDITS:
            for _ in range(repeats):
                after = texts(cutter("\n".join(edit(page.split("\n"), rng)), before))
                costs.append(len(set(after) - known))
                kept.append(1 - costs[-1] / len(after))
    costs.sort()
    return (
        f"{statistics.mean(costs):8.2f} {costs[len(costs) * 99 // 100]:8d} {costs[-1]:8d}"
        f" {statistics.mean(kept):8.1%} {statistics.mean(counts):8.0f}"
    )


def manual() -> list[str]:
    """Python's manual, with each paragraph on one line as the extraction gives it; what is indented keeps its lines."""
    return [
        "\n".join(
            block if block.startswith("   ") else " ".join(block.split())
            for block in re.split(r"\n{2,}", topic.strip("\n"))
        )
        for topic in topics.values()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--repeats", type=int, default=6, help="how often a page meets each kind of edit")
    arguments = parser.parse_args()
    found = [file.read_text() for file in arguments.files] or manual()
    pages = [page for page in found if SMALLEST <= len(page) <= LARGEST]
    print(f"{len(pages)} pages of {statistics.mean(map(len, pages)):.0f} characters, {len(EDITS)} kinds of edits")
    print(f"{'chunks embedded an edit':28} {'average':>8} {'99 %':>8} {'most':>8} {'kept':>8} {'length':>8}")
    for cutter in (fixed, banded, by_content, sticky):
        print(f"{cutter.__name__:28} {measure(cutter, pages, arguments.repeats)}")
    for edit in EDITS:
        print(f"by_content, {edit.__name__:<16} {measure(by_content, pages, arguments.repeats, edit)}")


if __name__ == "__main__":
    main()
