"""The identity of a source: two spellings of one URL are one source (spec 1.2 and 1.7; RFC 3986, 6.2.2 and 6.2.3).

Made equal: case of scheme and host, IDNA and punycode, a trailing dot of the host, the default port, a missing path,
dot segments, percent-encoding of unreserved characters and the case of its digits, raw and percent-encoded non-ASCII,
the fragment.

Kept apart, because only the server knows: scheme, case of the path, trailing slash, order of the query,
tracking parameters, an empty query, percent-encoded reserved characters.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address

import idna

MAX_URL_LENGTH = 2048
"""Characters, before and after; what is longer would not fit a unique index either."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path_query>[^#]*)(?:#.*)?", re.DOTALL
)
_AUTHORITY = re.compile(r"(?P<host>\[[^\[\]@]*\]|[^\[\]@:]*)(?::(?P<port>[0-9]{0,5}))?")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_TRIPLET = re.compile(r"%([0-9A-Fa-f]{2})")
_MALFORMED_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_NEVER_RAW = re.compile(r'[^\x21-\x7e]|["<>\\^`{|}]')
"""What may not stand in a URL as it is: beyond ASCII, or outside the grammar of RFC 3986."""


def canonicalise(url: str) -> str:
    """Return the one spelling of ``url`` that is its identity; applying it again changes nothing.

    Raises ValueError, with a message fit for the caller, for what is no absolute http or https URL, has a user name,
    a blank or control character, a host or port that can't be, or is too long. Whether it may be *fetched* is the
    guard's decision.
    """
    if len(url) > MAX_URL_LENGTH:
        raise ValueError(f"the URL is longer than {MAX_URL_LENGTH} characters")
    if re.search(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]", url):
        raise ValueError("the URL has a space or a control character")
    parts = _URL.fullmatch(url)
    if parts is None:
        raise ValueError("the URL must be absolute and start with http:// or https://")
    if "@" in parts["authority"]:
        raise ValueError("the URL must not have a user name or password")
    authority = _AUTHORITY.fullmatch(parts["authority"])
    if authority is None:
        raise ValueError("the URL's host or port is not valid")
    port = int(authority["port"]) if authority["port"] else None
    return canonical_url(parts["scheme"], authority["host"], port, parts["path_query"])


def canonical_url(scheme: str, host: str, port: int | None, path_query: str) -> str:
    """Join the parts of a URL in their canonical spelling.

    ``host`` is a name or an address, an IPv6 address with or without brackets; ``path_query`` has no fragment. Raises
    ValueError as `canonicalise` does.
    """
    scheme = scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        raise ValueError("the URL must start with http:// or https://")
    if port is not None and not 1 <= port <= 65535:
        raise ValueError("the URL's port is not valid")
    authority = _host(host) if port in (None, _DEFAULT_PORTS[scheme]) else f"{_host(host)}:{port}"
    path, question_mark, query = path_query.partition("?")
    url = f"{scheme}://{authority}{_path(path)}{question_mark}{_percent(query)}"
    if len(url) > MAX_URL_LENGTH:
        raise ValueError(f"the URL is longer than {MAX_URL_LENGTH} characters")
    return url


def _host(host: str) -> str:
    try:
        if ":" in host:
            return f"[{_ipv6(host)}]"
        name = host.lower() if host.isascii() else idna.encode(host, uts46=True).decode("ascii")
        name = name.removesuffix(".")
        labels = name.split(".")
        if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
            raise ValueError(name)
        if re.fullmatch(
            r"[0-9]+|0x[0-9a-f]*", labels[-1]
        ):  # it will be read as an IPv4 address, so it must be one, plainly
            return str(IPv4Address(name if host.isascii() else ""))
        return name
    except (ValueError, UnicodeError) as error:  # idna's and ipaddress's errors are both
        raise ValueError("the URL's host is not valid") from error


def _ipv6(host: str) -> IPv6Address:
    address = IPv6Address(host[1:-1] if host.startswith("[") and host.endswith("]") else host)
    if address.scope_id is not None:
        raise AddressValueError("a zone belongs to one machine")
    return address


def _path(path: str) -> str:
    segments = [_percent(segment) for segment in path.removeprefix("/").split("/")]
    return "/" + "/".join(_without_dot_segments(segments))


def _without_dot_segments(segments: list[str]) -> list[str]:
    """RFC 3986, 5.2.4: ``.`` is nothing, ``..`` takes its parent with it; the last one leaves a trailing slash."""
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            kept[-1:] = []
        elif segment != ".":
            kept.append(segment)
    return [*kept, ""] if segments[-1] in (".", "..") else kept


def _percent(text: str) -> str:
    """Give one segment or one query its canonical percent-encoding.

    A text with a malformed sequence (``%zz``, ``%u0416``) keeps all its triplets: to decode beside it could make new
    ones.
    """
    if not _MALFORMED_PERCENT.search(text):
        text = _TRIPLET.sub(_canonical_triplet, text)
    return _NEVER_RAW.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8")), text)


def _canonical_triplet(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else f"%{match[1].upper()}"
