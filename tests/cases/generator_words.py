"""Reads the little expressions in which a case library describes long inputs.

``'a' x 1199 + U+1F680 + tail``: quoted text, code points, names whose value the case gives in base 64 (``tail_b64``),
parentheses, ``x`` or ``*`` with a count on either side; and a few phrases: ``numbers 0..999 joined by spaces``,
``10,000 nested <div>``, ``U+1F468 U+200D sequences, 1,200 code points``.
"""

from __future__ import annotations

import ast
import base64
import re
from collections.abc import Callable, Mapping
from typing import Any

_NUMBER = r"\d[\d,_]*(?:\.\d+)?(?: ?(?:k|kB|MB|million|thousand)\b)?"
_TOKEN = re.compile(
    rf"""\s*(?:(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<point>U\+[0-9A-Fa-f]{{4,6}})|(?P<number>{_NUMBER})"""
    r"""|(?P<times>[x*×](?!\w)|times\b|copies of\b|repeated\b)|(?P<name>[A-Za-z]\w*)|(?P<sign>[+(),]))"""
)
_SCALES = {"k": 1_000, "kB": 1_000, "thousand": 1_000, "MB": 1_000_000, "million": 1_000_000}
_JOINTS = {"spaces": " ", "space": " ", "newlines": "\n", "newline": "\n", "commas": ",", "nothing": ""}


class Unreadable(ValueError):
    """The words are none of those that this reader knows."""


def generate(words: str, given: Mapping[str, Any]) -> bytes:
    """Return what the words describe, text as UTF-8. Raises `Unreadable`."""
    for pattern, make in _PHRASES:
        if phrase := pattern.fullmatch(words.strip()):
            return make(phrase, given)
    return _Reader(words, given).read()


def count(words: str) -> int:
    """Return a whole number: ``1,200``, ``2 MB``, ``0.5 million``."""
    number = re.fullmatch(r"([\d,_.]+) ?(\w*)", words.strip())
    if number is None:
        raise Unreadable(words)
    return int(float(number[1].replace(",", "").replace("_", "")) * _SCALES.get(number[2], 1))


class _Reader:
    """sum = product {"+" product}; product = atom {times number} | number times? atom; atom = text | points | (sum)."""

    def __init__(self, words: str, given: Mapping[str, Any]) -> None:
        self._given = given
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(words.rstrip()):
            token = _TOKEN.match(words, at)
            if token is None:
                raise Unreadable(words)
            self._tokens.append((str(token.lastgroup), token[str(token.lastgroup)]))
            at = token.end()

    def read(self) -> bytes:
        value = self._sum()
        if self._tokens:
            raise Unreadable(" ".join(word for _, word in self._tokens))
        return value

    def _next(self) -> str:
        return self._tokens[0][0] if self._tokens else ""

    def _take(self, kind: str) -> str:
        if self._next() != kind:
            raise Unreadable(f"{kind} expected")
        return self._tokens.pop(0)[1]

    def _sum(self) -> bytes:
        value = self._product()
        while self._tokens and self._tokens[0] == ("sign", "+"):
            self._take("sign")
            value += self._product()
        return value

    def _product(self) -> bytes:
        if self._next() == "number":
            times = count(self._take("number"))
            if self._next() == "times":
                self._take("times")
            return self._atom() * times
        value = self._atom()
        while self._next() == "times":
            self._take("times")
            value *= count(self._take("number"))
            if self._tokens and self._tokens[0] == ("name", "times"):
                self._take("name")
        return value

    def _atom(self) -> bytes:
        kind = self._next()
        if kind == "text":
            return str(ast.literal_eval(self._take("text"))).encode()
        if kind == "point":
            points = ""
            while self._next() == "point":
                points += chr(int(self._take("point")[2:], 16))
            return points.encode("utf-8", "surrogatepass")
        if kind == "name":
            name = self._take("name")
            if f"{name}_b64" in self._given:
                return base64.b64decode(self._given[f"{name}_b64"])
            if isinstance(self._given.get(name), str):
                return str(self._given[name]).encode()
        if self._tokens and self._tokens[0] == ("sign", "("):
            self._take("sign")
            value = self._sum()
            if self._take("sign") != ")":
                raise Unreadable("a parenthesis is not closed")
            return value
        raise Unreadable(f"{kind or 'end'} where a text was expected")


def _numbers(phrase: re.Match[str], _: Mapping[str, Any]) -> bytes:
    numbers = range(count(phrase[1]), count(phrase[2]) + 1)
    joint = _JOINTS.get(phrase[3])
    return (joint if joint is not None else ast.literal_eval(phrase[3])).join(map(str, numbers)).encode()


def _nested(phrase: re.Match[str], given: Mapping[str, Any]) -> bytes:
    times, tag = count(phrase[1]), phrase[2] or phrase[3]
    rest = generate(phrase[4], given) if phrase[4] else b"deep"
    return f"<{tag}>".encode() * times + rest + f"</{tag}>".encode() * times


def _sequence(phrase: re.Match[str], _: Mapping[str, Any]) -> bytes:
    points = "".join(chr(int(point, 16)) for point in re.findall(r"U\+([0-9A-Fa-f]{4,6})", phrase[1]))
    length = count(phrase[2])
    return (points * (length // len(points) + 1))[:length].encode("utf-8", "surrogatepass")


_POINTS = r"(U\+[0-9A-Fa-f]{4,6}(?:[ ,]+U\+[0-9A-Fa-f]{4,6})*)"
_PHRASES: list[tuple[re.Pattern[str], Callable[[re.Match[str], Mapping[str, Any]], bytes]]] = [
    (re.compile(rf"(?:the )?numbers (\d+)\.\.({_NUMBER}) joined by (\w+|'[^']*')"), _numbers),
    (
        re.compile(
            rf"({_NUMBER}) (?:levels of )?nested (?:<(\w+)>|(\w+))(?: (?:elements|tags))?(?: (?:then|around|\+) (.+))?"
        ),
        _nested,
    ),
    (re.compile(rf"{_POINTS} (?:sequences?|repeated|clusters?)(?: of|,| to)? ({_NUMBER}) code points"), _sequence),
]
