"""The sites of a case: one local server that every name leads to, asked through the real guard.

What was asked is kept on the server's side of the wire, so a request counts although its worker was killed.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from chalicelib.fetching import ssrf
from tests.cases import ssrf_certificates as certificates
from tests.cases.ssrf_world import PinnedSocket, Request

ADDRESS = "1.1.1.1"
FAULTS = ("timeout", "dns", "refused", "reset", "truncated")
_DEADLINE_SECONDS = 0.4  # of a fetch from a server that stays silent


@dataclass(frozen=True)
class Response:
    """What a site says. ``conditional``: a request that carries this response's validators is answered 304.

    ``fault`` is one of `FAULTS`: how the exchange fails instead.
    """

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    conditional: bool = False
    fault: str | None = None

    def header(self, name: str) -> str | None:
        """The value of a header, by its lower-case name."""
        return next((value for key, value in self.headers if key.lower() == name), None)

    def with_headers(self, **headers: str | None) -> Response:
        """The same with these headers (``last_modified``…); None leaves one out."""
        named = {name.replace("_", "-").title(): value for name, value in headers.items()}
        others = [pair for pair in self.headers if pair[0].title() not in named]
        return replace(self, headers=(*others, *((name, value) for name, value in named.items() if value is not None)))


@dataclass
class Site:
    """Answers by URL, else by path, else the one of ``*``."""

    responses: dict[str, Response] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    contacts: list[str] = field(default_factory=list)
    policy: ssrf.FetchPolicy = field(default_factory=ssrf.FetchPolicy)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._closing = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening; what is being answered ends by itself."""
        self._closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def fetch(self, url: str, *, validators: ssrf.Validators | None, no_cache: bool) -> ssrf.FetchResult:
        """The guarded fetch, in this world."""
        fault = self._at(url).fault
        policy = replace(self.policy, timeout_seconds=_DEADLINE_SECONDS) if fault == "timeout" else self.policy
        return ssrf.fetch(
            url,
            policy,
            validators=validators,
            no_cache=no_cache,
            resolver=lambda host, port: [] if fault == "dns" else [ADDRESS],
            connector=self._connect,
            tls=certificates.trusting() if "https:" in f"{url} {self.responses}" else None,
        )

    def _at(self, url: str) -> Response:
        path = urlsplit(url).path or "/"
        return self.responses.get(url) or self.responses.get(path) or self.responses.get("*") or Response(404)

    def _connect(self, address: str, port: int, timeout: float) -> socket.socket:
        self.contacts.append(address)
        if any(response.fault == "refused" for response in self.responses.values()):
            raise ConnectionRefusedError
        sock = PinnedSocket(socket.AF_INET, socket.SOCK_STREAM)
        sock.settimeout(timeout)
        sock.connect(self._listener.getsockname())
        sock.peer = (address, port)
        return sock

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                conn, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            stack.enter_context(conn)
            conn.settimeout(5.0)
            sni = None
            if conn.recv(1, socket.MSG_PEEK) == b"\x16":
                conn, sni = stack.enter_context(self._tls(conn)), ""
            request = Request(ADDRESS, 443 if sni is not None else 80, sni, _head(conn))
            response = self._at(request.url)
            self.requests.append(request)
            if response.fault == "timeout":
                self._closing.wait(_DEADLINE_SECONDS * 2)
            elif response.fault != "reset":
                conn.sendall(_wire(response, request))
                conn.shutdown(socket.SHUT_WR)
                conn.recv(1)

    def _tls(self, conn: socket.socket) -> socket.socket:
        host = urlsplit(next((url for url in self.responses if url.startswith("https:")), "")).hostname or ""
        return certificates.server_context("valid", host, ADDRESS, ()).wrap_socket(conn, server_side=True)


def _head(conn: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head:
        part = conn.recv(65_536)
        if not part:
            raise OSError("the client went away")
        head += part
    return head


def _wire(response: Response, request: Request) -> bytes:
    """The bytes of a response; a server with validators answers its own ones with 304."""
    status, body = response.status, response.body
    asked = request.headers
    tag, date = response.header("etag"), response.header("last-modified")
    if response.conditional and status == 200:
        same = asked.get("if-none-match") == tag if "if-none-match" in asked else asked.get("if-modified-since") == date
        if same and (tag or date) and ("if-none-match" in asked or "if-modified-since" in asked):
            status, body = 304, b""
    lines = [f"HTTP/1.1 {status} Spoken", *(f"{name}: {value}" for name, value in response.headers)]
    if status not in (204, 304) and not response.header("content-length"):
        length = len(body) + 100 if response.fault == "truncated" else len(body)
        lines.append(f"Content-Length: {length}")
    if status == 304:
        lines = [line for line in lines if not re.match("content-(type|length)", line, re.I)]
    return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + (b"" if status == 304 else body)
