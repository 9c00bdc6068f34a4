"""The reader of the case library's English: a wrong reading would make a wrong verdict."""

from __future__ import annotations

import gzip
import zlib
from itertools import islice

import pytest

from tests.cases.ssrf_words import Drop, Hold, Reset, Sleep, Unreadable, pieces, quantity, script, whole


@pytest.mark.parametrize(
    ("words", "data"),
    [
        ("'ab' x 3", b"ababab"),
        ("3 x 'ab'", b"ababab"),
        ("'ab' repeated 3 times", b"ababab"),
        ("X-Long: 'a' x 4 (line of 12 bytes without CRLF)", b"X-Long: aaaa"),
        ("http://src.example.com/ + 'a'*3", b"http://src.example.com/aaa"),
        ("'HTTP/1.1 200 OK\\r\\n' + 'a' x 2", b"HTTP/1.1 200 OK\r\naa"),
        ("2 lines of 'X-n: a'", b"X-0: a\r\nX-1: a\r\n"),
        ("chunks totalling 3 bytes", b"3\r\naaa\r\n0\r\n\r\n"),
        ("2 chunks of 1 byte", b"1\r\na\r\n1\r\na\r\n0\r\n\r\n"),
        ("1-byte chunks x 2", b"1\r\na\r\n1\r\na\r\n0\r\n\r\n"),
        ("a single chunk of 3 bytes", b"3\r\naaa\r\n0\r\n\r\n"),
        ("4 bytes of 'ab'", b"abab"),
        ("1 KiB + 1 byte of 'a'", b"a" * 1_025),
    ],
)
def test_data(words: str, data: bytes) -> None:
    assert whole(words) == data


@pytest.mark.parametrize(
    ("words", "data"),
    [
        ("gzip of 'page'", b"page"),
        ("gzip -9 of 1 MiB of zeros (1 KB on the wire)", b"\0" * (1 << 20)),
        ("gzip of 2097153 bytes of 'a'", b"a" * 2_097_153),
        ("gzip of 'pa' + gzip of 'ge'", b"page"),
        ("two gzip members: 'pa' and 'ge'", b"page"),
    ],
)
def test_gzip(words: str, data: bytes) -> None:
    assert gzip.decompress(whole(words)) == data


def test_deflate_raw_and_wrapped() -> None:
    assert zlib.decompress(whole("deflate of 'page'")) == b"page"
    assert zlib.decompress(whole("raw deflate of 'page'"), -15) == b"page"


@pytest.mark.parametrize(
    "words", ["truncated gzip of 'page'", "gzip of 'page', last 4 bytes missing", "gzip of 'page' with wrong CRC"]
)
def test_damaged_gzip(words: str) -> None:
    with pytest.raises((EOFError, zlib.error, gzip.BadGzipFile)):
        gzip.decompress(whole(words))


def test_a_bomb_is_a_gzip_stream_that_never_ends() -> None:
    stream = zlib.decompressobj(31)
    plain = b"".join(stream.decompress(part) for part in islice(pieces("endless gzip of zeros"), 3))
    assert plain == b"\0" * (3 << 20)
    with pytest.raises(Unreadable):
        whole("endless gzip of zeros")


@pytest.mark.parametrize(
    ("words", "number"), [("2,097,153", 2_097_153), ("64 KB", 65_536), ("1 GiB", 1 << 30), ("2MB of", 2 << 20)]
)
def test_quantities(words: str, number: int) -> None:
    assert quantity(words) == number


@pytest.mark.parametrize(
    ("step", "acts"),
    [
        ("HTTP/1.1 200 OK\\r\\n", [b"HTTP/1.1 200 OK\r\n"]),
        ("repeat: send 1 header byte, sleep 2 s", [b"a", Sleep(2.0), b"a", Sleep(2.0)]),
        ("1 chunk every 5 s", [b"1\r\na\r\n", Sleep(5.0), b"1\r\na\r\n", Sleep(5.0)]),
        ("accept, send nothing", [Hold()]),
        ("reset", [Reset()]),
        ("close", []),
        ("wait 30 s", [Sleep(30.0)]),
        ({"send": "ok", "sleep": 1}, [b"ok", Sleep(1.0)]),
    ],
)
def test_steps(step: object, acts: list[bytes | Sleep | Reset | Hold | Drop]) -> None:
    assert list(islice(script([step]), 4)) == acts


@pytest.mark.parametrize("words", ["brotli of 'page'", "something that nobody understands"])
def test_what_has_no_meaning_is_not_guessed(words: str) -> None:
    with pytest.raises(Unreadable):
        whole(words)
