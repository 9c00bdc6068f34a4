"""A result's link: shown if it can only lead out into the public web. Nothing is fetched and no name is resolved."""

from __future__ import annotations

from chalicelib.fetching.errors import FetchError
from chalicelib.fetching.ssrf import FetchPolicy, check_url, parse_url


def public_link(url: str | None) -> str | None:
    """``url`` as it came, or None: not https, user info, a literal of a non-public address, a local name (spec 3.3)."""
    if url is None:
        return None
    try:
        any_port = frozenset({parse_url(url).port})
        check_url(url, FetchPolicy(https_only=True, allowed_ports=any_port))
    except FetchError:
        return None
    return url
