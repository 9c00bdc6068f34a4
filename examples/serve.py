"""A small site in two editions, served on 127.0.0.1 as a careful web server would: validators, 304, redirects.

python -m examples.serve [--edition one|two] [--port 8080]
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

FOLDER = Path(__file__).resolve().parent / "site"

PUBLISHED = {
    "one": datetime(2026, 3, 2, 6, 30, tzinfo=UTC),
    "two": datetime(2026, 9, 14, 6, 30, tzinfo=UTC),
}
"""When each edition came out. A file's own date would be that of the clone."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of one edition, and what tells it from the others."""

    body: bytes
    etag: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Request:
    """One request that the site answered."""

    at: datetime
    path: str
    status: int


def read_pages(edition: str) -> dict[str, Page]:
    """The pages of ``edition`` by path. A page that is as it was keeps its ETag and its date."""
    return {f"/{file.name}": _page(file.name, edition) for file in sorted((FOLDER / edition).glob("*.html"))}


def _page(name: str, edition: str) -> Page:
    body = (FOLDER / edition / name).read_bytes()
    since = next(other for other in PUBLISHED if other == edition or (FOLDER / other / name).read_bytes() == body)
    return Page(body, f'"{hashlib.sha256(body).hexdigest()[:16]}"', PUBLISHED[since])


class ExampleSite:
    """The site on a port of its own, from entering the context to leaving it.

    ``edition`` may be changed while it runs. ``redirects`` are paths that answer 302 to somewhere else. ``requests``
    is what was asked for so far. Port 0 is any free one.
    """

    def __init__(self, edition: str = "one", *, port: int = 0, redirects: Mapping[str, str] | None = None) -> None:
        self.edition = edition
        self.redirects = dict(redirects or {})
        self.requests: list[Request] = []
        self._editions = {name: read_pages(name) for name in PUBLISHED}
        self._server = ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (_Handler,), {"site": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def page(self, path: str) -> Page | None:
        """What is at ``path`` in the current edition."""
        return self._editions[self.edition].get(path)

    def asked_for(self, path: str) -> list[Request]:
        """The requests for ``path``, the first one first."""
        return [request for request in self.requests if request.path == path]

    def __enter__(self) -> ExampleSite:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, and give the port back."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    site: ExampleSite
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "ExampleSite", ""
    timeout = 30

    def do_GET(self) -> None:
        target = self.site.redirects.get(self.path)
        page = self.site.page(self.path.partition("?")[0])
        if target is not None:
            self._answer(302, {"Location": target})
        elif page is None:
            self._answer(404, {"Content-Type": "text/plain; charset=utf-8"}, b"There is no such page.\n")
        else:
            self._send(page)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        edition = self.path.removeprefix("/edition/")
        self.close_connection = True  # a body, if there is one, is not read
        headers = {"Content-Type": "text/plain; charset=utf-8", "Connection": "close"}
        if edition in PUBLISHED:
            self.site.edition = edition
            self._answer(200, headers, f"This is edition {edition} now.\n".encode())
        else:
            known = " and ".join(f"/edition/{name}" for name in PUBLISHED)
            self._answer(404, headers, f"Refused: nothing is taken but {known}.\n".encode())

    def _send(self, page: Page) -> None:
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "ETag": page.etag,
            "Last-Modified": format_datetime(page.changed_at, usegmt=True),
        }
        if self._is_known(page):
            self._answer(304, headers)
        else:
            self._answer(200, headers, page.body)

    def _is_known(self, page: Page) -> bool:
        """Whether the client has this very page; a tag that it sends decides alone (RFC 9110, 13.2.2)."""
        tags = self.headers.get("If-None-Match")
        if tags is not None:
            known = [tag.strip().removeprefix("W/") for tag in tags.split(",")]
            return "*" in known or page.etag in known
        with suppress(TypeError, ValueError):
            return page.changed_at <= parsedate_to_datetime(self.headers["If-Modified-Since"])
        return False

    def _answer(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        self.site.requests.append(Request(datetime.now(UTC), self.path, status))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Whoever wants to know reads ``requests``."""


def main() -> int:
    """Serve until Ctrl-C; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m examples.serve", description="A small site in two editions.")
    parser.add_argument(
        "--edition", choices=tuple(PUBLISHED), default="one", help="the one to begin with (%(default)s)"
    )
    parser.add_argument("--port", type=int, default=8080, help="the port of 127.0.0.1 (%(default)s)")
    chosen = parser.parse_args()
    try:
        site = ExampleSite(chosen.edition, port=chosen.port)
    except OSError as error:
        print(f"can't listen on port {chosen.port} of 127.0.0.1: {error.strerror}", file=sys.stderr)
        print("an example site may run already; another one can have --port 8443", file=sys.stderr)
        return 1
    with site, suppress(KeyboardInterrupt):
        print(f"edition {site.edition}, until Ctrl-C; another one: curl -X POST {site.url}/edition/two", flush=True)
        for path in read_pages(site.edition):
            print(f"  {site.url}{path}", flush=True)
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
