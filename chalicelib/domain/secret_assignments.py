"""Secrets that are told by their name: assignments, headers, flags, elements, and sentences such as "the password is".

A name is followed by one of a few ways to give it a value; the value is then judged for itself, so that prose,
code that reads a secret, templates and placeholders stay.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator

from chalicelib.domain.secret_finding import Finding
from chalicelib.domain.secret_given import Given, given_to, is_key_of_line
from chalicelib.domain.secret_names import Name, Sort, find_names
from chalicelib.domain.secret_values import is_password, is_placeholder, is_token

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,400}={0,2}")
_AWS_SECRET = re.compile(r"[A-Za-z0-9/+=]{40}")
_AZURE_KEY = re.compile(r"[A-Za-z0-9/+]{40,90}={0,2}")
_AZURE_NAME = re.compile(r"(?:account|shared ?access)[_ -]?key")
_NESTED = 3
# Tokens that name a process and open nothing.
_TRACE_WORDS = "request correlation session trace device push lock fencing lease event job upload download"
_TRACES = frozenset(_TRACE_WORDS.split())


def find_assigned(text: str) -> Iterator[Finding]:
    """Yield the values that stand beside the names of secrets."""
    done = tried = tries = 0
    for name in find_names(text):
        if name.start < done or text.endswith("://", 0, name.start) or not (given := given_to(text, name)):
            continue
        if found := _judge(text, name, given):
            done = found.end
            yield found
        # A value may hold further names (auth:password=x), but not without end: each would judge the same run again.
        elif name.start < tried:
            tries += 1
            done = tried if tries > _NESTED else done
        else:
            tried, tries = given.value.end, 0


def _judge(text: str, name: Name, given: Given) -> Finding | None:
    """The finding, if the value is a secret of the sort that the name announces."""
    value = given.value
    secret = text[value.start : value.end]
    if name.sort is Sort.PASSWORD:
        kind = "password" if _is_password(text, name, given, secret) else ""
    elif name.sort is not Sort.TOKEN and (password := _basic_password(secret)) is not None:
        kind = "" if is_placeholder(password) else "basic_auth"
    elif name.sort is Sort.ENCODED:
        kind = ""
    elif "aws" in name.words and _AWS_SECRET.fullmatch(secret) and _is_mixed(secret) and not is_placeholder(secret):
        kind = "aws_secret_key"  # one in 64 begins like a path
    else:
        kind = _token_kind(name, secret) if is_token(secret, quoted=value.quoted, uuids=_owns_uuids(name)) else ""
    return Finding(kind, value.start, value.end) if kind else None


def _is_mixed(secret: str) -> bool:
    return all(any(map(test, secret)) for test in (str.isupper, str.islower, str.isdigit))


def _is_password(text: str, name: Name, given: Given, secret: str) -> bool:
    quoted = given.value.quoted
    if not is_password(secret, quoted=quoted, assigned=True):
        return False
    certain = given.certain
    if certain is None:
        certain = is_key_of_line(text, name)
    return certain or is_password(secret, quoted=quoted, assigned=False)


def _owns_uuids(name: Name) -> bool:
    """Whether even a UUID is a secret here: an API key, a client secret, a token of somebody's."""
    if name.sort is Sort.HEADER or name.word != "token":
        return True
    return len(name.words) > 1 and _TRACES.isdisjoint(name.words)


def _token_kind(name: Name, secret: str) -> str:
    if name.sort is Sort.HEADER:
        return "bearer_token"
    if _AWS_SECRET.fullmatch(secret) and ("aws" in name.words or "access" in "".join(name.words)):
        return "aws_secret_key"
    if _AZURE_KEY.fullmatch(secret) and _AZURE_NAME.search("".join(name.words)):
        return "azure_storage_key"
    return "api_key" if name.word.startswith("api") else "token" if name.word == "token" else "secret"


def _basic_password(secret: str) -> str | None:
    """The password, if ``secret`` is base64 of ``user:password`` (RFC 7617)."""
    if not _BASE64.fullmatch(secret):
        return None
    try:
        pair = b64decode(secret + "=" * (-len(secret) % 4)).decode("utf-8")
    except (Error, UnicodeDecodeError):
        return None
    return pair.partition(":")[2] if ":" in pair and pair.isprintable() else None
