"""Secrets in commands, headers and lines whose form alone tells what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chalicelib.domain.secret_finding import Finding
from chalicelib.domain.secret_values import is_password, is_token

# Each pattern starts at a literal and looks at a bounded stretch of one line; the group is the secret.
_USER_AND_PASSWORD = re.compile(
    r"-(?<=[ \t'\"]-)(?:u|-user|-proxy-user|U)[ =]{0,2}([\"']?)[^\s:\"'@/]{1,64}:([^\s\"']{3,128})"
)
_MYSQL = re.compile(
    r"(?:mysql(?:dump|admin|import)?|mariadb)\b[^\n|;&]{0,120}?[ \t]-p([\"']?)([^\s\"'-][^\s\"']{5,127})"
)
_SSHPASS = re.compile(r"sshpass[ \t]{1,4}-p[ \t]{0,4}([\"']?)([^\s\"'-][^\s\"']{3,127})")
_REDIS = re.compile(r"redis-cli\b[^\n|;&]{0,120}?[ \t](?:-a|--pass)[ \t]{1,4}([\"']?)([^\s\"']{6,128})")
_SQLCMD = re.compile(r"(?:sqlcmd|bcp)\b[^\n|;&]{0,120}?[ \t]-P[ \t]{0,4}([\"']?)([^\s\"']{6,128})")
_OPENSSL = re.compile(r"-pass(?:in|out)?[ \t]{1,4}([\"']?)pass:([^\s\"']{4,128})")
_LOGIN = re.compile(r" login\b[^\n|;&]{0,160}?[ \t]-p[ \t]{1,4}([\"']?)([^\s\"'-][^\s\"']{5,255})")
_PASSWORDS = (_USER_AND_PASSWORD, _MYSQL, _SSHPASS, _REDIS, _SQLCMD, _OPENSSL, _LOGIN)
_PASSWORD_SIGNS = (
    "-u",
    "-U",
    "--user",
    "--proxy-user",
    "mysql",
    "mariadb",
    "sshpass",
    "redis-cli",
    "sqlcmd",
    "bcp",
    "-pass",
    " login",
)

_BEARER = re.compile(r"(?:[Bb]earer|BEARER)[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,4096}+)")
_COOKIE = re.compile(r"[Cc]ookie[\"']?:[ \t]{0,4}([^\r\n]{8,4096})")
_COOKIE_VALUE = re.compile(r"[^\s\"',]{16,2048}")
_SESSION = re.compile(r"sess|sid|auth|token|jwt|login|remember", re.IGNORECASE)


def find_in_commands(text: str) -> Iterator[Finding]:
    """Yield passwords on command lines, bearer tokens and session cookies."""
    if any(sign in text for sign in _PASSWORD_SIGNS):
        for pattern in _PASSWORDS:
            for found in pattern.finditer(text):
                if is_password(found.group(2), quoted=True, assigned=True):
                    yield Finding("password", *found.span(2))
    for found in _BEARER.finditer(text):
        if is_token(found.group(1), quoted=True, uuids=True):
            yield Finding("bearer_token", *found.span(1))
    for header in _COOKIE.finditer(text):
        yield from _find_in_cookies(header.group(1), header.start(1))


def _find_in_cookies(header: str, offset: int) -> Iterator[Finding]:
    for pair in header.split(";"):
        name, _, value = pair.partition("=")
        found = _COOKIE_VALUE.match(value)
        if found and _SESSION.search(name) and is_token(found.group(), quoted=True, uuids=True):
            start = offset + len(name) + 1
            yield Finding("session_cookie", start, start + found.end())
        offset += len(pair) + 1
