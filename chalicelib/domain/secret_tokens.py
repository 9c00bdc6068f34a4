"""The scan for tokens with a prefix.

A token stands in a run of letters, digits, ``_``, ``.`` and ``-``; only runs of 16 and more are looked into, so prose
costs next to nothing. Every body follows a literal prefix and is bounded or possessive: the scan is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from chalicelib.domain.secret_finding import Finding, occurrences, stands_free
from chalicelib.domain.secret_formats import FORMATS
from chalicelib.domain.secret_values import is_masked

_EXAMPLES_ARE_REAL = frozenset({"aws_access_key"})  # capitals, among which EXAMPLE may stand; at the end it is one


class _Rule(NamedTuple):
    kind: str
    pattern: re.Pattern[str]


class _Scan(NamedTuple):
    """A pattern that finds any of some prefixes, and the rules to try behind each."""

    prefixes: re.Pattern[str]
    rules: dict[str, list[_Rule]]


def _scan(*where: str, before: str = "") -> _Scan:
    own: dict[str, list[_Rule]] = {}
    for row in FORMATS:
        for prefix in row.prefixes.split() if row.where in where else ():
            # What follows a token must not be more of it: a longer run is something else.
            pattern = re.compile(f"{re.escape(prefix)}(?>{row.body})(?![A-Za-z0-9])")
            own.setdefault(prefix, []).append(_Rule(row.kind, pattern))
    # sk-or- is also an sk-: behind a prefix its own rules are tried first, then those of the shorter ones.
    nested = {
        prefix: [rule for length in range(len(prefix), 0, -1) for rule in own.get(prefix[:length], ())]
        for prefix in own
    }
    return _Scan(re.compile(before + _trie(own)), nested)


def _trie(words: Iterable[str]) -> str:
    """A pattern for the longest of ``words`` that fits, which looks at each character once."""
    branches: dict[str, list[str]] = {}
    for word in words:
        branches.setdefault(word[:1], []).append(word[1:])
    inner = "|".join(re.escape(first) + _trie(rests) for first, rests in branches.items() if first)
    return f"(?:{inner}){'?' if '' in branches else ''}" if inner else ""


_FIRST = _scan("word", "clean")
_WORDS = _scan("word", before="(?<![A-Za-z0-9])")
_GLUED = _scan("glued")
_SPARSE = _scan("sparse")
_RUNS = re.compile(r"[A-Za-z0-9_.\-]{16,}")
# What a run may begin with that is no part of its first token: the rest of an escape (\n, \u0022, %20) before which the
# run was cut, Markdown's __, an ellipsis.
_LEAD = re.compile(r"(?:(?<=\\)(?:[nrtbf]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|(?<=%)[0-9a-fA-F]{2})?[_.\-]{0,3}")


def find_tokens(text: str) -> Iterator[Finding]:
    """Yield every token of a known format. Two of them may overlap."""
    for prefix, rules in _SPARSE.rules.items():
        for at in occurrences(text, prefix):
            if stands_free(text, at) and (found := _token(text, at, rules)):
                yield found
    for run in _RUNS.finditer(text):
        start, end = run.span()
        if lead := _LEAD.match(text, start, end):
            start = lead.end()
        if (first := _FIRST.prefixes.match(text, start, end)) and (
            found := _token(text, start, _FIRST.rules[first.group()])
        ):
            yield found
            start = min(found.end, end)
        yield from _in_run(text, _WORDS, start, end)
        yield from _in_run(text, _GLUED, start, end)


def _in_run(text: str, scan: _Scan, start: int, end: int) -> Iterator[Finding]:
    done = start
    for hit in scan.prefixes.finditer(text, start, end):
        if hit.start() >= done and (found := _token(text, hit.start(), scan.rules[hit.group()])):
            done = found.end
            yield found


def _token(text: str, at: int, rules: list[_Rule]) -> Finding | None:
    for rule in rules:
        if (found := rule.pattern.match(text, at)) and _is_real(rule.kind, found.group()):
            return Finding(rule.kind, *found.span())
    return None


def _is_real(kind: str, token: str) -> bool:
    if kind in _EXAMPLES_ARE_REAL:
        return not token.endswith("EXAMPLE") and len(set(token[4:])) > 1
    return not is_masked(token[3:])
