"""robots.txt, where the operator wants it asked (RFC 9309)."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit
from urllib.robotparser import RobotFileParser

from chalicelib.fetching.errors import FetchError, Reason
from chalicelib.services.outside import Outside

AGENT = "Larder"  # what a group of rules names us by
_NO_RULES = {Reason.HTTP_404, Reason.HTTP_403, Reason.HTTP_4XX, Reason.EMPTY, Reason.TYPE}


def permits(outside: Outside, url: str) -> bool:
    """Whether the site's robots.txt lets us fetch ``url``; fetched through the guard like every page.

    No such file, or one that is kept from us, permits everything (RFC 9309, 2.3.1.3). Raises FetchError where the
    server fails, for then nothing is permitted yet (2.3.1.4).
    """
    parts = urlsplit(url)
    address = urlunsplit((parts.scheme, parts.netloc, "/robots.txt", "", ""))
    if url == address:
        return True
    try:
        page = outside.fetch(address, validators=None, no_cache=False)
    except FetchError as error:
        if error.reason in _NO_RULES:
            return True
        raise
    rules = RobotFileParser()
    rules.parse(page.body[:512_000].decode("utf-8", "replace").splitlines())
    return rules.can_fetch(AGENT, url)
