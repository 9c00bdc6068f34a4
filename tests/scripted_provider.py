"""A knowledge provider on a real socket that answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

JSON = "application/json; charset=utf-8"


@dataclass(frozen=True)
class Asked:
    """One request as it arrived; header names are lower-case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Says:
    """One response. ``pause``: seconds before it begins, ``each_byte`` before each byte of its body.

    ``reset``: the connection is torn down instead.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": JSON})
    pause: float = 0.0
    reset: bool = False
    each_byte: float = 0.0


def result(ident: str = "d1", **more: Any) -> dict[str, Any]:
    return {"documentId": ident, "title": "T", "snippet": "S", "audience": "public", **more}


def answer(*results: Any, **envelope: Any) -> Says:
    return Says(body=json.dumps({"contractVersion": 1, "results": list(results), **envelope}).encode())


def status(code: int, **headers: str) -> Says:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Says(code, b"", {"Content-Type": "application/problem+json", **named})


Behaviour = Callable[[Asked], Says]


class ScriptedProvider:
    """``behave`` may be set at any time; ``asked`` grows with each request."""

    def __init__(self, behave: Behaviour | Says | None = None) -> None:
        self.behave: Behaviour | Says = behave if behave is not None else answer(result())
        self.capabilities: list[str] = []
        self.asked: list[Asked] = []
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def questions(self) -> list[Asked]:
        return [one for one in self.asked if one.method == "POST"]

    def _respond(self, asked: Asked) -> Says:
        self.asked.append(asked)
        if asked.method == "GET":
            return Says(body=json.dumps({"contractVersion": 1, "capabilities": self.capabilities}).encode())
        return self.behave(asked) if callable(self.behave) else self.behave

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                says = provider._respond(Asked(self.command, self.path, headers, self.rfile.read(length)))
                provider._over.wait(says.pause)
                with contextlib.suppress(OSError):
                    self._say(says)

            do_GET = do_POST

            def _say(self, says: Says) -> None:
                if says.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    return
                self.send_response(says.status)
                for name, value in {"Content-Length": str(len(says.body)), **says.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if not says.each_byte:
                    self.wfile.write(says.body)
                    return
                for number in range(len(says.body)):
                    if provider._over.wait(says.each_byte):
                        return
                    self.wfile.write(says.body[number : number + 1])

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        return Handler


@contextmanager
def serving(*behaviours: Behaviour | Says | None) -> Iterator[list[ScriptedProvider]]:
    """Providers for as long as the block lasts."""
    providers = [ScriptedProvider(one) for one in behaviours]
    try:
        yield providers
    finally:
        for one in providers:
            one.close()
