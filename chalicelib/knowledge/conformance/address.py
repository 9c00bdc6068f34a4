"""Addresses: that of a provider, as the suite takes it, and those that results may lead to."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

_PATH = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@/%-]*", re.ASCII)  # RFC 3986, 3.3

_LOCAL_NAME = re.compile(
    r"(.*\.)?(localhost|localdomain[46]?|local|internal|intranet|private|corp|home|lan|mail|test|invalid|onion|alt|arpa"
    r"|svc|consul|metadata\.goog)|[^.]*"
)
_NUMBER = re.compile(r"(.*\.)?(\d+|0x[0-9a-f]*)")  # the last label of an IPv4 address in whatever notation


def base_url(text: str) -> str:
    """``text``, if requests can be sent there. Raises ValueError, which names the rule."""
    try:
        url = urlsplit(text)
        port, host = url.port, url.hostname or ""
        host.encode("idna")
    except ValueError:  # UnicodeError is one
        raise ValueError("has no host and port that can be read") from None
    if url.scheme not in ("http", "https"):
        raise ValueError("must start with http:// or https://")
    if not host or port == 0 or re.search(r"[\x00-\x20\x7f\\%]", host):
        raise ValueError("must name a host")
    if url.username is not None or url.password is not None:
        raise ValueError("must have no user info")
    if "?" in text or "#" in text:
        raise ValueError("must have no query and no fragment")
    if not _PATH.fullmatch(url.path) or re.search(r"[\x00-\x20\x7f]", text):
        raise ValueError("has a character in its path that must be percent-encoded")
    return text


def leads_out(url: str) -> bool:
    """Whether a result's link is https, without user info, to a public address or a name that is not a local one."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
        has_port = parts.port != 0
    except ValueError:
        return False
    if parts.scheme != "https" or "@" in parts.netloc or not host or not has_port or re.search(r"[\s\\]", url):
        return False
    try:
        return ip_address(host).is_global and not ip_address(host).is_multicast
    except ValueError:
        return not _LOCAL_NAME.fullmatch(host) and not _NUMBER.fullmatch(host)
