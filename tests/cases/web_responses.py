"""From a case's words to what a site answers: ``200 text A``, ``429``, ``301 -> /new``, HTML, fields of a response."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.cases.generator_words import generate
from tests.cases.web_site import Response
from tests.cases.web_texts import chunked_text, edited, html_of, strange_page, text_of

FIRST = html_of(text_of("the page"))
"""What a page says about which a case says nothing."""

_HTML = ("Content-Type", "text/html; charset=utf-8")
_TIMES = {"once": 1, "twice": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_COUNT = r"(\d+|two|three|four|five|six|seven|ten)"
_HEADERS = {"etag": "ETag", "last_modified": "Last-Modified", "retry_after": "Retry-After", "location": "Location",
            "content_type": "Content-Type", "content_length": "Content-Length", "date": "Date", "vary": "Vary",
            "cache_control": "Cache-Control", "age": "Age", "expires": "Expires"}  # fmt: skip
_IN_WORDS = (
    ("ETag", r"\be-?tag:?\s*((?:W/)?\"[^\"]*\"|[^\s,;)]+)"),
    ("Last-Modified", r"\blast-modified:?\s*(\w{3}, [^;)]*?GMT)"),
    ("Retry-After", r"\bretry-after:?\s*(\d+|\w{3}, [^;)]*?GMT)"),
    ("Location", r"(?:->|→|=>|\blocation:?|\bto)\s*(\S+?)[),;]*(?=\s|$)"),
)
_FAULTS = (
    ("timeout", r"^(?:read |connect )?time[sd]? ?-?out|^hangs?\b|never answers|\bno (?:answer|reply)|^silen|^stall"),
    ("dns", r"\bdns\b|nxdomain|does not resolve|^name (?:error|resolution)"),
    (
        "refused",
        r"connection refused|^refused|^connect(?:ion)? (?:error|fail)|^unreachable|^(?:server |site |host )?down\b",
    ),
    ("reset", r"^reset\b|\brst\b|connection (?:reset|lost|closed|dropped)|^disconnect"),
    ("truncated", r"truncated (?:body|response|transfer)|^body cut|content-length mismatch|incomplete read"),
)


def response_of(spoken: Any, last: str = FIRST) -> Response:
    """The response that a case describes; ``last`` is the page that the site showed before. Raises Unreadable."""
    if isinstance(spoken, dict):
        return _of_fields(spoken, last)
    if isinstance(spoken, int):
        return _page(spoken, last)
    words = str(spoken).strip()
    if words.startswith("<"):
        return _page(200, words)
    coded = re.match(r"(?:HTTP(?:/[\d.]+)?\s*)?([1-5]\d\d)\b(?! chunks?\b)", words)
    fault = next((name for name, pattern in _FAULTS if re.search(pattern, words, re.I)), None)
    if coded is None and fault:
        return replace(_page(200, last), fault=fault)
    status, rest = (int(coded[1]), words[coded.end(1) :].strip(" ,:")) if coded else (200, words)
    headers = []
    for name, pattern in _IN_WORDS:
        found = re.search(pattern, rest, re.I)
        if found and (name != "Location" or 300 <= status < 400):
            headers.append((name, found[1]))
            rest = rest.replace(found[0], " ")
    page = _page(status, content_of(re.sub(r"[()]|\bwith\b|\bno (?:etag|validators?)\b", " ", rest), last))
    return Response(status, (*page.headers, *headers), page.body)


def _page(status: int, body: str) -> Response:
    return Response(status, (_HTML,) if status == 200 else (), b"" if status == 304 else body.encode())


def content_of(words: str, last: str) -> str:
    """The HTML that some words stand for: a label is a long text of its own, ``same`` is ``last``."""
    words = words.strip(" \t,;:'\"")
    if words.startswith("<"):
        return words
    chunks = re.match(r"(\d[\d,]*) chunks?\b[\s,;:]*(.*)", words, re.I)
    if chunks:
        text = chunked_text(int(chunks[1].replace(",", "")))
        return html_of(edited(text, chunks[2]) if chunks[2] else text)
    if not words or re.fullmatch(r"(?:the )?(?:same|identical|unchanged|as before|again|ok)\b.*", words, re.I):
        return last
    if re.fullmatch(r"(?:empty|blank|no|zero|0)\b.*(?:body|text|bytes?|page)?|empty", words, re.I):
        return ""
    strange = strange_page(words)
    if strange is not None:
        return strange
    return html_of(text_of(label_of(words)))


def label_of(words: str) -> str:
    """The name of a text: ``text A``, ``content A`` and ``A`` are one."""
    return re.sub(
        r"^(?:(?:the|new|page|with|text|content|body|says|hash|version|html)\b\s*)+(?=\S)", "", words, flags=re.I
    )


def _of_fields(fields: dict[str, Any], last: str) -> Response:
    spoken = str(fields.get("status", fields.get("code", 200)))
    if not re.match(r"\d{3}\b", spoken):
        return response_of(spoken, last)
    status = int(spoken[:3])
    headers = {str(name): value for name, value in (fields.get("headers") or {}).items()}
    for key, name in _HEADERS.items():
        if fields.get(key) is not None:
            headers[name] = str(fields[key])
    if status == 200 and "content-type" not in {name.lower() for name in headers}:
        headers["Content-Type"] = _HTML[1]
    pairs = [
        (name, str(one)) for name, value in headers.items() for one in (value if isinstance(value, list) else [value])
    ]
    return Response(status, tuple(pairs), _body(fields, last))


def _body(fields: dict[str, Any], last: str) -> bytes:
    if "body_b64" in fields:
        return base64.b64decode(fields["body_b64"])
    if "generator" in fields:
        return generate(fields["generator"], fields)
    for key in ("body", "text", "page", "content", "html", "body_text"):
        value = fields.get(key)
        if isinstance(value, dict):
            return _body(value, last)
        if value is not None:
            return content_of(str(value), last).encode() if str(value) else b""
    return html_of(text_of(label_of(str(fields["hash"])))).encode() if fields.get("hash") else last.encode()


def each_run(runs: Any) -> Iterator[Any]:
    """The runs of a sequence one by one: a list, or ``A -> B -> A``; ``404 x 3`` and ``5 times 500`` are several."""
    if isinstance(runs, str):
        runs = re.split(r"\s*(?:,|;|\bthen\b|→|->)\s*", runs)
    for run in runs:
        if isinstance(run, dict) and isinstance(run.get("times"), int):
            yield from [run] * run["times"]
            continue
        if isinstance(run, str) and not run.startswith("<"):
            after = re.fullmatch(
                rf"(.*?\S)\s*(?:[x×*]\s*{_COUNT}|,?\s*{_COUNT} times|\((?:x|×)?\s*{_COUNT}(?: times)?\))", run
            )
            before = re.fullmatch(rf"{_COUNT}\s*(?:x|×|times)\s*(\S.*)", run)
            if after:
                yield from [after[1]] * _number(next(group for group in after.groups()[1:] if group))
                continue
            if before:
                yield from [before[2]] * _number(before[1])
                continue
        yield run


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _TIMES[word.lower()]
