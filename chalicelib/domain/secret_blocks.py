"""Private keys as they are pasted: PEM (RFC 7468), OpenPGP, SSH2, PuTTY, base64 of a PEM, JSON Web Keys.

The whole block goes, header and footer included. A block that was cut off before its footer goes as far as its
base64 goes. A header that is only talked about stays.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator

from chalicelib.domain.secret_finding import Finding, occurrences

_BEGIN = re.compile(r"----[- ]{0,2}BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_END = re.compile(r"-{4,5} ?END (?:[A-Z0-9]{1,12} ){0,4}KEY(?: BLOCK)? ?-{4,5}")
_HEADERS = re.compile(r"\s*(?:[A-Z][A-Za-z-]{2,30}: [^\r\n]{0,200}\s+){0,6}")
# Between the pieces of base64 stand line ends, real or written as \n, and the signs of code that joins lines.
_PIECES = re.compile(
    r"(?:(?:\s|\\[rn]|[\\\"',+>|*#]){0,16}[A-Za-z0-9+/]{16,}+={0,2})++(?:(?:\s|\\[rn])[A-Za-z0-9+/]{1,15}={0,2}(?![\w/]))?"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}+={0,2}")
_MIN_KEY = 40  # characters of base64; the shortest key, Ed25519 in PKCS #8, has 64
_MAX_KEY = 65536

_BASE64_PEM = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,}+={0,2}")
_PUTTY = "PuTTY-User-Key-File-"
_PUTTY_PRIVATE = re.compile(
    r"Private-Lines: \d{1,3}\s+(?:[A-Za-z0-9+/=]{4,80}\s+){1,80}(?:Private-(?:MAC|Hash): [0-9a-f]{40,64})?"
)
_JWK_PART = re.compile(r'"(?:d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4}"([A-Za-z0-9_-]{20,}+)"')


def find_private_keys(text: str) -> Iterator[Finding]:
    """Yield every private key."""
    for begin in _BEGIN.finditer(text):
        if end := _block_end(text, begin.end()):
            yield Finding("private_key", begin.start(), end)
    for found in _BASE64_PEM.finditer(text):
        if b"PRIVATE KEY" in b64decode(found.group()[:64]):
            yield Finding("private_key", *found.span())
    yield from _find_putty(text)
    if '"kty"' in text:
        for found in _JWK_PART.finditer(text):
            yield Finding("private_key", *found.span(1))


def _block_end(text: str, start: int) -> int:
    """Where the block ends whose header ends at ``start``; 0 if no key follows the header."""
    dashes = text.find("----", start, start + _MAX_KEY)
    footer = _END.match(text, dashes) if dashes >= 0 else None
    if footer and _is_key(text, start, dashes):
        return footer.end()
    headers = _HEADERS.match(text, start)
    body = _PIECES.match(text, headers.end() if headers else start)
    return body.end() if body and _is_key(text, start, body.end()) else 0


def _is_key(text: str, start: int, end: int) -> bool:
    return sum(len(run) for run in _BASE64.findall(text, start, end)) >= _MIN_KEY


def _find_putty(text: str) -> Iterator[Finding]:
    for at in occurrences(text, _PUTTY):
        private = text.find("Private-Lines: ", at, at + 4000)
        if private >= 0 and (found := _PUTTY_PRIVATE.match(text, private)):
            yield Finding("private_key", at, found.end())
