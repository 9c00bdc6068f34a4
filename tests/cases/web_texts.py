"""What the pages of a case say: texts that know their label, texts of so many chunks, pages that are no pages."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import lru_cache

from chalicelib.domain.chunk_cuts import MAX_CHUNKS
from chalicelib.domain.chunking import chunk
from tests.cases.generator_words import Unreadable

LENGTH = 2_400  # characters of a text about which a case says nothing more
_WORDS = (
    "pump valve turbine boiler sensor filter bearing gasket rotor piston flange coupling manifold gauge nozzle shaft "
    "check clean grease measure replace inspect record report adjust mount every week month quarter year by two people"
)


def text_of(label: str, characters: int = LENGTH) -> str:
    """A text of about so many characters whose every paragraph names ``label``."""
    paragraphs: list[str] = []
    while sum(map(len, paragraphs)) < characters:
        paragraphs.append(_paragraph(label, len(paragraphs), 40))
    return "\n".join(paragraphs)


def _paragraph(label: str, number: int, words: int) -> str:
    seed = sum(map(ord, label)) + 31 * number
    known = _WORDS.split()
    chosen = (known[(seed * 7 + place * place * 13 + place * 5) % len(known)] for place in range(words))
    return f"Of {label}, part {number}: {' '.join(chosen)}."


def html_of(text: str, title: str = "Page") -> str:
    """A page that says ``text``, a paragraph a line."""
    paragraphs = "".join(f"<p>{html.escape(line)}</p>" for line in text.split("\n"))
    return f"<!DOCTYPE html><title>{title}</title><body>{paragraphs}</body>"


@lru_cache(maxsize=16)
def chunked_text(count: int) -> str:
    """A text of exactly ``count`` chunks; of more than a source may have, if so. Raises Unreadable if none is found."""
    if count > MAX_CHUNKS:
        return "\n".join(_paragraph(f"chunk {number}", number, 180) for number in range(count))
    paragraphs = [_paragraph(f"chunk {number}", number, 130) for number in range(count + 40)]
    size = count
    for _ in range(12):
        text = "\n".join(paragraphs[:size])
        found = len(chunk(text))
        if found == count:
            return text
        size = min(len(paragraphs), max(1, size + count - found))
    raise Unreadable(f"no text of {count} chunks was found")


def edited(text: str, words: str) -> str:
    """``text`` with the change that ``words`` tell: ``1 changed near the end``, ``two inserted at the start``…

    Raises Unreadable.
    """
    lines = text.split("\n")
    edit = next((make for pattern, make in _EDITS if re.search(pattern, words, re.I)), None)
    if edit is None:
        raise Unreadable(words)
    number = re.search(r"\b(\d+|one|two|three|a|an)\b", words, re.I)
    spoken = number[1].lower() if number else "1"
    count = int(spoken) if spoken.isdigit() else {"two": 2, "three": 3}.get(spoken, 1)
    return "\n".join(edit(lines, _place(words, len(lines)), count))


def _place(words: str, length: int) -> int:
    """The index of the paragraph meant; near the end is not the very last one."""
    for pattern, share in ((r"start|begin|top|first|front", 0.0), (r"end|last|bottom|tail", 0.9), (r"", 0.5)):
        if re.search(pattern, words, re.I):
            return min(length - 1, int(length * share))
    return 0


def _replace(lines: list[str], at: int, count: int) -> list[str]:
    at = min(at, len(lines) - count)
    changed = [
        line.replace("Of ", "Now of ", 1) if "Of " in line else f"{line} anew" for line in lines[at : at + count]
    ]
    return [*lines[:at], *changed, *lines[at + count :]]


def _insert(lines: list[str], at: int, count: int) -> list[str]:
    return [*lines[:at], *(_paragraph("what came in", number, 130) for number in range(count)), *lines[at:]]


def _append(lines: list[str], at: int, count: int) -> list[str]:
    return _insert(lines, len(lines), count)


def _remove(lines: list[str], at: int, count: int) -> list[str]:
    return [*lines[:at], *lines[at + count :]]


def _swap(lines: list[str], at: int, count: int) -> list[str]:
    other = (at + len(lines) // 2) % len(lines)
    swapped = list(lines)
    swapped[at], swapped[other] = lines[other], lines[at]
    return swapped


_EDITS: tuple[tuple[str, Callable[[list[str], int, int], list[str]]], ...] = (
    (r"\b(none|nothing|no)\b.*chang|same|unchanged|identical", lambda lines, at, count: lines),
    (r"\b(append|added at the end|more at the end)", _append),
    (r"\b(insert|add|new|prepend|extra)", _insert),
    (r"\b(remov|delet|drop|miss|gone|less)", _remove),
    (r"\b(mov|swap|reorder|order|shuffl)", _swap),
    (r"\b(chang|edit|differ|replac|rewrit|modif|fix|typo|updat)", _replace),
)

STRANGE: tuple[tuple[str, str], ...] = (
    (
        r"captive|portal|middlebox|hotel|wi-?fi",
        "<title>Guest WiFi</title><p>Log in to this network to continue. Accept the terms of the guest WiFi.</p>",
    ),
    (
        r"challenge|captcha|bot|cloudflare|just a moment|human",
        "<title>Just a moment...</title><p>Checking your browser before you continue. Verify you are human by"
        " completing the action below.</p>",
    ),
    (
        r"log-?in|sign-?in|password|sso",
        "<title>Sign in</title><form><label>User name <input></label><label>Password <input type=password></label>"
        "<button>Sign in</button></form><p>Please sign in with your password to continue.</p>",
    ),
    (
        r"maintenance|be right back|come back",
        "<title>We'll be right back</title><p>Our site is down for scheduled maintenance. We'll be right back.</p>",
    ),
    (
        r"soft.?404|not found|no such page|page missing",
        "<title>Page not found</title><h1>Page not found</h1><p>The page that you want does not exist.</p>",
    ),
    (
        r"error page|stack ?trace|exception|internal server error|bad gateway|database",
        "<title>Error</title><h1>500 Internal Server Error</h1><p>Error establishing a database connection.</p>",
    ),
    (
        r"parked|for sale|expired domain|squat",
        "<title>src.example.com</title><p>This domain is for sale. Buy this domain today.</p>",
    ),
    (r"spa shell|empty shell|app shell|javascript required", '<div id="root"></div><script src="/app.js"></script>'),
    (
        r"truncat|cut (off|short)|shr[aiu]nk|much shorter|half",
        "<p>This page has been shortened to one sentence about pumps that says very little.</p>",
    ),
)
"""Pages that are no documents, by the words for them; the first that is meant."""


def strange_page(words: str) -> str | None:
    """The page that ``words`` name, if it is one of those that must not replace a good text."""
    return next((page for pattern, page in STRANGE if re.search(pattern, words, re.I)), None)
