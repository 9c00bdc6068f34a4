"""A result's link: shown if it can only lead out into the public web. Nothing is fetched and no name is resolved."""

from __future__ import annotations

import re

from chalicelib.fetching.errors import FetchError
from chalicelib.fetching.ssrf import MAX_URL, FetchPolicy, check_url, parse_url

_NO_PATH = re.compile(r"(https://[^/?#\\]*)([?#].*)", re.IGNORECASE)


def public_link(url: str | None) -> str | None:
    """``url`` as it came, or None: not https, user info, a literal of a non-public address, a local name (spec 3.3)."""
    if url is None:
        return None
    try:
        judged = _with_path(url)
        any_port = frozenset({parse_url(judged).port})
        check_url(judged, FetchPolicy(https_only=True, allowed_ports=any_port))
    except FetchError:
        return None
    return url


def _with_path(url: str) -> str:
    """The same address with its path spelled out: the guard is wary of an ``@`` that no ``/`` keeps from the host.

    Browsers, which alone follow these links, end the authority at ``?`` and ``#`` (RFC 3986, 3.2).
    """
    return _NO_PATH.sub(r"\1/\2", url)[:MAX_URL] if _NO_PATH.fullmatch(url) else url
