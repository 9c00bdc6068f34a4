"""A small web site on loopback whose pages a test can change, and that remembers who asked for what."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Page:
    body: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})


class Site:
    """``pages`` by path; ``requests`` are (path, headers) in the order in which they came."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.pages: dict[str, Page] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def publish(self, path: str, text: str, **headers: str) -> str:
        """Put a page of paragraphs at ``path``; returns its URL."""
        paragraphs = "".join(f"<p>{part}</p>" for part in text.split("\n\n"))
        page = Page(f"<!doctype html><html><head><title>{path}</title></head><body>{paragraphs}</body></html>")
        page.headers |= {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = page
        return self.url(path)

    def clear(self) -> None:
        self.pages.clear()
        self.requests.clear()


@contextmanager
def serve() -> Iterator[Site]:
    """A site on a free port for as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append((self.path, dict(self.headers.items())))
            page = site.pages.get(self.path, Page("not here", 404))
            etag = page.headers.get("ETag")
            unchanged = etag is not None and self.headers.get("If-None-Match") == etag
            body = b"" if unchanged else page.body.encode()
            self.send_response(304 if unchanged else page.status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site = Site(server.server_port)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield site
        finally:
            server.shutdown()
