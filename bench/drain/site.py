"""A web on loopback, a host a tenant, that sometimes fails and sometimes never answers."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from infra.postgres import free_port

PARAGRAPHS = 8


@dataclass
class Site:
    """Pages by host and path; all of them show ``edition``. ``failing`` and ``hanging`` are shares of the fetches."""

    port: int
    hosts: list[str]
    failing: float
    hanging: float
    seed: int
    edition: int = 1
    fetches: Counter[str] = field(default_factory=Counter)  # "answered", "failed", "hung"
    _asked: Counter[str] = field(default_factory=Counter)

    def url(self, host: str, number: int) -> str:
        """The page ``number`` of a host."""
        return f"http://{host}:{self.port}/{number}"

    def text(self, url: str) -> str:
        """What a page says in this edition."""
        return "\n".join(
            f"Paragraph {number} of {url} in edition {self.edition if number % 3 == 0 else 1}: a pump is looked at "
            f"every {number + 2} weeks by two people, who write down what they saw and what they did about it."
            for number in range(PARAGRAPHS)
        )

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request, one answer, or none."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ", 2)[1]
            host = next(line.split(": ", 1)[1] for line in head.split("\r\n") if line.lower().startswith("host: "))
            url = f"http://{host}{path}"
            fate = self._fate(f"{host.partition(':')[0]}{path}")
            self.fetches[fate] += 1
            if fate == "hung":
                await reader.read()  # until the other side has had enough
            else:
                writer.write(self._page(url) if fate == "answered" else _FAILURE)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _fate(self, page: str) -> str:
        """Drawn by page and try, so that it doesn't depend on who comes first."""
        self._asked[page] += 1
        drawn = random.Random(f"{self.seed} {page} {self._asked[page]}").random()
        return "failed" if drawn < self.failing else "hung" if drawn < self.failing + self.hanging else "answered"

    def _page(self, url: str) -> bytes:
        body = "".join(f"<p>{line}</p>" for line in self.text(url).split("\n"))
        body = f"<!doctype html><title>{url}</title>{body}"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        return f"{head}Connection: close\r\n\r\n{body}".encode()


_FAILURE = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@contextmanager
def serve(hosts: int, failing: float, hanging: float, seed: int) -> Iterator[Site]:
    """A site of so many hosts, each with an address of 127.0.1.0/24 of its own, for as long as the block runs."""
    site = Site(free_port(), [f"127.0.1.{number + 1}" for number in range(hosts)], failing, hanging, seed)
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(site.answer, site.hosts, site.port))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
