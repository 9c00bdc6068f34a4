"""The provider under test, and how it is asked: bytes that the suite chose, on a connection of its own."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from chalicelib.knowledge import contract, signing

PATIENCE = 30.0  # seconds until no answer is an answer, too


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
    """A provider and what it is known by. ``query`` should find something, or labels can't be judged."""

    base_url: str
    secret: str = field(repr=False)
    previous_secret: str | None = field(default=None, repr=False)
    profile: str = "agent_only"
    query: str = "password"
    budget: float = 10.0
    clock: Callable[[], float] = time.time

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
        """
        content = self.question() if body is None else body
        made: dict[str, str | None] = dict(
            signing.headers(
                self._keys() if keys is None else keys,
                content if signed_body is None else signed_body,
                timestamp=int(self.clock()) + skew,
                nonce=nonce or signing.new_nonce(),
            )
        )
        if signature is not None:
            made[signing.SIGNATURE_HEADER] = signature(str(made[signing.SIGNATURE_HEADER]))
        return self._send(
            "POST", "/retrieve", content, {"Content-Type": contract.CONTENT_TYPE, **made, **(headers or {})}
        )

    def capabilities(self) -> Answer:
        """GET what it declares."""
        return self._send("GET", "/capabilities", b"", {})

    def _keys(self) -> list[str]:
        return [self.secret]

    def _send(self, method: str, path: str, body: bytes, headers: Mapping[str, str | None]) -> Answer:
        target = urlsplit(self.base_url.rstrip("/") + path)
        kind = http.client.HTTPSConnection if target.scheme == "https" else http.client.HTTPConnection
        connection = kind(target.hostname or "", target.port, timeout=PATIENCE)
        sent = {name: value for name, value in headers.items() if value is not None}
        start = time.monotonic()
        try:
            connection.request(method, target.path, body, {"Accept": "application/json", "Connection": "close", **sent})
            response = connection.getresponse()
            content = response.read(contract.MAX_RESPONSE_BYTES + 1)
            named = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, named, content, time.monotonic() - start)
        except (OSError, http.client.HTTPException):
            return Answer(0, {}, b"", time.monotonic() - start)
        finally:
            connection.close()
