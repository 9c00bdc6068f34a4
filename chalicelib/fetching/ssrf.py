"""The guarded fetch: what may be asked for, where the connection goes, what is let in (spec 1.3, 3.4).

From top to bottom: the words it speaks, the URL, the address, the connection, the wire, the body; `fetch` and `post`
put them together at the end. At every hop one strict parser's output drives the check, the DNS query, the Host header
and the TLS name; every address that comes back is judged; the socket goes to a judged address, and its peer is verified
before a byte is sent. One deadline covers everything. No proxy, netrc, cookie or referrer is ever used.
"""

from __future__ import annotations

import re
import socket
import ssl
import string
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread
from urllib.parse import quote, urljoin

import h11
import idna

from chalicelib.fetching.address_table import ALWAYS_BLOCKED, EMBEDDED_IPV4, ISATAP_IDENTIFIERS, LOCAL_NAMES, RANGES
from chalicelib.fetching.errors import FetchError, Reason, failing_at, reason_of_status

MAX_URL, MAX_ANSWERS, MAX_INTERIM = 2_048, 32, 8
MAX_HEADER_LINE, MAX_HEADERS = 8_192, 65_536  # bytes: a line without its CRLF, a block
DEFAULT_PORTS = {"http": 80, "https": 443}
ACCEPT = "text/html, application/xhtml+xml, text/markdown, text/plain, application/json, application/xml, */*;q=0.1"
READ_TYPES = re.compile(
    r"text/(html|plain|markdown|x-markdown|xml|json)|application/(json|xml|pdf)|application/[a-z0-9.-]+\+(json|xml)"
)
KEPT_HEADERS = ("content-type", "content-language", "etag", "last-modified", "date", "retry-after", "x-robots-tag")


@dataclass(frozen=True, slots=True)
class AddressVerdict:
    """The classes of address that apply; none for a public one. ``reason`` is the first, ``always`` bars exemptions."""

    classes: frozenset[str]
    reason: str | None
    always: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPolicy:
    """What may be fetched, and how much of it: sizes are decoded bytes, the timeout covers the whole exchange.

    ``allow_private_networks`` opens every class of address that can be opened (spec 1.3), ``exempt`` the named ones
    (spec 3.2: ``PRIVATE_CLASSES``). With either, local names and names without a dot may be asked for, too.
    """

    allowed_domains: tuple[str, ...] = ()
    allowed_ports: frozenset[int] = frozenset({80, 443, 8080, 8443})
    allow_private_networks: bool = False
    exempt: frozenset[str] = frozenset()
    https_only: bool = False
    max_redirects: int = 5
    max_body_bytes: int = 2_097_152
    timeout_seconds: float = 20.0
    user_agent: str = "Larder/0.1"

    def __post_init__(self) -> None:
        if not _FIELD_VALUE.fullmatch(self.user_agent):
            raise ValueError("the user agent is no valid header value")

    def opens(self, verdict: AddressVerdict) -> bool:
        """Whether an address with this verdict may be connected to."""
        return not verdict.always and (self.allow_private_networks or verdict.classes <= self.exempt)


@dataclass(frozen=True, slots=True)
class Target:
    """One URL, parsed once: ``host`` in ASCII, IPv6 without brackets; ``path_query`` goes out byte for byte."""

    scheme: str
    host: str
    port: int
    path_query: str

    @property
    def is_literal(self) -> bool:
        """The host is an IP address: no host name has a colon or ends in a number."""
        return ":" in self.host or self.host.rpartition(".")[2].isdigit()

    @property
    def authority(self) -> str:
        """What the Host header says: IPv6 in brackets, the default port left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole URL, without a fragment."""
        return f"{self.scheme}://{self.authority}{self.path_query}"


@dataclass(frozen=True, slots=True)
class Validators:
    """What the server said about the stored version; sent back byte for byte, or not at all."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class FetchResult:
    """A page (200, 203), or 304 and no body. Header names are lower-case, the body is decoded."""

    status: int
    final_url: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    elapsed_seconds: float
    hops: int
    permanent_redirect_to: str | None


@dataclass(frozen=True, slots=True)
class PostResult:
    """Any answer, whatever its status; the body of a 200 alone is read."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    elapsed_seconds: float


Resolver = Callable[[str, int], Iterable[str]]  # (host, port) → addresses; may block, may raise
Connector = Callable[[str, int, float], socket.socket]  # (address, port, timeout in seconds); raises OSError

# --- The URL ---

_FORBIDDEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_AFTER_SCHEME = re.compile(r"//(\[[^\[\]]*\]|[^\[\]:/?#\\]*)(?::([^/?#\\]*))?(/[^?#\\]*)?(\?[^#]*)?(?:#.*)?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")


def parse_url(url: str) -> Target:
    """Read a URL by RFC 3986, strictly: what two parsers could read differently is refused, never repaired.

    That includes an ``@`` behind ``?`` or ``#`` where no ``/`` came before. An empty port is the default port.
    """
    if not isinstance(url, str) or len(url) > MAX_URL or _FORBIDDEN.search(url):
        raise FetchError(Reason.URL)
    scheme, _, rest = url.partition(":")
    scheme = scheme.lower()
    if scheme not in DEFAULT_PORTS:
        raise FetchError(Reason.URL if url[:1] in ("", "/", "\\") else Reason.SCHEME)
    if "@" in rest.removeprefix("//").partition("/")[0]:
        raise FetchError(Reason.URL_USER_INFO)
    parts = _AFTER_SCHEME.fullmatch(rest)
    if parts is None:
        raise FetchError(Reason.URL)
    host, port, path, query = parts.groups()
    if port and not (re.fullmatch("[1-9][0-9]{0,4}", port) and int(port) <= 65_535):
        raise FetchError(Reason.URL_PORT)
    path_query = quote((path or "/") + (query or ""), safe=string.punctuation)
    return Target(scheme, _canonical_host(host), int(port or DEFAULT_PORTS[scheme]), path_query)


def _canonical_host(text: str) -> str:
    """The one ASCII spelling: IDNA 2008 and ASCII's lower case, none of the mappings of UTS 46 that fold names.

    A name whose last label is a number is an IPv4 address to the C resolver (127.1, 0x7f000001), so it must be one.
    """
    try:
        if text.startswith("["):
            return IPv6Address("" if "%" in text else text[1:-1]).compressed
        if len(text) > 254:  # its dot at the end included; no label grows shorter below, and IDNA takes its time
            raise ValueError
        labels = text.removesuffix(".").encode().lower().decode().split(".")  # bytes: only ASCII is lowered
        labels = [x if x.isascii() and not x.startswith("xn--") else idna.alabel(x).decode("ascii") for x in labels]
        name = ".".join(labels)
        if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
            raise ValueError
        return str(IPv4Address(text)) if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]) else name
    except (ValueError, IndexError, OverflowError):
        raise FetchError(Reason.URL_HOST) from None


def parse_allowlist(text: str | None) -> tuple[str, ...]:
    """Read ``KB_ALLOWLIST_DOMAINS``: comma-separated, each domain stands for itself and every name below it.

    A leading ``.`` or ``*.`` changes nothing; an IP address stands for itself; None or "" means no restriction.
    Raises ValueError for an empty entry and for what is no domain with a dot in it: a list that silently lost its
    entries would let everything through.
    """
    return tuple(_allowed_domain(entry.strip()) for entry in text.split(",")) if text else ()


def _allowed_domain(entry: str) -> str:
    bare = re.sub(r"\A(\*\.|\.)", "", entry)
    with suppress(FetchError):
        host = _canonical_host(f"[{bare}]" if ":" in bare else bare)
        if "." in host or ":" in host:
            return host
    raise ValueError(f"{entry!r} is no domain")


def check_url(url: str, policy: FetchPolicy) -> Target:
    """Parse a URL and judge all that needs no DNS: a source that is registered, and every hop of a fetch."""
    target = parse_url(url)
    host = target.host
    with failing_at(host):
        if policy.https_only and target.scheme != "https":
            raise FetchError(Reason.SCHEME)
        if target.is_literal:
            _judge(host, policy)
        elif not (policy.allow_private_networks or policy.exempt) and (
            "." not in host or any(_is_below(host, name) for name in LOCAL_NAMES)
        ):
            raise FetchError(Reason.LOCAL_NAME)
        if target.port not in policy.allowed_ports:
            raise FetchError(Reason.PORT)
        if policy.allowed_domains and not any(_is_below(host, domain) for domain in policy.allowed_domains):
            raise FetchError(Reason.DOMAIN)
    return target


def _is_below(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


# --- The address ---


def classify_address(address: str) -> AddressVerdict:
    """Say what kind of address this is, and any IPv4 address inside it, by Larder's own table. Never raises."""
    try:
        ip = ip_address(address if isinstance(address, str) else "")
    except ValueError:
        return AddressVerdict(frozenset({"invalid"}), "invalid", True)
    classes = [next((name for network, name in RANGES if ip in network), None)]
    if isinstance(ip, IPv6Address):
        classes += ["scoped"] if ip.scope_id is not None else []
        classes += [classify_address(str(IPv4Address(inner))).reason for inner in _embedded_ipv4(ip)]
    found = [name for name in classes if name]
    return AddressVerdict(frozenset(found), found[0] if found else None, not ALWAYS_BLOCKED.isdisjoint(found))


def _embedded_ipv4(ip: IPv6Address) -> Iterator[int]:
    bits = int(ip)
    yield from ((bits >> shift & 0xFFFFFFFF) ^ mask for network, shift, mask in EMBEDDED_IPV4 if ip in network)
    if bits >> 32 & 0xFFFFFFFF in ISATAP_IDENTIFIERS:
        yield bits & 0xFFFFFFFF


def _judge(address: str, policy: FetchPolicy) -> None:
    verdict = classify_address(address)
    if not policy.opens(verdict):
        raise FetchError(Reason.ADDRESS, detail=verdict.reason)


# --- The connection ---


def resolve(host: str, port: int) -> list[str]:
    """The system resolver's addresses. A name with dots is absolute: no search domain completes it. Raises OSError."""
    name = f"{host}." if "." in host else host
    return [str(found[4][0]) for found in socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)]


def connect(address: str, port: int, timeout: float) -> socket.socket:
    """A TCP connection to a numeric address; nothing is looked up here. Raises OSError."""
    with ExitStack() as stack:
        sock = stack.enter_context(socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET))
        sock.settimeout(timeout)
        sock.connect((address, port))
        stack.pop_all()
        return sock


@lru_cache(maxsize=8)
def tls_context(authorities: str | None = None) -> ssl.SSLContext:
    """Verify certificates by their alternative names, against the system's authorities or the PEM text given."""
    context = ssl.create_default_context(cadata=authorities)
    context.hostname_checks_common_name = False
    return context


class _Session:
    """What the hops of one fetch share: policy, way out, and one monotonic deadline."""

    def __init__(
        self, policy: FetchPolicy, seconds: float, resolver: Resolver, connector: Connector, tls: ssl.SSLContext | None
    ) -> None:
        self.policy, self.resolver, self.connector, self.tls = policy, resolver, connector, tls
        self.start, self.seconds = time.monotonic(), seconds

    def elapsed(self) -> float:
        return time.monotonic() - self.start

    def left(self) -> float:
        """Seconds to the deadline. Raises when there are none, so whoever needs time notices."""
        if (left := self.seconds - self.elapsed()) <= 0:
            raise FetchError(Reason.TIMEOUT)
        return left

    @contextmanager
    def exchange(
        self, target: Target, method: str, headers: Mapping[str, str], body: bytes = b""
    ) -> Iterator[tuple[_Wire, h11.Response]]:
        """Connect, send one request, give the head of its response, close. All failures leave as FetchError."""
        with failing_at(target.host), ExitStack() as stack:
            sock = stack.enter_context(self._connect(target))
            if target.scheme == "https":  # a ragged end is an error: a cut must not pass for the end of a body
                sock.settimeout(self.left())
                tls = self.tls or tls_context()
                sock = tls.wrap_socket(sock, server_hostname=target.host, suppress_ragged_eofs=False)
                stack.enter_context(sock)
            wire = _Wire(sock, self)
            wire.send(target, method, headers, body)
            response = wire.response()
            try:
                yield wire, response
            except FetchError as error:
                error.status_code = response.status_code
                raise

    def _connect(self, target: Target) -> socket.socket:
        """Resolve once, judge every address, connect to the first that answers, verify who answered.

        Each attempt gets an equal share of the time left, so that one dead address can't use it up.
        """
        addresses = [target.host] if target.is_literal else self._resolve(target)
        for address in addresses:
            _judge(address, self.policy)
        for tried, address in enumerate(addresses):
            with ExitStack() as stack:
                try:
                    sock = stack.enter_context(
                        self.connector(address, target.port, self.left() / (len(addresses) - tried))
                    )
                except OSError:
                    continue
                if ip_address(sock.getpeername()[0]) != ip_address(address):
                    raise FetchError(Reason.PEER)
                stack.pop_all()
                return sock
        self.left()
        raise FetchError(Reason.CONNECT)

    def _resolve(self, target: Target) -> list[str]:
        """Ask once, in a thread that is left behind if it misses the deadline."""
        answers: SimpleQueue[list[str]] = SimpleQueue()

        def ask() -> None:
            found: list[str] = []
            with suppress(Exception):  # whatever it was: no answer
                found = list(islice(dict.fromkeys(self.resolver(target.host, target.port)), MAX_ANSWERS + 1))
            answers.put(found)

        Thread(target=ask, daemon=True).start()
        try:
            found = answers.get(timeout=self.left())
        except Empty:
            raise FetchError(Reason.TIMEOUT) from None
        if not found:
            raise FetchError(Reason.DNS)
        if len(found) > MAX_ANSWERS:
            raise FetchError(Reason.TOO_MANY_ADDRESSES)
        return found


# --- The wire ---

_FIELD_VALUE = re.compile(r"[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?")


class _Wire:
    """One request and one response on a connected socket: h11 does the grammar, this the caps and the clock."""

    def __init__(self, sock: socket.socket, session: _Session) -> None:
        self.sock, self.session = sock, session
        self.http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEADERS)
        self.opening, self.received = b"", 0

    def send(self, target: Target, method: str, headers: Mapping[str, str], body: bytes) -> None:
        """Send the whole request. ``headers`` can't replace the guard's own."""
        own = {"Host": target.authority, "User-Agent": self.session.policy.user_agent, "Connection": "close"}
        fields = {"Accept-Encoding": "gzip, deflate"} | {name.title(): value for name, value in headers.items()} | own
        encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields.items()]
        request = h11.Request(method=method, target=target.path_query, headers=encoded)
        data = b"".join(self.http.send(event) or b"" for event in (request, h11.Data(body), h11.EndOfMessage()))
        self.sock.settimeout(self.session.left())
        self.sock.sendall(data)

    def response(self) -> h11.Response:
        """The head of the final response, behind at most eight interim ones that share its cap."""
        for _ in range(MAX_INTERIM + 1):
            event = self._next_event(MAX_HEADERS, Reason.HEADERS)
            if not isinstance(event, h11.Response | h11.InformationalResponse):
                raise FetchError(Reason.NOT_HTTP)
            lines = [len(name) + len(value) + 2 for name, value in event.headers.raw_items()]
            if max(lines, default=0) > MAX_HEADER_LINE:
                raise FetchError(Reason.HEADER_LINE)
            if not event.http_version.startswith(b"1."):
                raise FetchError(Reason.NOT_HTTP)
            if isinstance(event, h11.Response):
                return event
        raise FetchError(Reason.HEADERS)

    def body(self, cap: int) -> Iterator[bytes]:
        """The pieces of the body. Chunk lines and trailers count: they may be as long as the body's cap."""
        self.received = 0
        while isinstance(event := self._next_event(2 * cap + MAX_HEADERS, Reason.TOO_LARGE), h11.Data):
            yield bytes(event.data)
        if not isinstance(event, h11.EndOfMessage):
            raise FetchError(Reason.TRUNCATED)

    def _next_event(self, cap: int, over_cap: Reason) -> object:
        data = None
        try:
            while (event := self.http.next_event()) is h11.NEED_DATA:
                if self.received >= cap:
                    raise FetchError(over_cap)
                self.sock.settimeout(self.session.left())
                data = self.sock.recv(min(8_192, cap - self.received))
                self.received += len(data)
                self.opening += data[: 5 - len(self.opening)]
                if not b"HTTP/".startswith(self.opening):
                    raise FetchError(Reason.NOT_HTTP)
                self.http.receive_data(data)
            return event
        except h11.RemoteProtocolError as error:
            broken = Reason.TRUNCATED if data == b"" else Reason.FRAMING
            raise FetchError(Reason.HEADERS if error.error_status_hint == 431 else broken) from None


# --- The body ---


def _values(response: h11.Response, name: str) -> list[str]:
    """The different values of a header, in order."""
    return list(dict.fromkeys(value.decode("latin-1") for key, value in response.headers if key == name.encode()))


def _kept_headers(response: h11.Response) -> dict[str, str]:
    """The headers that callers see. One that contradicts itself or holds a control character counts as absent."""
    kept = {name: found[0] for name in KEPT_HEADERS if len(found := _values(response, name)) == 1}
    return {name: value for name, value in kept.items() if _FIELD_VALUE.fullmatch(value)}


def _read_body(wire: _Wire, response: h11.Response, cap: int, types: re.Pattern[str] | None = None) -> bytes:
    """The decoded body, at most ``cap`` bytes: by Content-Length, while reading, and inside the decoder."""
    lengths = _values(response, "content-length")
    if _values(response, "transfer-encoding") and (lengths or response.http_version < b"1.1"):
        raise FetchError(Reason.FRAMING)
    coding = ",".join(_values(response, "content-encoding")).lower()
    if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise FetchError(Reason.ENCODING)
    kinds = {kind.partition(";")[0].strip() for kind in ",".join(_values(response, "content-type")).lower().split(",")}
    if types and not (len(kinds) == 1 and types.fullmatch(kinds.pop())):
        raise FetchError(Reason.TYPE)
    if lengths and int(lengths[0]) > cap:
        raise FetchError(Reason.TOO_LARGE)
    body, pieces = bytearray(), wire.body(cap)
    for piece in pieces if coding in ("", "identity") else _inflate(pieces, coding == "deflate", cap):
        body += piece
        if len(body) > cap:
            raise FetchError(Reason.TOO_LARGE)
    return bytes(body)


def _inflate(pieces: Iterable[bytes], deflate: bool, cap: int) -> Iterator[bytes]:
    """Undo one layer of gzip (one member or several) or deflate (zlib or raw), at most ``cap`` + 1 bytes at a time.

    What follows the end and is no further gzip member is ignored, as browsers do.
    """
    stream, ended = None, False
    for piece in pieces:
        while piece:
            if stream is None:
                if ended and (deflate or piece[0] != 0x1F):
                    return
                is_zlib = piece[0] & 0x0F == 8  # RFC 1950; a raw stream (RFC 1951) doesn't begin so
                stream = zlib.decompressobj((15 if is_zlib else -15) if deflate else 31)
            try:
                yield stream.decompress(piece, cap + 1)
            except zlib.error:
                raise FetchError(Reason.DECODING) from None
            piece = stream.unconsumed_tail or stream.unused_data
            if stream.eof:
                stream, ended = None, True
    if stream is not None:
        raise FetchError(Reason.TRUNCATED)


# --- The two ways in ---


def fetch(
    url: str,
    policy: FetchPolicy,
    *,
    validators: Validators | None = None,
    no_cache: bool = False,
    resolver: Resolver = resolve,
    connector: Connector = connect,
    tls: ssl.SSLContext | None = None,
) -> FetchResult:
    """GET a page through redirects, each of them judged and pinned afresh. Raises FetchError, nothing else.

    ``validators`` go to the first URL only; a 304 counts where one was sent. ``permanent_redirect_to`` is the final
    URL if every redirect was a 301 or 308. An answer without a content type is refused, never sniffed.
    """
    session = _Session(policy, policy.timeout_seconds, resolver, connector, tls)
    hops, permanent, conditional = 0, True, _conditional(validators)
    always = {"Accept": ACCEPT} | ({"Cache-Control": "no-cache"} if no_cache else {})
    try:
        target = check_url(url, policy)
        while True:
            with session.exchange(target, "GET", always | conditional) as (wire, response):
                code = response.status_code
                if code not in (301, 302, 303, 307, 308):
                    body = _page(wire, response, policy.max_body_bytes, conditional=bool(conditional))
                    moved_to = target.url if hops and permanent else None
                    kept = _kept_headers(response)
                    return FetchResult(code, target.url, kept, body, session.elapsed(), hops, moved_to)
                if hops == policy.max_redirects:
                    raise FetchError(Reason.TOO_MANY_REDIRECTS)
                hops, permanent, conditional = hops + 1, permanent and code in (301, 308), {}
                target = _redirect_target(target, response, policy)
    except FetchError as error:
        error.hop = hops
        raise


def _conditional(validators: Validators | None) -> dict[str, str]:
    found = validators or Validators()
    fields = {"If-None-Match": found.etag or "", "If-Modified-Since": found.last_modified or ""}
    return {name: value for name, value in fields.items() if _FIELD_VALUE.fullmatch(value)}


def _redirect_target(current: Target, response: h11.Response, policy: FetchPolicy) -> Target:
    """Resolve Location against the current URL (RFC 3986, 5.2) and judge it like a URL that was just handed in."""
    found = {value for name, value in response.headers if name == b"location"}
    reference = found.pop().decode("utf-8", "surrogateescape") if len(found) == 1 else ""
    if not reference:
        raise FetchError(Reason.LOCATION)
    if _FORBIDDEN.search(reference):  # before urljoin, which would repair it
        raise FetchError(Reason.URL)
    if reference.startswith("//"):
        reference = f"{current.scheme}:{reference}"
    elif not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", reference):
        reference = _resolved(current, reference.partition("#")[0])
    target = check_url(reference, policy)
    if (current.scheme, target.scheme) == ("https", "http"):
        raise FetchError(Reason.DOWNGRADE)
    return target


def _resolved(current: Target, reference: str) -> str:
    """RFC 3986, 5.2.2. ``urljoin`` drops a query that is empty, and would ask for the same page again."""
    if not reference.endswith("?"):
        return urljoin(current.url, reference)
    return urljoin(current.url, reference[:-1] or current.path_query.partition("?")[0]) + "?"


def _page(wire: _Wire, response: h11.Response, cap: int, *, conditional: bool) -> bytes:
    code = response.status_code
    if code == 304 and conditional:
        return b""
    if code not in (200, 203):
        raise FetchError(reason_of_status(code), retry_after=_kept_headers(response).get("retry-after"))
    return _read_body(wire, response, cap, READ_TYPES)


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    policy: FetchPolicy,
    *,
    timeout_seconds: float = 10.0,
    max_body_bytes: int = 1_048_576,
    resolver: Resolver = resolve,
    connector: Connector = connect,
    tls: ssl.SSLContext | None = None,
) -> PostResult:
    """POST to a provider under the same guard (spec 3.4). Every status is an answer; no redirect is followed.

    A status other than 200 is all that its answer says beside its headers, so no body is waited for.

    ``headers`` can't replace Host, User-Agent, Connection or Content-Length. Raises FetchError, nothing else.
    """
    session = _Session(policy, timeout_seconds, resolver, connector, tls)
    fields = {name.lower(): value for name, value in headers.items()} | {"content-length": str(len(body))}
    with session.exchange(check_url(url, policy), "POST", fields, body) as (wire, response):
        answer = _read_body(wire, response, max_body_bytes) if response.status_code == 200 else b""
        return PostResult(response.status_code, _kept_headers(response), answer, session.elapsed())
