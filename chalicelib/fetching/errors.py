"""Why a guarded fetch brings nothing: the closed list of reasons, and the one exception that carries them."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

import h11

from chalicelib.errors import LarderError


class Reason(StrEnum):
    """Why nothing came of it: before the colon the tenant's word (spec 1.1), behind it what the operator sees."""

    URL = "refused:url"
    URL_USER_INFO = "refused:url_user_info"
    URL_HOST = "refused:url_host"
    URL_PORT = "refused:url_port"
    SCHEME = "refused:scheme"
    LOCAL_NAME = "refused:local_name"
    PORT = "refused:port"
    DOMAIN = "refused:domain"
    ADDRESS = "refused:address"
    TOO_MANY_ADDRESSES = "refused:too_many_addresses"
    PEER = "refused:peer"
    DOWNGRADE = "refused:downgrade"
    DNS = "unreachable:dns"
    CONNECT = "unreachable:connect"
    CERTIFICATE = "unreachable:certificate"
    TLS = "unreachable:tls"
    CONNECTION_LOST = "unreachable:connection_lost"
    NOT_HTTP = "unreachable:not_http"
    FRAMING = "unreachable:framing"
    HEADER_LINE = "unreachable:header_line"
    HEADERS = "unreachable:headers"
    TRUNCATED = "unreachable:truncated"
    DECODING = "unreachable:decoding"
    LOCATION = "unreachable:location"
    TOO_MANY_REDIRECTS = "unreachable:too_many_redirects"
    STATUS = "unreachable:status"
    TIMEOUT = "timeout"
    EMPTY = "empty"
    HTTP_403 = "http_403"
    HTTP_404 = "http_404"
    HTTP_429 = "http_429"
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    ENCODING = "unsupported_type:encoding"
    TYPE = "unsupported_type"
    TOO_LARGE = "too_large"

    @property
    def status(self) -> str:
        """The word for the tenant; it tells nothing about the network."""
        return self.value.partition(":")[0]


_BY_STATUS = dict.fromkeys((204, 205), Reason.EMPTY) | dict.fromkeys((401, 403, 407), Reason.HTTP_403)
_BY_STATUS |= {404: Reason.HTTP_404, 410: Reason.HTTP_404, 408: Reason.TIMEOUT, 429: Reason.HTTP_429}
_BY_CLASS = {2: Reason.STATUS, 3: Reason.STATUS, 4: Reason.HTTP_4XX}


def reason_of_status(code: int) -> Reason:
    """The reason for an answer that is neither a page nor a redirect; ``code`` is its HTTP status."""
    return _BY_STATUS.get(code) or _BY_CLASS.get(code // 100, Reason.HTTP_5XX)


_FAILURES: dict[type[Exception], Reason] = {  # the first that fits
    TimeoutError: Reason.TIMEOUT,
    ssl.SSLCertVerificationError: Reason.CERTIFICATE,
    ssl.SSLError: Reason.TLS,
    OSError: Reason.CONNECTION_LOST,
    h11.ProtocolError: Reason.FRAMING,
    ValueError: Reason.FRAMING,
}


class FetchError(LarderError):
    """Refused or failed. ``str()`` is the reason: never an address, a banner or a reason phrase.

    ``host`` and ``hop`` say where (0 = the URL asked for), ``status_code`` what was answered there if anything was,
    ``retry_after`` is the raw header, ``detail`` the class of a blocked address ("loopback").
    """

    host: str | None = None
    hop = 0
    status_code: int | None = None

    def __init__(self, reason: Reason, *, detail: str | None = None, retry_after: str | None = None) -> None:
        super().__init__(reason.value)
        self.reason, self.detail, self.retry_after = reason, detail, retry_after

    @property
    def final(self) -> bool:
        """Not to be retried by itself: retrying a refusal is a free attempt at rebinding (spec 1.1)."""
        return self.reason.status in ("refused", "unsupported_type", "too_large")


@contextmanager
def failing_at(host: str) -> Iterator[None]:
    """Whatever goes wrong inside leaves as a FetchError that knows its host."""
    try:
        yield
    except FetchError as error:
        error.host = error.host or host
        raise
    except tuple(_FAILURES) as error:
        failure = FetchError(next(reason for kind, reason in _FAILURES.items() if isinstance(error, kind)))
        failure.host = host
        raise failure from None
