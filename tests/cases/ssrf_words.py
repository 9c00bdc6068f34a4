"""From words to bytes: the templates, generators and scripts that the case library spells in English.

``pieces`` reads expressions such as ``'a' x 2097152``, ``7,000 lines of 'X-n: aaaaa'``, ``gzip -9 of 1 GiB of zeros``,
``chunks totalling 2097153 bytes`` or ``endless gzip of zeros``, joined by ``+``. ``script`` reads the steps of a raw
server. What can't be read raises Unreadable, so that the case is skipped with the words in the reason.
"""

from __future__ import annotations

import codecs
import gzip
import itertools
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

BLOCK = 65_536
UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
NUMBER = r"(?P<number>\d[\d,_. ]*\d|\d)\s*(?P<unit>[kmg]i?)?(?:b|ytes?)?\b(?:\s*bytes?)?"
ENDLESS = re.compile(r"\b(endless|infinite|never[- ]ending|unlimited|forever)\b", re.I)


class Unreadable(Exception):
    """Words that this reader has no meaning for."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """A pause of the server, in seconds before scaling."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reset:
    """The server aborts the connection with a RST."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The server keeps the connection open and silent."""


@dataclass(frozen=True, slots=True)
class Drop:
    """The server closes the TCP connection without ending TLS."""


Step = bytes | Sleep | Reset | Hold | Drop


def unescape(text: str) -> bytes:
    r"""Bytes of a text in which ``\r\n``, ``\x00`` and the like may be written out; the rest is UTF-8."""
    escapes = re.compile(r"\\(x[0-9a-fA-F]{2}|[rnt0\\])")
    return escapes.sub(lambda found: codecs.decode(found[0], "unicode_escape"), text).encode("utf-8")


def quantity(text: str) -> int:
    """The first number of bytes or things in ``text``: ``2,097,153``, ``1 GiB``, ``64 KB`` (of 1 024, as caps are)."""
    found = re.search(NUMBER, text, re.I)
    if found is None:
        raise Unreadable(text)
    number = float(re.sub(r"[,_ ]", "", found["number"]))
    unit = (found["unit"] or "").lower()
    return int(number * UNITS[unit if unit in ("", "ki", "mi", "gi") else unit + "i"])


def pieces(words: str) -> Iterator[bytes]:
    """The bytes that ``words`` describe, piece by piece; endless ones never end."""
    words = words.strip()
    terms = _split_terms(words)
    if len(terms) > 1:
        return itertools.chain.from_iterable([pieces(term) for term in terms])
    return _term(words)


def whole(words: str) -> bytes:
    """The bytes that ``words`` describe, at once. Raises Unreadable for endless ones."""
    if ENDLESS.search(words):
        raise Unreadable(words)
    return b"".join(pieces(words))


def _split_terms(words: str) -> list[str]:
    parts = re.findall(r"(?:'[^']*'|\"[^\"]*\"|\([^()]*\)|[^+'\"()]|['\"()])+", words)
    return [part.strip() for part in parts if part.strip()]


def _term(words: str) -> Iterator[bytes]:
    bare = re.sub(r"\s*\([^()]*\)\s*$", "", words)  # a closing remark in brackets explains, it adds nothing
    for pattern, read in _TERMS:
        found = re.fullmatch(pattern, bare, re.I | re.S)
        if found:
            return read(found)
    raise Unreadable(words)


def _endless(found: re.Match[str]) -> Iterator[bytes]:
    inner = found["inner"].strip()
    coding = re.fullmatch(
        r"(?:a |stream of )*(gzip|deflate|zlib)(?:ped|d)?(?: stream)?(?: (?:of )?(?P<what>.*))?", inner, re.I
    )
    if coding:
        return _zeros(None, coding[1].lower())
    if re.search(r"chunk", inner, re.I):
        return itertools.repeat(_chunk(b"a" * 1_024))
    return itertools.repeat((_unit(inner) or b"a") * 1_024)


def _unit(words: str) -> bytes:
    quoted = re.search(r"'([^']*)'|\"([^\"]*)\"", words)
    if quoted:
        return unescape(quoted[1] if quoted[1] is not None else quoted[2])
    return b"\0" if re.search(r"zero|nul", words, re.I) else b" " if re.search(r"space|blank", words, re.I) else b"a"


def _repeated(unit: bytes, count: int) -> Iterator[bytes]:
    whole_blocks, rest = divmod(count, max(1, BLOCK // max(1, len(unit))))
    block = unit * max(1, BLOCK // max(1, len(unit)))
    yield from itertools.repeat(block, whole_blocks)
    yield unit * rest


def _lines(found: re.Match[str]) -> Iterator[bytes]:
    count, text = quantity(found["count"]), found["text"]
    for number in range(count):
        line = re.sub(r"(?<=-)n\b|\bN\b|\{n\}|<n>", str(number), text)
        yield unescape(line) + b"\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def chunked(data: Iterable[bytes]) -> Iterator[bytes]:
    """The chunked transfer coding of ``data``."""
    yield from (_chunk(part) for part in data if part)
    yield b"0\r\n\r\n"


def _chunks_totalling(found: re.Match[str]) -> Iterator[bytes]:
    return chunked(_repeated(b"a", quantity(found["size"])))


def _chunks_of(found: re.Match[str]) -> Iterator[bytes]:
    size = quantity(found["size"]) if found["size"] else 1
    yield from itertools.repeat(_chunk(b"a" * size), quantity(found["count"]))
    yield b"0\r\n\r\n"


def compressor(coding: str) -> Any:
    """A zlib object that makes ``gzip``, ``zlib`` (what "deflate" means) or ``raw`` deflate."""
    return zlib.compressobj(9, zlib.DEFLATED, {"gzip": 31, "zlib": 15, "deflate": 15, "raw": -15}[coding])


def _zeros(size: int | None, coding: str) -> Iterator[bytes]:
    """Compressed zeros: exact up to 64 MiB, else a repeated block, so that a bomb costs its maker nothing."""
    stream = compressor(coding)
    if size is not None and size <= 64 << 20:
        yield stream.compress(b"\0" * size) + stream.flush()
        return
    block = b"\0" * (1 << 20)
    first, second = (stream.compress(block) + stream.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    yield first
    yield from itertools.repeat(second) if size is None else itertools.repeat(second, (size >> 20) - 1)


def _compressed(found: re.Match[str]) -> Iterator[bytes]:
    kind = found["coding"].lower()
    coding = "raw" if "raw" in kind else "gzip" if "gz" in kind else "zlib"
    inner = found["inner"]
    zeros = re.fullmatch(
        rf"(?P<size>{NUMBER})\s*(?:of )?(?:zeros?|zero bytes|nul(?:l)?s?|.{{0,3}}0.{{0,3}})", inner, re.I
    )
    if zeros:
        return _zeros(quantity(zeros["size"]), coding)
    stream = compressor(coding)
    data = b"".join(stream.compress(part) for part in pieces(inner)) + stream.flush()
    cut = re.search(r"truncated|cut|half|without (?:its |the )?trailer", found["before"] or "", re.I)
    return iter([data[: len(data) // 2] if cut else data])


def _literal(found: re.Match[str]) -> Iterator[bytes]:
    return iter([unescape(found["text"])])


def _times(found: re.Match[str]) -> Iterator[bytes]:
    before = unescape(found["prefix"] or "")
    after = unescape(found["suffix"] or "")
    count = quantity(found["count"])
    return itertools.chain([before], _repeated(unescape(found["text"]), count), [after])


def _bytes_of(found: re.Match[str]) -> Iterator[bytes]:
    return _repeated(_unit(found["what"] or ""), quantity(found["size"]))


_COUNT = r"\d[\d,_ ]*(?:\s*[kmg]i?b)?"
_SIZE = r"\d[\d,_.]*\s*(?:[kmg]i?b|[kmg]i|bytes?)?"
_QUOTED = r"['\"](?P<text>[^'\"]*)['\"]"
_LINES = (
    rf"(?P<count>{_COUNT}) (?:header |short |trailer )?(?:lines|headers|trailers|fields)(?: of| like|:)? {_QUOTED}.*"
)
_CODED = (
    r"(?P<before>.*?)(?P<coding>raw[- ]deflate|gzip|gz|zlib|deflate)(?:ped|d)?(?: -\d)?"
    r"(?: stream| member)?(?: of|:)? (?P<inner>.*)"
)
_TIMES = (
    rf"(?P<prefix>[^'\"]*){_QUOTED}\s*(?:x|\*|×|times|repeated)\s*(?P<count>{_COUNT})"
    r"(?: times)?(?P<suffix>(?:\\r|\\n|\r|\n).*)?"
)
_TERMS = (
    (r"(?:an? )?(?:endless|infinite|never[- ]ending|unlimited)\s+(?P<inner>.*)", _endless),
    (_LINES, _lines),
    (rf"(?:many )?chunks (?:totall?ing|adding up to|summing to) (?P<size>{_SIZE}).*", _chunks_totalling),
    (rf"(?P<count>{_COUNT}) (?:one-byte |1-byte )?chunks(?: of (?P<size>{_SIZE}).*)?", _chunks_of),
    (_CODED, _compressed),
    (rf"(?P<size>{_SIZE})(?: of)? (?P<what>.*)", _bytes_of),
    (_QUOTED, _literal),
    (_TIMES, _times),
    (r"(?P<text>(?:HTTP/|https?://|[A-Za-z-]+: |<|\{|[\w.-]+/).*|[^ ]+)", _literal),
)


def script(steps: Iterable[Any]) -> Iterator[Step]:
    """The steps of a raw server, in order; ``repeat: …`` never ends. Without an explicit end the server closes."""
    for step in steps:
        if isinstance(step, dict):
            yield from itertools.chain.from_iterable(_named_step(name, value) for name, value in step.items())
        elif isinstance(step, int | float):
            yield Sleep(float(step))
        else:
            yield from _spoken_step(str(step))


def _named_step(name: str, value: Any) -> Iterator[Step]:
    if name in ("send", "raw"):
        yield unescape(str(value))
    elif name in ("sleep", "wait", "sleep_s"):
        yield Sleep(float(value))
    else:
        yield from _spoken_step(f"{name} {value}")


def _spoken_step(words: str) -> Iterator[Step]:
    repeat = re.match(
        r"\s*(?:repeat|loop|then repeat|forever)\s*(?P<times>\d[\d,]*)?\s*(?:times)?\s*:?\s*", words, re.I
    )
    if repeat:
        acts = [
            act
            for part in re.split(r",|;| then | and ", words[repeat.end() :])
            if part.strip()
            for act in _act(part.strip())
        ]
        yield from itertools.chain.from_iterable(
            itertools.repeat(acts, quantity(repeat["times"])) if repeat["times"] else itertools.repeat(acts)
        )
        return
    if re.search(r"HTTP/\d|\\r\\n|[\r\n]", words) and not re.match(r"\s*send\b", words, re.I):
        yield unescape(words)
        return
    every = re.search(r"(?P<what>.*) every (?P<seconds>[\d.]+)\s*s", words, re.I)
    if every:
        yield from itertools.chain.from_iterable(
            itertools.repeat([*_act(every["what"]), Sleep(float(every["seconds"]))])
        )
        return
    for part in re.split(r"; | then |, (?=sleep|wait|close|send)", words):
        yield from _act(part.strip())


def _act(words: str) -> list[Step]:
    lower = words.lower()
    pause = re.search(r"(?:sleep|wait|pause)\w*\s+(?:for )?(?P<seconds>[\d.]+)\s*(?P<unit>ms|s|m)?", lower)
    if pause:
        return [Sleep(float(pause["seconds"]) * {"ms": 0.001, "m": 60.0}.get(pause["unit"] or "s", 1.0))]
    if re.search(r"\b(reset|rst)\b", lower):
        return [Reset()]
    if re.search(r"\b(hold|keep|never|nothing|silent|stall|hang|forever|no more)\b", lower):
        return [Hold()]
    if re.search(r"\b(close|fin|end|disconnect)\b", lower):
        return []
    if re.search(r"\b(accept|read|receive)\b", lower) and "send" not in lower:
        return []
    quoted = re.search(r"'([^']*)'|\"([^\"]*)\"", words)
    if quoted:
        return [unescape(quoted[1] if quoted[1] is not None else quoted[2])]
    size = re.search(r"(\d[\d,]*|one|a|single)\s*(?P<what>[\w-]*)\s*(byte|char|chunk|line|header)", lower)
    if size:
        count = int(size[1].replace(",", "")) if size[1][0].isdigit() else 1
        if size[3] == "chunk":
            return [_chunk(b"a") * count]
        if size[3] in ("line", "header"):
            return [b"X-Line: a\r\n" * count]
        return [b"a" * count]
    if words.startswith(("send ", "Send ")):
        return [unescape(words[5:])]
    raise Unreadable(words)


def compress(data: bytes, coding: str) -> bytes:
    """``data`` in a content coding, for a body that the case states in plain words."""
    if coding in ("gzip", "x-gzip"):
        return gzip.compress(data)
    return zlib.compress(data) if coding == "deflate" else data
