"""Language tags (BCP 47, RFC 5646): whether a result is in another language than was asked for (spec 3.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_TAG = 100  # characters: RFC 5646 asks for room for 35, and private use may add to them
_IRREGULAR = (
    *("en-GB-oed", "i-ami", "i-bnn", "i-default", "i-enochian", "i-hak", "i-klingon", "i-lux", "i-mingo", "i-navajo"),
    *("i-pwn", "i-tao", "i-tay", "i-tsu", "sgn-BE-FR", "sgn-BE-NL", "sgn-CH-DE"),
)
_PRIVATE = "[Xx](-[A-Za-z0-9]{1,8})+"


def _in_any_case(tag: str) -> str:
    return "".join(f"[{letter.upper()}{letter.lower()}]" if letter.isalpha() else letter for letter in tag)


TAG_PATTERN = "^({})$".format(
    "|".join(
        [
            "([A-Za-z]{2,3}(-[A-Za-z]{3}){0,3}|[A-Za-z]{4,8})"  # language
            "(-[A-Za-z]{4})?"  # script
            "(-([A-Za-z]{2}|[0-9]{3}))?"  # region
            "(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*"  # variants
            "(-[0-9A-WYZa-wyz](-[A-Za-z0-9]{2,8})+)*"  # extensions
            f"(-{_PRIVATE})?",
            _PRIVATE,
            *map(_in_any_case, _IRREGULAR),
        ]
    )
)
"""A well-formed tag (RFC 5646, 2.1 and 2.2.9), as JSON Schema writes it."""

# Primary languages that ISO 639 has renamed; both spellings are in use (IANA registry, "Preferred-Value").
_RENAMED = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro"}


def is_tag(text: str) -> bool:
    """Whether ``text`` is a well-formed language tag. Whether its subtags are registered is not looked up."""
    return len(text) <= MAX_TAG and "\n" not in text and re.search(TAG_PATTERN, text) is not None


def primary_language(tag: str) -> str:
    """The primary language subtag, lower-case; the whole tag where there is none (``x-…`` and ``i-…``)."""
    lowered = tag.lower()
    primary = lowered.partition("-")[0]
    return lowered if primary in ("x", "i") else _RENAMED.get(primary, primary)


def is_fallback(asked: str | None, found: str | None, *, declares_locale: bool) -> bool:
    """Whether a result is in another language than ``asked`` (None: nothing was asked, so nothing falls back).

    Regions and scripts don't count: ``de-AT`` answers ``de-DE``. A result that names no locale is a fallback if its
    provider declares that it knows locales: absence is no match.
    """
    if asked is None:
        return False
    if found is None:
        return declares_locale
    return primary_language(asked) != primary_language(found)


def shared_locale(locales: Iterable[str | None]) -> str | None:
    """The one locale that all results share, in the first one's spelling; None if they differ, lack it, or are none."""
    found = list(locales)
    first = found[0] if found else None
    if first is None or any(one is None or one.lower() != first.lower() for one in found):
        return None
    return first
