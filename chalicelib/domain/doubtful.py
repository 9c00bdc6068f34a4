"""Whether a fetched text looks like no document: then the old version stays and a person is asked (spec 1.1).

A false alarm costs a person a glance, a miss puts an error page in the place of a document. Signs count only in a text
that is short or has little prose, so that an article about logins, challenges or error 404 is what it is. Lengths are
bytes of UTF-8: so a Chinese character weighs about what it says.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from chalicelib.domain.doubt_signs import FORM, LOGIN, SIGNS, Doubt

SHORT = 2000  # what is longer has something to say of its own
LONG = 6000  # a page with the site's menus around it
LITTLE_PROSE = 800
PROSE_LINE = 100  # a line of so many bytes is prose; menus, forms and buttons have shorter ones
TOP_LINES = 5
LIMITS = {Doubt.NEEDS_SCRIPT: 400, Doubt.PLACEHOLDER: LONG}

SUBSTANTIAL = 200  # characters: a shorter text may shrink as it likes
SHRUNK_BELOW = 1 / 3
STILL_THERE = 4 / 5  # menus alone may be more than half of a page

_TITLE_PARTS = re.compile(r"\s+[|–—·•»›:/-]+\s+|: |\s*\|\s*")
_SHARED_SUFFIX = re.compile(
    r"\.(?:(?:ac|co|com|edu|gob|gov|go|gouv|ne|net|nom|or|org)\.[a-z]{2}"
    r"|(?:github|gitlab|readthedocs)\.io|(?:netlify|vercel|web|fly)\.(?:app|dev)|pages\.dev|(?:blogspot|wordpress|herokuapp)\.com"
    r"|(?:amazonaws|cloudfront|azurewebsites|firebaseapp)\.(?:com|net))\Z"
)


def find_doubt(
    text: str, *, title: str | None, previous_text: str | None, source_url: str, final_url: str
) -> str | None:
    """Return a word of `Doubt` if the text had better be looked at, None if it may be published.

    ``previous_text`` is the current version's, None on a first fetch; ``final_url`` is where the redirects ended. A
    text that still has most of what the page said, line by line, is that page, whatever it says besides.
    """
    if previous_text and _share_kept(previous_text, text) >= STILL_THERE:
        return None
    if _site(source_url) != _site(final_url):
        return Doubt.MOVED_SITE.value
    doubt = _sign(text, title)
    if doubt is not None and not (previous_text and _sign(previous_text, None) is doubt):
        return doubt.value
    if previous_text and len(previous_text) >= SUBSTANTIAL and len(text) < len(previous_text) * SHRUNK_BELOW:
        return Doubt.SHRUNK.value
    return None


def _sign(text: str, title: str | None) -> Doubt | None:
    """The first doubt that the text itself raises."""
    size = len(text.encode())
    lines = [line for line in text.split("\n") if line.strip()]
    prose = sum(len(line.encode()) for line in lines if len(line.encode()) >= PROSE_LINE)
    if size > LONG:
        return None
    headline = "\n".join(_TITLE_PARTS.split(title or ""))
    top = "\n".join(lines[:TOP_LINES])
    for doubt, signs in SIGNS.items():
        if size <= LIMITS.get(doubt, SHORT) and (signs.lines.search(top) or signs.sentences.search(text)):
            return doubt
        if prose <= LITTLE_PROSE and doubt not in LIMITS and signs.lines.search(headline):
            return doubt
    return Doubt.LOGIN_PAGE if prose <= LITTLE_PROSE and _is_login(text, headline, size) else None


def _is_login(text: str, headline: str, size: int) -> bool:
    fields = {field for field, line in FORM.items() if line.search(text)}
    if LOGIN.search(headline):
        return "password" in fields or len(fields) >= 2
    return size <= SHORT and LOGIN.search(text) is not None and len(fields) >= (2 if "password" in fields else 3)


def _share_kept(previous: str, text: str) -> float:
    """How much of the previous text still stands, counted in whole lines."""
    there = set(text.split("\n"))
    lines = previous.split("\n")
    return sum(len(line) for line in lines if line in there) / max(1, sum(map(len, lines)))


def _site(url: str) -> str:
    """What one owner registers, roughly: the last two labels of the host, or three where two are shared by many."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if ":" in host or re.fullmatch(r"[\d.]+", host):
        return host
    return ".".join(host.split(".")[-3 if _SHARED_SUFFIX.search(f".{host}") else -2 :])
