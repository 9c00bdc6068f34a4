"""From words to bytes: the templates, generators and scripts that the case library spells in English.

`pieces` reads data: ``'a' x 2097152``, ``7,000 lines of 'X-n: aaaaa'``, ``gzip -9 of 1 GiB of zeros``, ``endless gzip
of zeros``, ``chunks totalling 2097153 bytes``; several are joined by ``+``, "then" or "followed by". `script` reads the
steps of a raw server. What has no meaning raises Unreadable, so that the case is skipped and its words are the reason.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

BLOCK = 65_536
ENDLESS = re.compile(r"\b(endless|infinite|never[- ]ending|unlimited|unbounded|for ?ever|without end)\b", re.I)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n"


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

# --- words


def unescape(text: str) -> bytes:
    r"""Bytes of a text in which ``\r\n``, ``\x00`` and the like may be written out; the rest is UTF-8."""
    escapes = re.compile(r"\\(x[0-9a-fA-F]{2}|[rnt0\\])")
    return escapes.sub(lambda found: codecs.decode(found[0], "unicode_escape"), text).encode("utf-8")


_NUMBER = r"\d[\d,_]*(?:\.\d+)?"
_SIZE = rf"(?P<number>{_NUMBER})\s*(?P<unit>[kmg])?(?:i?b\b|ibi?bytes?\b|bytes?\b|\b)"
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def quantity(text: str) -> int:
    """The first size or count in ``text``: ``2,097,153``, ``1 GiB``, ``64 KB`` (of 1 024 bytes, as the caps are)."""
    found = re.search(_SIZE, text, re.I)
    if found is None:
        raise Unreadable(text)
    return int(float(re.sub(r"[,_]", "", found["number"])) * _UNITS[(found["unit"] or "").lower()])


def _quoted(text: str) -> list[bytes]:
    return [unescape(one or other) for one, other in re.findall(r"'([^']*)'|\"([^\"]*)\"", text)]


def _bare(text: str) -> str:
    """The words without quoted strings and without remarks in brackets."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|\([^()]*\)", " ", text).lower()


# --- data


def pieces(words: str) -> Iterator[bytes]:
    """The bytes that ``words`` describe, piece by piece; endless ones never end."""
    words = re.sub(rf"({_SIZE.replace('?P<number>', '?:').replace('?P<unit>', '?:')})\s*(?:\+|plus)\s*(\d+)\s*bytes?",
                   lambda found: f"{quantity(found[1]) + int(found[2])} bytes", words.strip(), flags=re.I)  # fmt: skip
    terms = _terms(words)
    return chain.from_iterable([_term(term) for term in terms])


def whole(words: str) -> bytes:
    """The bytes that ``words`` describe, at once. Raises Unreadable for endless ones."""
    if ENDLESS.search(_bare(words)):
        raise Unreadable(words)
    return b"".join(pieces(words))


def _terms(words: str) -> list[str]:
    """Cut at ``+``, "then" and "followed by" outside of quotes."""
    joint = re.compile(r"\s*(?:\+|\bthen\b|\bfollowed by\b)\s*(?=(?:[^'\"]|'[^']*'|\"[^\"]*\")*$)", re.I)
    return [term for term in joint.split(words) if term] or [words]


def _term(words: str) -> Iterator[bytes]:
    bare = _bare(words)
    for pattern, read in _MEANINGS:
        if re.search(pattern, bare):
            return read(words, bare)
    if re.fullmatch(r"['\"][^'\"]*['\"]\s*(\([^()]*\))?", words):
        return iter(_quoted(words))
    if re.match(r"HTTP/\d|https?://|[A-Za-z][\w-]*: |[<{]", words) or not re.search(r"\s", words.strip()):
        return iter([unescape(words)])
    raise Unreadable(words)


def _unit(words: str) -> bytes:
    """What is repeated: the quoted string, zeros, blanks, or the letter a."""
    bare = _bare(words)
    quoted = [text for text in _quoted(words) if text]
    if quoted:
        return quoted[0]
    return b"\0" if re.search(r"zero|nul|0x00", bare) else b" " if re.search(r"space|blank", bare) else b"a"


def _repeated(unit: bytes, count: int) -> Iterator[bytes]:
    """``unit`` so many times, in blocks."""
    each = max(1, BLOCK // max(1, len(unit)))
    yield from repeat(unit * each, count // each)
    yield unit * (count % each)


def _times(words: str, bare: str) -> Iterator[bytes]:
    """``'a' x 10``, ``10 x 'a'``, ``'a' repeated 10 times``, ``X-Long: 'a' x 10``, ``'a' x 10, 20 times``."""
    sign = r"(?:x|\*|×|times|repeated)"
    after = re.search(rf"(['\"])(?P<text>[^'\"]*)\1\s*{sign}\s*(?P<count>{_SIZE})", words, re.I)
    before = re.search(rf"(?P<count>{_NUMBER})\s*{sign}\s*(['\"])(?P<text>[^'\"]*)\2", words, re.I)
    found = after or before
    if found is None:
        loose = re.fullmatch(rf"(?P<text>\w|zeros?|nuls?|spaces?)\s*{sign}\s*(?P<count>{_SIZE})", bare.strip())
        if loose is None:
            raise Unreadable(words)
        unit = loose["text"].encode("ascii") if len(loose["text"]) == 1 else _unit(loose["text"])
        return _repeated(unit, quantity(loose["count"]))
    prefix, suffix = words[: found.start()], re.sub(r"\([^()]*\)|\bbytes\b", "", words[found.end() :])
    outer = re.search(rf"(?P<count>{_NUMBER})\s*times|repeated (?P<other>{_NUMBER})", suffix)
    once = [unescape(prefix), *_repeated(unescape(found["text"]), quantity(found["count"]))]
    if outer:
        return chain.from_iterable(repeat([*once, b"\r\n"], quantity(outer["count"] or outer["other"])))
    return chain(once, [unescape(suffix)] if re.match(r"\s*(\\r|\r)", suffix) else [])


def _of_size(words: str, bare: str) -> Iterator[bytes]:
    """``2 MiB of 'a'``, ``2097153 bytes``, ``1000 random bytes``."""
    unit, size = _unit(words), quantity(bare)
    return _repeated(unit, size // len(unit))


def _lines(words: str, bare: str) -> Iterator[bytes]:
    """``7,000 lines of 'X-n: aaaaa'``: the n becomes the number of the line."""
    count = quantity(bare)
    text = (_quoted(words) or [b"X-n: aaaaaaaaaaaaaaaa"])[0].decode("utf-8").rstrip("\r\n")
    return (
        re.sub(r"(?<=-)n\b|\bN\b|\{n\}|<n>", str(number), text).encode("utf-8") + b"\r\n" for number in range(count)
    )


def _interim(words: str, bare: str) -> Iterator[bytes]:
    """``1,000 '100 Continue' responses``: interim answers and, at last, a page."""
    code = re.search(r"\b1\d\d\b(?!\s*(?:x|\*|times))", words)
    count = quantity(re.sub(r"\b(?:100|10[23]) ?(?:continue|processing|early hints)", "", bare))
    return chain(repeat(f"HTTP/1.1 {code[0] if code else 100} Interim\r\n\r\n".encode("ascii"), count), [OK])


def _status_line(words: str, bare: str) -> Iterator[bytes]:
    return iter([b"HTTP/1.1 200 " + b"a" * max(0, quantity(bare) - len(b"HTTP/1.1 200 "))])


# --- chunks


def _chunk(data: bytes, extension: bytes = b"") -> bytes:
    return b"%x%s\r\n%s\r\n" % (len(data), extension, data)


def chunked(data: Iterable[bytes]) -> Iterator[bytes]:
    """The chunked transfer coding of ``data``."""
    yield from (_chunk(part) for part in data if part)
    yield b"0\r\n\r\n"


def _chunks(words: str, bare: str) -> Iterator[bytes]:
    """``chunks totalling N bytes``, ``N chunks of M bytes``, ``1-byte chunks x N``, ``… with K-byte extensions``."""
    extended = re.search(rf"({_NUMBER})\s*(?:[- ]?byte|b|kb)s? (?:chunk )?extension", bare)
    extension = b";" + b"x" * quantity(extended[0]) if extended else b";x=1" if "extension" in bare else b""
    bare = bare.replace(extended[0], "") if extended else bare
    total = re.search(rf"(?:totall?ing|adding up to|summing to|in total)\s*(?P<size>{_SIZE})", bare)
    if total:
        return chunked(_repeated(b"a", quantity(total["size"])))
    size = re.search(rf"(?P<one>1|one|single)-?\s?byte chunk|chunks? of (?P<size>{_SIZE})", bare)
    length = 1 if size is None or size["one"] else quantity(size["size"])
    rest = bare.replace(size[0], "chunks") if size else bare
    count = quantity(rest) if re.search(r"\d", rest) else 1
    return chain(repeat(_chunk(b"a" * length, extension), count), [b"0\r\n\r\n"])


# --- codings


def compressor(coding: str) -> Any:
    """A zlib object that makes ``gzip``, ``zlib`` (what "deflate" means) or ``raw`` deflate."""
    return zlib.compressobj(9, zlib.DEFLATED, {"gzip": 31, "zlib": 15, "raw": -15}[coding])


def compress(data: bytes, coding: str) -> bytes:
    """``data`` in a content coding, for a body that the case states in plain words."""
    if coding in ("gzip", "x-gzip"):
        return gzip.compress(data)
    return zlib.compress(data) if coding == "deflate" else data


def _bomb(size: int | None, coding: str) -> Iterator[bytes]:
    """Compressed zeros: exact up to 64 MiB, else a repeated block, so that a bomb costs its maker nothing."""
    stream = compressor(coding)
    if size is not None and size <= 64 << 20:
        yield stream.compress(b"\0" * size) + stream.flush()
        return
    block = b"\0" * (1 << 20)
    first, second = (stream.compress(block) + stream.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    yield first
    yield from repeat(second) if size is None else repeat(second, (size >> 20) - 1)


def _coding(bare: str) -> str:
    if re.search(r"\braw\b|headerless|no zlib", bare):
        return "raw"
    return "gzip" if re.search(r"\bgz", bare) else "zlib"


def _coded(words: str, bare: str) -> Iterator[bytes]:
    """Something compressed once: members, bombs, and streams that are cut, corrupt or followed by noise."""
    outer = re.search(r"(?:raw[- ]?)?(?:gzip|gz|zlib|deflate)\w*[^'\"(]*?\b(?:of|:|\()\s*(?=\S)", words, re.I)
    coding = _coding(words[: outer.end()].lower() if outer else bare)
    if re.search(r"raw|no zlib header", words.lower().split("'")[0]) or "no zlib header" in words:
        coding = "raw"
    if re.search(r"zeros?\b|bomb|nul", bare) and not _quoted(words) and "trailing" not in bare:
        return _bomb(quantity(re.sub(r"-\d", "", bare)) if re.search(r"\d\s*[kmg]|\d{4}", bare) else 1 << 30, coding)
    if "member" in bare:
        return iter([gzip.compress(text) for text in _quoted(words)])
    inner = words[outer.end() :].rstrip(")") if outer else ""
    data = _compressed(_without_remarks(inner) if _quoted(inner) else inner, coding)
    return iter([_damaged(data, _bare(inner))])


def _without_remarks(inner: str) -> str:
    last = max(inner.rfind("'"), inner.rfind('"'))
    tail = inner[last + 1 :]
    return inner[: last + 1] + (tail if re.match(rf"\s*(x|\*|×|times|repeated)\s*{_NUMBER}", tail) else "")


def _compressed(inner: str, coding: str) -> bytes:
    stream = compressor(coding)
    parts = pieces(inner) if inner.strip() else iter([b"a" * 1_000])
    return b"".join([*(stream.compress(part) for part in parts), stream.flush()])


def _damaged(data: bytes, said: str) -> bytes:
    if re.search(r"missing|truncated|\bcut\b|incomplete|without (?:its |the )?trailer|half", said):
        count = quantity(said) if re.search(r"\d", said) else len(data) // 2
        return data[:count] if re.search(r"after|first", said) else data[: len(data) - count]
    if re.search(r"crc|checksum|corrupt|bad trailer", said):
        return data[:-8] + bytes([data[-8] ^ 0xFF]) + data[-7:]
    if re.search(r"garbage|junk|noise", said):
        return data + b"garbage"
    return data + b"\0" * 64 if "trailing zero" in said else data


def _truncated(words: str, bare: str) -> Iterator[bytes]:
    """``truncated gzip of …``, ``gzip stream cut after 100 bytes``."""
    body = re.sub(r"^\s*(?:a |an )?(?:truncated|cut|half|incomplete|corrupt(?:ed)?)\s*", "", words, flags=re.I)
    body = re.sub(r"(?:stream|body)?\s*,?\s*(?:cut|truncated|ending).*$", "", body, flags=re.I)
    return iter([_damaged(b"".join(_coded(body if re.search(r"\bof\b", body) else f"{body} of", _bare(body))), bare)])


def _endless(words: str, bare: str) -> Iterator[bytes]:
    if re.search(r"gzip|deflate|zlib|bomb", bare):
        return _bomb(None, _coding(bare))
    if "chunk" in bare:
        return repeat(_chunk(b"a" if re.search(r"1-|one-|small|tiny", bare) else b"a" * 1_024))
    if re.search(r"header|line|trailer|field", bare):
        return repeat((_quoted(words) or [b"X-Line: a"])[0].rstrip(b"\r\n") + b"\r\n")
    if re.search(r"interim|continue|hints|1xx", bare):
        return repeat(b"HTTP/1.1 100 Continue\r\n\r\n")
    return repeat(_unit(words) * 1_024)


_MEANINGS: tuple[tuple[str, Callable[[str, str], Iterator[bytes]]], ...] = (
    (ENDLESS.pattern, _endless),
    (r"brotli|zstd|\bbr\b|lzma|bzip", lambda words, _: _unknown(words)),
    (
        r"(truncated|cut|half|incomplete|corrupt).*(gzip|deflate|zlib)|(gzip|deflate|zlib).*(cut|truncated) after",
        _truncated,
    ),
    (r"gzip|\bgz\b|deflate|zlib", _coded),
    (r"chunks?\b.*\d|\d.*chunks?\b|byte chunks?", _chunks),
    (r"status line of", _status_line),
    (r"\d.*(interim|early hints|continue|1xx).*|^\s*[\d,]+\s+(interim )?responses", _interim),
    (rf"^\s*{_NUMBER}\s+(?:\w+ )?(?:lines|headers|trailers|fields|header fields)\b", _lines),
    (rf"(?:\bx|\*|×|times|repeated)\s*{_NUMBER}|{_NUMBER}\s*(?:x\b|\*|×|times)", _times),
    (rf"^\s*{_SIZE}", _of_size),
)
"""What words, outside of quotes, mean what: the first pattern that occurs."""


def _unknown(words: str) -> Iterator[bytes]:
    raise Unreadable(words)


# --- scripts


def script(steps: Iterable[Any]) -> Iterator[Step]:
    """The steps of a raw server, in order; ``repeat: …`` never ends. After the last one the server closes."""
    for step in steps:
        if isinstance(step, dict):
            yield from chain.from_iterable(_named(str(name), value) for name, value in step.items())
        elif isinstance(step, int | float):
            yield Sleep(float(step))
        else:
            yield from _spoken(str(step))


def _named(name: str, value: Any) -> Iterator[Step]:
    if name in ("send", "raw", "write", "data"):
        return iter([unescape(str(value))])
    if name in ("sleep", "wait", "sleep_s", "pause"):
        return iter([Sleep(float(value))])
    if name == "repeat" and isinstance(value, list):
        return chain.from_iterable(script(value) for _ in repeat(None))
    return _spoken(f"{name} {value}")


def _spoken(words: str) -> Iterator[Step]:
    again = re.match(
        rf"\s*(?:then )?(?:repeat|loop)(?: for ?ever| endlessly)?\s*(?P<times>{_NUMBER})?\s*(?:times|x)?\s*:?\s*",
        words,
        re.I,
    )
    if again:
        acts = [
            act
            for part in re.split(r",|;|\bthen\b|\band\b", words[again.end() :])
            if part.strip()
            for act in _act(part)
        ]
        return chain.from_iterable(repeat(acts, quantity(again["times"])) if again["times"] else repeat(acts))
    if re.search(r"HTTP/\d|\\r\\n|[\r\n]", words) and not re.match(r"\s*send\b", words, re.I):
        return iter([unescape(words)])
    parts = re.split(r";|\bthen\b|,(?=\s*(?:sleep|wait|close|send|read|never|hold|reset|and))", words)
    return chain.from_iterable(_paced(part.strip()) for part in parts if part.strip())


def _paced(words: str) -> Iterator[Step]:
    """One act, or one that is repeated ``every 2 s`` or ``per second``, which never ends."""
    pace = re.search(r"\b(?:every|per|each) (?P<number>[\d.]+)?\s*(?P<unit>ms|s|sec|seconds?|minutes?)\b", words, re.I)
    if pace is None:
        return iter(_act(words))
    pause = float(pace["number"] or 1) * {"ms": 0.001, "m": 60.0}.get(pace["unit"][:2].lower().rstrip("se"), 1.0)
    return chain.from_iterable(repeat([*_act(words[: pace.start()]), Sleep(pause)]))


def _act(words: str) -> list[Step]:
    bare, quoted = _bare(words), _quoted(words)
    pause = re.search(r"(?:sleep|wait|pause|delay)\w*\s+(?:for )?(?P<seconds>[\d.]+)\s*(?P<unit>ms|s|m)?", bare)
    if pause:
        return [Sleep(float(pause["seconds"]) * {"ms": 0.001, "m": 60.0}.get(pause["unit"] or "s", 1.0))]
    if quoted:
        return list(quoted)
    for pattern, steps in _ACTS:
        if re.search(pattern, bare):
            return list(steps)
    size = re.search(
        rf"(?P<count>{_NUMBER}|one|an?|single)\s*(?:more )?(?:[\w-]+ )?(?P<thing>byte|char|chunk|line|header)", bare
    )
    if size:
        count = quantity(size["count"]) if size["count"][0].isdigit() else 1
        return [
            {"chunk": _chunk(b"a"), "line": b"X-Line: a\r\n", "header": b"X-Line: a\r\n"}.get(size["thing"], b"a")
            * count
        ]
    if bare.startswith("send "):
        return [unescape(words.strip()[5:])]
    if not re.search(r"\s", words.strip()):
        return [unescape(words.strip())]
    raise Unreadable(words)


_ACTS: tuple[tuple[str, tuple[Step, ...]], ...] = (
    (r"\b(reset|rst|abort)\b", (Reset(),)),
    (r"\b(hold|keep|never|nothing|silen\w+|stall|hang|no more|stop|no reply)\b", (Hold(),)),
    (r"\b(close|fin|end|disconnect)\b", ()),
    (r"^(?!.*\bsend\b).*\b(accept|read|receive)\b", ()),
    (r"\bstatus[- ]line\b", (b"HTTP/1.1 200 OK\r\n",)),
    (r"\bheaders\b(?! byte)", (HEAD,)),
    (r"\b(half|part|some) (?:of )?(?:the |a )?body\b", (b"a" * 500,)),
    (r"chunk of (?:1|one|a) byte", (_chunk(b"a"),)),
)
"""Acts of a server that stand for themselves."""
