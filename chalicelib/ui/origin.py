"""Where a request comes from, as its browser tells it."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit


def is_own(headers: Mapping[str, str]) -> bool:
    """Whether a form was sent by a page of ours.

    Our pages send no referrer, and a browser then says ``Origin: null`` of a form (Fetch, "append a request Origin
    header"), so Sec-Fetch-Site, which no page can set, speaks too: neither may say no, and one must say yes.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site not in (None, "same-origin"):
        return False
    if origin in (None, "null"):
        return site == "same-origin"
    return origin == f"{'https' if is_secure(headers) else 'http'}://{headers.get('host', '')}"


def is_secure(headers: Mapping[str, str]) -> bool:
    """Whether the cookie must be Secure: always, but for plain HTTP on this very machine.

    That is where no proxy says ``X-Forwarded-Proto: https`` and the host is ``localhost``, below it, or a loopback
    address. Plain HTTP elsewhere gets a Secure cookie, which its browser won't keep.
    """
    return headers.get("x-forwarded-proto", "").lower() == "https" or not _is_loopback(headers.get("host", ""))


def _is_loopback(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or name.endswith(".localhost") or ip_address(name).is_loopback
    except ValueError:
        return False
