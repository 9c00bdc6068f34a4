"""A small internet on one loopback port: names resolve as a case says, and every address leads to one local server.

The guard gets `World.resolver` and `World.connector`. A connection to the public-looking address of a case lands on the
local server, which knows by the client's port what address was meant; the socket says of its peer what the case wants.
What was asked, contacted and sent is recorded on the server's side of the wire, not taken from the guard's word.
"""

from __future__ import annotations

import contextlib
import errno
import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.cases.ssrf_words import Drop, Hold, Reset, Sleep, Step

IDLE_SECONDS = 5.0


@dataclass
class Request:
    """One request as it arrived: where it was sent, under which TLS name, and the head's own bytes."""

    address: str
    port: int
    sni: str | None
    head: bytes

    @property
    def method(self) -> str:
        """The first word of the request line."""
        return self.head.split(b" ", 1)[0].decode("latin-1")

    @property
    def target(self) -> str:
        """The second word of the request line, as sent."""
        return self.head.split(b" ", 2)[1].decode("latin-1")

    @property
    def headers(self) -> dict[str, str]:
        """Header fields, names lower-case; a repeated one is joined."""
        found: dict[str, str] = {}
        for line in self.head.split(b"\r\n")[1:]:
            name, colon, value = line.decode("latin-1").partition(":")
            if colon:
                key = name.strip().lower()
                found[key] = f"{found[key]}, {value.strip()}" if key in found else value.strip()
        return found

    @property
    def url(self) -> str:
        """What was asked for, as an absolute URL."""
        return f"{'https' if self.sni is not None else 'http'}://{self.headers.get('host', '')}{self.target}"


@dataclass
class Contact:
    """One connection attempt, in order. ``received`` are the bytes that the server got, TLS included."""

    address: str
    port: int
    received: int = 0
    sent: int = 0


class PinnedSocket(socket.socket):
    """A socket to the local server that says what the case wants of its peer, and counts what was read from it."""

    peer: tuple[Any, ...] = ()
    bytes_read = 0

    def getpeername(self) -> Any:
        """The address that the guard meant to reach, or the case's lie."""
        return self.peer

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """As ever, counted."""
        data = super().recv(size, flags)
        self.bytes_read += len(data)
        return data


Answer = Callable[[Request], Iterable[Step]]
Answers = dict[str, Any]
TlsFor = Callable[[str, str], ssl.SSLContext | bytes | None]
"""(server name or "", address) → a context of its own, or the bytes that a server says that speaks no TLS, or None: it
takes the connection and stays silent."""


@dataclass
class World:
    """Names, addresses and one server. ``scale`` shortens every pause of the server."""

    answers: Answers
    answer: Answer
    tls_for: TlsFor
    default_addresses: tuple[str, ...] = ()
    refusals: dict[str, str] = field(default_factory=dict)
    peer: str | None = None
    scale: float = 1.0
    lookups: list[str] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    handshakes: list[str | None] = field(default_factory=list)
    sockets: list[PinnedSocket] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._by_port: dict[int, Contact] = {}
        self._closing = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening; handlers end by themselves."""
        self._closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self.sockets:
            sock.close()

    # --- what the guard gets

    def resolver(self, host: str, port: int) -> list[str]:
        """Answer as the case says: addresses, an error, or nothing for a very long time."""
        self.lookups.append(host)
        found = self.answers.get(host, list(self.default_addresses) or "NXDOMAIN")
        if isinstance(found, list) and found and isinstance(found[0], list):  # it changes with every query
            found = found[min(self.lookups.count(host), len(found)) - 1]
        if isinstance(found, dict):  # by record type
            found = [address for value in found.values() for address in (value if isinstance(value, list) else [value])]
        if isinstance(found, str) and re.fullmatch(r"[\d.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*", found):
            found = [found]
        if isinstance(found, str):
            if re.search(r"no reply|never|hang|time ?out|silent|drop", found, re.I):
                self._closing.wait(30)
            raise socket.gaierror(socket.EAI_AGAIN, "scripted failure")
        aliases = {str(name) for name in found} & set(self.answers)
        return [a for name in aliases for a in self.answers[name]] if aliases else list(found)

    def connector(self, address: str, port: int, timeout: float) -> socket.socket:
        """Record the attempt, then fail as the case says or lead to the local server."""
        contact = Contact(address, port)
        self.contacts.append(contact)
        word = self.refusals.get(address, self.refusals.get("*", "ok"))
        if re.search(r"time|drop|silent|black|hang", word, re.I):
            time.sleep(min(timeout, 30.0))
            raise TimeoutError
        if word.lower() not in ("ok", "up", "accept"):
            raise OSError(getattr(errno, word.upper(), errno.ECONNREFUSED), "scripted failure")
        sock = PinnedSocket(socket.AF_INET, socket.SOCK_STREAM)
        sock.settimeout(timeout)
        sock.bind(("127.0.0.1", 0))
        self._by_port[sock.getsockname()[1]] = contact
        sock.connect(self._listener.getsockname())
        peer = self.peer or address
        sock.peer = (peer, port, 0, 0) if ":" in peer else (peer, port)
        self.sockets.append(sock)
        return sock

    # --- the server

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                conn, (_, port) = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(conn, self._by_port[port]), daemon=True).start()

    def _serve(self, conn: socket.socket, contact: Contact) -> None:
        """Serve one connection. That the guard goes away is no fault of the server's."""
        with contextlib.suppress(OSError), conn, self._faults_kept():
            self._converse(conn, contact)

    def _converse(self, conn: socket.socket, contact: Contact) -> None:
        conn.settimeout(IDLE_SECONDS)
        first = conn.recv(1, socket.MSG_PEEK)
        contact.received += len(first)
        sni = None
        if first == b"\x16":
            context = self.tls_for("", contact.address)
            if context is None:
                self._closing.wait(IDLE_SECONDS)
                return
            if isinstance(context, bytes):
                conn.sendall(context)
                return
            context.sni_callback = self._choose_certificate(contact)
            conn = context.wrap_socket(conn, server_side=True)
            sni = self.handshakes[-1] or ""
        with conn, self._faults_kept():
            head = self._read_head(conn, contact)
            if head:
                request = Request(contact.address, contact.port, sni, head)
                self.requests.append(request)
                if all(self._do(conn, contact, step) for step in self.answer(request)):
                    self._end(conn)

    @contextlib.contextmanager
    def _faults_kept(self) -> Iterator[None]:
        """Keep a fault before the connection is closed, so that the player sees it when the guard fails for it."""
        try:
            yield
        except OSError:
            raise
        except Exception as fault:
            self.faults.append(fault)

    def _choose_certificate(self, contact: Contact) -> Callable[[Any, str | None, Any], None]:
        def choose(sock: Any, name: str | None, _: Any) -> None:
            self.handshakes.append(name)
            try:
                sock.context = self.tls_for(name or "", contact.address)
            except Exception as fault:  # would be lost in OpenSSL's callback
                self.faults.append(fault)
                raise

        return choose

    def _end(self, conn: socket.socket) -> None:
        """Say goodbye in order, so that the last bytes are not lost to a RST."""
        with contextlib.suppress(OSError):
            if isinstance(conn, ssl.SSLSocket):
                conn = conn.unwrap()
            conn.shutdown(socket.SHUT_WR)
            conn.recv(1)

    def _read_head(self, conn: socket.socket, contact: Contact) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            part = conn.recv(65_536)
            contact.received += len(part)
            if not part:
                return b""
            data += part
        return data

    def _do(self, conn: socket.socket, contact: Contact, step: Step) -> bool:
        if isinstance(step, bytes):
            conn.sendall(step)
            contact.sent += len(step)
        elif isinstance(step, Sleep):
            self._closing.wait(step.seconds * self.scale)
        elif isinstance(step, Reset):
            conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        elif isinstance(step, Drop):
            conn.shutdown(socket.SHUT_RDWR)
            return False
        elif isinstance(step, Hold):
            self._closing.wait(30)
            return False
        return not self._closing.is_set()
