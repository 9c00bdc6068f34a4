"""An HTTP server that gives prepared answers and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Canned:
    """``answers`` are given in order, the last one again and again: status, headers, body."""

    answers: list[tuple[int, dict[str, str], bytes]]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)


def as_json(content: Any, status: int = 200, **headers: str) -> tuple[int, dict[str, str], bytes]:
    kind = "application/json" if status < 400 else "application/problem+json"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"Content-Type": kind, **named}, json.dumps(content).encode()


@contextmanager
def serving(*answers: tuple[int, dict[str, str], bytes]) -> Iterator[Canned]:
    canned = Canned(list(answers))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            canned.asked.append(Asked(self.command, self.path, dict(self.headers), body))
            status, headers, content = canned.answers.pop(0) if len(canned.answers) > 1 else canned.answers[0]
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _serve

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    canned.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield canned
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
