"""What the name of a secret is given: the signs that stand between a name and its value, and where the value ends."""

from __future__ import annotations

import re
from typing import NamedTuple

from chalicelib.domain.secret_names import Name, Sort


class Value(NamedTuple):
    """A value at ``text[start:end]``, without its quotes."""

    start: int
    end: int
    quoted: bool


class Given(NamedTuple):
    """A value, and whether it is given in code or configuration (True) or told in prose (False).

    None leaves it to the line: behind a colon it is configuration if the name begins the line.
    """

    value: Value
    certain: bool | None


_QUOTE = r"(?:\\{0,3}[\"'`]|&quot;|&apos;|&#0?3[49];|&#x2[27];)"
_CLOSE = rf"(?:{_QUOTE}|[\[\])}}*~]){{0,5}}"
_ASSIGN = re.compile(rf"{_CLOSE}[ \t]{{0,12}}(?:[:=]{{1,3}}>?|[?!+~|]{{1,2}}=|->|：|＝|%3[Dd])[*_]{{0,3}}[ \t]{{0,12}}")
# Prose goes on with a word and no sign: "the token that".
_BEGINS_WORD = re.compile(r" [A-Za-z]{1,40}+(?! ?[\w.\[\]<>?*&|]{0,40} ?=)")
# let token: string = "…", var token string = "…", char *token = "…"
_TYPED = re.compile(
    r"[ \t]{0,2}:?[ \t]?[A-Za-z_*&][\w.\[\]?*&]{0,40}(?:<[\w, ]{0,40}>)?(?: \| \w{1,20})?"
    rf"[ \t]{{0,2}}=[ \t]{{0,4}}(?={_QUOTE})"
)
# <add key="ApiKey" value="…" />, with a few other attributes in between.
_ATTRIBUTE = re.compile(
    r"[\"'](?:\s{1,40}[\w:.-]{1,40}\s{0,2}=\s{0,2}(?:\"[^\"<>]{0,80}\"|'[^'<>]{0,80}')){0,3}?"
    r"\s{1,40}(?:value|content)\s{0,2}=\s{0,2}(?=[\"'])"
)
# The name is itself a value, and what it is given follows under a key or a flag of its own: {"name": "DB_PASSWORD",
# "value": "…"}, a container's env in YAML, az keyvault secret set --name DbPassword --value …; or it holds a record.
_VALUE_KEY = r"[\"']?(?:parameter)?value[\"']?[ \t]{0,4}[:=][ \t]{0,8}"
_OTHER_KEYS = r"(?:\"\w{1,20}\": ?\"?\w{1,20}\"?,\s{1,40}){0,3}"
_UNDER_VALUE = re.compile(
    rf"[\"']?[ \t]{{0,4}}(?:,|\r?\n)\s{{0,40}}{_VALUE_KEY}"
    rf"|[\"']?[ \t]{{0,4}}[:=][ \t]{{0,4}}\{{\s{{0,40}}{_OTHER_KEYS}{_VALUE_KEY}"
    r"|[ \t]{1,4}-{1,2}(?:body|value|b)[ \t=]{1,4}",
    re.IGNORECASE,
)
_CALL = re.compile(rf"{_CLOSE}[ \t]{{0,2}}(?:[(,]|\|\|)\s{{0,4}}(?={_QUOTE})")
_SPACE = re.compile(r"[\"']?[ \t]{1,8}")
# A verb, a dash, the border of a cell, or a quote: SQL's IDENTIFIED BY '…', nginx's proxy_set_header X-Api-Key "…".
_TOLD = re.compile(
    r"[*_`]{0,3}[ \t]{1,4}(?:is|was|are|ist|war|lautet|est|es|è|je|jest|(?:has )?(?:been )?(?:set|changed|reset) to)"
    r"(?: now)?:?[ \t]{1,4}|[ \t][-–—→][ \t]|[是为為]\s?"
    rf"|[*`]{{0,3}}[ \t]{{0,20}}[|\t][ \t|:]{{0,20}}|[ \t]{{1,4}}(?={_QUOTE})",
    re.IGNORECASE,
)
# One that ends with /> holds nothing: what follows isn't its own.
_ELEMENT = re.compile(r"[^<>\n]{0,80}(?<!/)>\s{0,40}([^<>\s][^<>]{0,1023}?)\s{0,40}<")
_ESCAPED_ELEMENT = re.compile(r"&gt;\s{0,8}([^&<>]{1,1024}?)\s{0,8}&lt;")
_KEY_OF_ELEMENT = re.compile(r"[\"'][^<>\n]{0,80}>")
# A value on the next line: quoted, or a block of YAML.
_NEXT_LINE = re.compile(
    rf"(?:[|>][+-]?[ \t]{{0,4}})?\r?\n[ \t]{{1,16}}(?={_QUOTE})|[|>][+-]?[ \t]{{0,4}}\r?\n[ \t]{{1,16}}"
)
_SCHEME = re.compile(
    r"(?:bearer|basic|token|apikey|api-key|bot|ssws|splunk|key|digest)[ \t]{1,4}|base64:", re.IGNORECASE
)
_OPEN = re.compile(rf"(?:[bfruBFRUL@$]{{0,2}})({_QUOTE}|[“„«])")
_SHUT = {"“": "”", "„": "“", "«": "»"}
_ESCAPED = {mark: re.compile(rf"(?:[^{mark}\\\r\n]|\\.){{0,1024}}(?={mark})") for mark in "\"'`"}
# A bare value ends at a blank, a quote, an angle bracket, the next pair of a list, and where CJK text goes on.
_BARE = re.compile(
    r"(?:[^\s\"'`<>;,&|\\“”\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]{1,400}+"
    r"|[;,&|](?![\s;,&|]|$|[\w. -]{1,40}[=:]|#?\w{1,8};)|\\(?![nrt\"'])){1,8}"
)
_FORM_VALUE = re.compile(r"(?:[^\s\"'`<>&%]|%(?!26)){1,400}+")  # %26 is an ampersand there
_LINE_ENDS = frozenset("|>\r\n")
_PAIRS = {")": "(", "]": "[", "}": "{"}

_SETS = re.compile(r"(?:^|\s)(?:env|setenv|setx|set -\w{1,3}|config(?:ure)? set)[ \t]{1,4}\Z", re.IGNORECASE)
_DIRECTIVE = re.compile(r"(?:bind|root)pw", re.IGNORECASE)  # of slapd.conf and nslcd.conf: no sign stands behind it
_NETRC = re.compile(r"machine\s{1,8}\S{1,100}\s{1,8}(?:login\s{1,8}\S{1,100}\s{1,8})?\Z")
_KEY_OF_LINE = re.compile(r"(?:^|\n)[\s>*+-]{0,20}(?:export |set |ENV |\"|')?\Z")


def given_to(text: str, name: Name) -> Given | None:
    """What the name is given here, if anything."""
    if _BEGINS_WORD.match(text, name.end):
        return _told(text, name)
    if sign := _UNDER_VALUE.match(text, name.end):
        return _given_at(text, sign.end(), certain=True)
    typed = "=" in text[name.end : name.end + 64] and name.word != "pass"
    if sign := (typed and _TYPED.match(text, name.end)) or _ASSIGN.match(text, name.end):
        value = _form_value(text, sign.end()) if sign.group().upper() == "%3D" else _value(text, sign.end())
        equals = "=" in sign.group()
        if value and not value.quoted and sign.group().strip().startswith("!="):
            return None  # compared with another name
        if not value or (name.words == ("pass",) and not (value.quoted or equals)):
            return None  # a boarding pass
        return Given(value, True if equals or value.quoted else None)
    if sign := _ATTRIBUTE.match(text, name.end):
        return _given_at(text, sign.end(), certain=True)
    if element := _element(text, name):
        return Given(Value(*element.span(1), quoted=True), certain=True)
    if sign := _CALL.match(text, name.end):
        return _given_at(text, sign.end(), certain=True)
    return _told(text, name)


def _element(text: str, name: Name) -> re.Match[str] | None:
    """``<password>…<``, also escaped, and ``<entry key="password">…<``."""
    if text.endswith("<", 0, name.start) or _KEY_OF_ELEMENT.match(text, name.end):
        return _ELEMENT.match(text, name.end)
    return _ESCAPED_ELEMENT.match(text, name.end)


def _told(text: str, name: Name) -> Given | None:
    """What stands behind a blank, a verb, or the border of a table's cell."""
    if (sign := _SPACE.match(text, name.end)) and _takes_space(text, name):
        return _given_at(text, sign.end(), certain=True)
    if name.word == "pass" or name.sort is Sort.HEADER:  # a verb, and a word of lists and tables
        return None
    sign = _TOLD.match(text, name.end)
    return _given_at(text, sign.end(), certain=False) if sign else None


def _given_at(text: str, at: int, certain: bool) -> Given | None:
    value = _value(text, at)
    return Given(value, certain or value.quoted) if value else None


def _takes_space(text: str, name: Name) -> bool:
    """Whether a value may follow the name after a blank alone: a flag, ENV, .netrc, a directive."""
    if text.startswith("-", name.start):
        return name.start == 0 or text[name.start - 1] in " \t\n\"'[(,"
    before = text[max(0, name.start - 220) : name.start]
    if _DIRECTIVE.fullmatch(text, name.start, name.end):
        return is_key_of_line(text, name)
    return _SETS.search(before[-20:]) is not None or ("machine" in before and _NETRC.search(before) is not None)


def _value(text: str, at: int) -> Value | None:
    """The value that begins at ``at``, or on the next line if it is quoted there or a YAML block."""
    if text[at : at + 1] in _LINE_ENDS and (line := _NEXT_LINE.match(text, at)):
        at = line.end()
    if scheme := _SCHEME.match(text, at):
        at = scheme.end()
    if opening := _OPEN.match(text, at):
        start = opening.end()
        end = _closing(text, start, opening.group(1))
        if end is not None:
            inner = _SCHEME.match(text, start, end)
            return Value(inner.end() if inner else start, end, quoted=True)
        at = start
    bare = _BARE.match(text, at)
    return _trimmed(text, *bare.span()) if bare else None


def _form_value(text: str, at: int) -> Value | None:
    """A value in a form that was percent-encoded once more."""
    found = _FORM_VALUE.match(text, at)
    return Value(*found.span(), quoted=False) if found else None


def _closing(text: str, start: int, quote: str) -> int | None:
    """Where the string ends that ``quote`` opened before ``start``; None if it doesn't end on its line."""
    if escaped := _ESCAPED.get(quote):
        inside = escaped.match(text, start)
        return inside.end() if inside else None
    end = text.find(_SHUT.get(quote, quote), start, start + 1024)
    return end if end >= 0 and "\n" not in text[start:end] else None


def _trimmed(text: str, start: int, end: int) -> Value:
    """A bare value without the punctuation of the sentence or the bracket around it."""
    while end > start and (
        text[end - 1] in ".,;:"
        or (text[end - 1] in "*_~" and text[end - 1] == text[start - 1])
        or (text[end - 1] in _PAIRS and _PAIRS[text[end - 1]] not in text[start:end])
    ):
        end -= 1
    return Value(start, end, quoted=False)


def is_key_of_line(text: str, name: Name) -> bool:
    """Whether nothing but a list's mark, a quote or ``export`` stands before the name on its line."""
    return _KEY_OF_LINE.search(text, max(0, name.start - 24), name.start) is not None
