"""The provider under test, and how it is asked: bytes that the suite chose, on a connection of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Timer
from typing import Any
from urllib.parse import urlsplit

from chalicelib.domain.retry import parse_retry_after
from chalicelib.errors import LarderError
from chalicelib.knowledge import contract, signing

PATIENCE = 30.0  # seconds until no answer is an answer, too; more where the budget is more
WAIT = 5.0  # seconds to wait after a 429 that does not say how long


class Halted(LarderError):
    """Nothing more is asked: the time is up, or the provider limits the rate (429) for longer than the suite waits."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. Status 0: the connection was closed without an answer. Header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    seconds: float

    @property
    def json(self) -> Any:
        """The body as JSON, or None."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Subject:
    """A provider and what it is known by. ``query`` should find something, or labels can't be judged.

    ``nonces`` come between a nonce and its repetition. A provider may limit the rate: a request that it answers with
    429 is sent anew after the time that it asks for, at most ``longest_wait`` seconds, and ``waits`` times.
    ``ends`` is the instant of ``time.monotonic`` at which the time is up.
    """

    base_url: str
    secret: str = field(repr=False)
    previous_secret: str | None = field(default=None, repr=False)
    profile: str = "agent_only"
    query: str = "password"
    budget: float = 10.0
    nonces: int = 200
    longest_wait: float = 60.0
    waits: int = 3
    ends: float = math.inf
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep

    def question(self, **changes: Any) -> bytes:
        """A question as the broker writes it; ``changes`` of None leave a field out."""
        fields = {"query": self.query, "limit": contract.DEFAULT_LIMIT, **changes}
        kept = {name: value for name, value in fields.items() if value is not None}
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()

    def ask(
        self,
        body: bytes | None = None,
        *,
        signed_body: bytes | None = None,
        keys: Sequence[str] | None = None,
        skew: int = 0,
        nonce: str | None = None,
        signature: Callable[[str], str | None] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:
        """POST a question, right in every way but what is given.

        ``signature`` may write the signature header anew, ``headers`` replaces headers (None: left out).
        Raises Halted.
        """
        content = self.question() if body is None else body

        def once() -> Answer:
            made: dict[str, str | None] = dict(
                signing.headers(
                    [self.secret] if keys is None else keys,
                    content if signed_body is None else signed_body,
                    timestamp=int(self.clock()) + skew,
                    nonce=nonce or signing.new_nonce(),
                )
            )
            if signature is not None:
                made[signing.SIGNATURE_HEADER] = signature(str(made[signing.SIGNATURE_HEADER]))
            named = {"Content-Type": contract.CONTENT_TYPE, **made, **(headers or {})}
            return self._send("POST", "/retrieve", content, named)

        return self._within_its_rate(once)

    def capabilities(self) -> Answer:
        """GET what it declares. Not signed, as a broker's is not. Raises Halted."""
        return self._within_its_rate(lambda: self._send("GET", "/capabilities", b"", {}))

    def _within_its_rate(self, send: Callable[[], Answer]) -> Answer:
        for _ in range(self.waits):
            answer = send()
            if answer.status != 429:
                return answer
            asked = parse_retry_after(answer.headers.get("retry-after"), now=datetime.fromtimestamp(self.clock(), UTC))
            seconds = WAIT if asked is None else asked.total_seconds()
            if seconds > min(self.longest_wait, self.ends - time.monotonic()):
                raise Halted(f"it limits the rate of requests, and asked to wait for {seconds:g} s")
            self.sleep(seconds)
        raise Halted(f"it limits the rate of requests, still after {self.waits} waits")

    def _send(self, method: str, path: str, body: bytes, headers: Mapping[str, str | None]) -> Answer:
        target = urlsplit(self.base_url.rstrip("/") + path)
        kind = http.client.HTTPSConnection if target.scheme == "https" else http.client.HTTPConnection
        sent = {name: value for name, value in headers.items() if value is not None}
        start = time.monotonic()
        patience = max(0.0, min(max(PATIENCE, self.budget), self.ends - start))
        nobody = Answer(0, {}, b"", patience)
        connection = kind(target.hostname or "", target.port, timeout=patience)
        try:
            if start >= self.ends:
                raise TimeoutError
            connection.connect()
            with _cut_after(connection.sock, start + patience - time.monotonic()):
                more = {"Accept": "application/json", "Connection": "close", **sent}
                connection.request(method, target.path, body, more)
                response = connection.getresponse()
                content = response.read(contract.MAX_RESPONSE_BYTES + 1)
            named = {name.lower(): value for name, value in response.getheaders()}
            seconds = time.monotonic() - start
            answer = Answer(response.status, named, content, seconds) if seconds < patience else nobody
        except (OSError, http.client.HTTPException):
            answer = nobody
        finally:
            connection.close()
        if answer is nobody and time.monotonic() >= self.ends:
            raise Halted("the time of the run was up")
        return answer


@contextlib.contextmanager
def _cut_after(connected: socket.socket, seconds: float) -> Iterator[None]:
    """Hang up when the time is up: of an answer that trickles, each byte comes in time."""

    def hang_up() -> None:
        with contextlib.suppress(OSError):
            socket.socket.shutdown(connected, socket.SHUT_RDWR)  # below TLS, whose own farewell would be waited for

    timer = Timer(seconds, hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
