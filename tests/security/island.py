"""A small internet in a network namespace of its own, in which the guard runs with nothing injected.

``python -m tests.security.island`` is started by ``unshare`` as root of fresh network and mount namespaces. Public and
forbidden addresses alike are put on the loopback device, one HTTP server answers on all of them and notes at which it
was reached, and a DNS server whose answers change from query to query is the system's resolver. Every scenario then
fetches; what an audit hook saw of ``connect`` and what the servers saw is printed as JSON, one line a scenario.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chalicelib.fetching.address_table import PRIVATE_CLASSES
from chalicelib.fetching.errors import FetchError
from chalicelib.fetching.ssrf import FetchPolicy, fetch

PUBLIC = ("1.1.1.1", "1.0.0.1", "2606:4700:4700::1111")
FORBIDDEN = (
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "10.0.0.5",
    "fd00:ec2::254",
    "fd12::1",
)
ZONE: dict[str, list[list[str]]] = {
    "page.example.com": [["1.1.1.1"]],
    "six.example.com": [["2606:4700:4700::1111"]],
    "rebind.example.com": [["1.1.1.1"], ["169.254.169.254"]],
    "mixed.example.com": [["1.1.1.1", "10.0.0.5"]],
    "mixed6.example.com": [["1.1.1.1", "fd12::1"]],
    "private.example.com": [["10.0.0.5"]],
    "loop.example.com": [["127.0.0.2"]],
    "zero.example.com": [["0.0.0.0"]],
    "meta.example.com": [["169.254.169.254"]],
    "half.example.com": [["1.1.1.1", "1.0.0.1"]],
    "page.example.com.corp.example.net": [["10.0.0.5"]],
    "gone.example.com.corp.example.net": [["10.0.0.5"]],
}
"""Name → the answers to its first query, its second, …; the last one stays."""

REDIRECTS = {
    "/to-metadata": "http://169.254.169.254/latest/meta-data/",
    "/to-private-name": "http://private.example.com/",
    "/to-rebind": "http://rebind.example.com/",
    "/to-loopback": "//127.0.0.2/",
    "/to-decimal": "http://2852039166/",
    "/to-page": "/page",
}

OPEN, DEVELOPMENT = FetchPolicy(timeout_seconds=5.0), FetchPolicy(timeout_seconds=5.0, allow_private_networks=True)
PROVIDER = FetchPolicy(timeout_seconds=5.0, exempt=PRIVATE_CLASSES)
SCENARIOS: dict[str, tuple[FetchPolicy, list[str]]] = {
    "a public page": (OPEN, ["http://page.example.com/"]),
    "a public page over IPv6": (OPEN, ["http://six.example.com/"]),
    "a public literal": (OPEN, ["http://1.1.1.1/", "http://[2606:4700:4700::1111]/"]),
    "a name that rebinds after the check": (OPEN, ["http://rebind.example.com/"]),
    "a name that has rebound": (OPEN, ["http://rebind.example.com/", "http://rebind.example.com/"]),
    "a redirect within one name that rebinds": (OPEN, ["http://rebind.example.com/to-page"]),
    "a redirect to a name that has rebound": (
        OPEN,
        ["http://rebind.example.com/", "http://page.example.com/to-rebind"],
    ),
    "one bad address among good ones": (OPEN, ["http://mixed.example.com/", "http://mixed6.example.com/"]),
    "a dead address and a good one": (OPEN, ["http://half.example.com:8443/"]),
    "names of forbidden addresses": (OPEN, [f"http://{n}.example.com/" for n in ("private", "loop", "zero", "meta")]),
    "forbidden literals": (
        OPEN,
        [f"http://{f'[{a}]' if ':' in a else a}/" for a in (*FORBIDDEN, "127.0.0.2", "0.0.0.0")],
    ),
    "other spellings of forbidden literals": (
        OPEN,
        [
            *(
                "http://0x7f.2/",
                "http://2852039166/",
                "http://0251.0376.0251.0376/",
                "http://169.254.43518/",
                "http://127.2/",
            ),
            *(
                "http://[::ffff:169.254.169.254]/",
                "http://[::ffff:a9fe:a9fe]/",
                "http://[::]/",
                "http://[::1]/",
                "http://0/",
            ),
            *("http://１２７.0.0.2/", "http://169。254。169。254/", "http://127.0.0.2./", "http://[::ffff:0:a00:5]/"),
            *(
                "http://1.1.1.1@169.254.169.254/",
                "http://169.254.169.254#@1.1.1.1/",
                "http://169.254.169.254\\@1.1.1.1/",
            ),
        ],
    ),
    "local names": (OPEN, ["http://localhost/", "http://localhost./", "http://ip6-localhost/", "http://wiki/"]),
    "redirects to forbidden places": (
        OPEN,
        [f"http://page.example.com{path}" for path in REDIRECTS if path not in ("/to-page", "/to-rebind")],
    ),
    "a name that a search domain would complete": (OPEN, ["http://gone.example.com/"]),
    "private addresses while they are open": (
        DEVELOPMENT,
        ["http://10.0.0.5/", "http://loop.example.com/", "http://[fd12::1]/"],
    ),
    "metadata while private addresses are open": (
        DEVELOPMENT,
        [
            *("http://169.254.169.254/", "http://168.63.129.16/", "http://100.100.100.200/", "http://192.0.0.192/"),
            *("http://[fd00:ec2::254]/", "http://[::ffff:169.254.169.254]/", "http://meta.example.com/"),
        ],
    ),
    "a provider on a private address": (PROVIDER, ["http://10.0.0.5/", "http://[fd12::1]/"]),
    "a provider on loopback or metadata": (
        PROVIDER,
        [
            "http://127.0.0.2/",
            "http://[::1]/",
            "http://loop.example.com/",
            "http://meta.example.com/",
            "http://0.0.0.0/",
        ],
    ),
}


class Observed:
    """What happened since the last `take`: audited connects and look-ups, requests served, DNS queries answered."""

    def __init__(self) -> None:
        self.connects: list[str] = []
        self.lookups: list[str] = []
        self.served: list[str] = []
        self.queries: list[str] = []

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """The audit hook; no library of the process can connect past it."""
        if event == "socket.connect" and isinstance(arguments[1], tuple):
            self.connects.append(str(arguments[1][0]))
        elif event == "socket.getaddrinfo":
            self.lookups.append(str(arguments[0]))

    def take(self) -> dict[str, list[str]]:
        """Hand over and forget."""
        seen = {name: list(values) for name, values in vars(self).items()}
        for values in vars(self).values():
            values.clear()
        return seen


def main() -> None:
    """Build the island, run every scenario, print what was seen."""
    with tempfile.TemporaryDirectory() as folder:
        _settle(Path(folder))
        seen = Observed()
        _serve_http(seen)
        asked: dict[tuple[str, int], int] = {}
        _serve_dns(seen, asked)
        for address in (*FORBIDDEN, "127.0.0.2"):  # they answer whoever asks: only the guard stands between
            socket.create_connection((address, 80), timeout=5).close()
        os.environ |= dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "http://10.0.0.5:80")
        sys.addaudithook(seen.audit)
        for name, (policy, urls) in SCENARIOS.items():
            asked.clear()
            seen.take()
            outcomes = [_outcome(url, policy) for url in urls]
            print(json.dumps({"scenario": name, "outcomes": outcomes, **seen.take()}), flush=True)


def _outcome(url: str, policy: FetchPolicy) -> str:
    try:
        return fetch(url, policy).body.decode("ascii")
    except FetchError as error:
        return error.reason.value


def _settle(folder: Path) -> None:
    """Addresses on the loopback device, and this process's own resolv.conf and nsswitch.conf."""
    ip("link", "set", "lo", "up")
    for address in (*PUBLIC, *FORBIDDEN):
        ip(
            "addr",
            "add",
            f"{address}/{128 if ':' in address else 32}",
            "dev",
            "lo",
            *(["nodad"] if ":" in address else []),
        )
    for path, text in {
        "/etc/resolv.conf": "nameserver 127.0.0.1\nsearch corp.example.net\noptions ndots:5 timeout:1 attempts:1\n",
        "/etc/nsswitch.conf": "hosts: files dns\n",
    }.items():
        own = folder / Path(path).name
        own.write_text(text)
        subprocess.run(["mount", "--bind", str(own), path], check=True)


def ip(*words: str) -> None:
    """Run the ``ip`` command."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


def _serve_http(seen: Observed) -> None:
    everywhere = socket.create_server(("::", 80), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64)
    here_only = socket.create_server(("1.0.0.1", 8443), backlog=64)

    def answer(conn: socket.socket) -> None:
        with conn, contextlib.suppress(OSError, IndexError):
            conn.settimeout(5)
            address = str(conn.getsockname()[0]).removeprefix("::ffff:")
            head = conn.recv(65_536)
            if not head:
                return
            path = head.split(b" ")[1].decode("latin-1")
            seen.served.append(address)
            if path in REDIRECTS:
                status, more, body = "302 Found", f"Location: {REDIRECTS[path]}\r\n", b""
            else:
                status, more, body = "200 OK", "Content-Type: text/plain\r\n", f"page of {address}".encode("ascii")
            head_out = f"HTTP/1.1 {status}\r\n{more}Content-Length: {len(body)}\r\n\r\n"
            conn.sendall(head_out.encode("ascii") + body)

    def accept(listener: socket.socket) -> None:
        while True:
            conn, _ = listener.accept()
            threading.Thread(target=answer, args=(conn,), daemon=True).start()

    for listener in (everywhere, here_only):
        threading.Thread(target=accept, args=(listener,), daemon=True).start()


def _serve_dns(seen: Observed, asked: dict[tuple[str, int], int]) -> None:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 53))

    def answer() -> None:
        while True:
            query, client = sock.recvfrom(4_096)
            name, kind, question = _question(query)
            seen.queries.append(name)
            versions = ZONE.get(name)
            number = asked[name, kind] = asked.get((name, kind), -1) + 1
            addresses = versions[min(number, len(versions) - 1)] if versions else []
            records = list(_records(addresses, kind))
            flags = 0x8180 if versions else 0x8183
            header = query[:2] + struct.pack("!5H", flags, 1, len(records), 0, 0)
            sock.sendto(header + question + b"".join(records), client)

    threading.Thread(target=answer, daemon=True).start()


def _question(query: bytes) -> tuple[str, int, bytes]:
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii").lower())
        at += 1 + query[at]
    return ".".join(labels), struct.unpack("!H", query[at + 1 : at + 3])[0], query[12 : at + 5]


def _records(addresses: list[str], kind: int) -> Iterator[bytes]:
    family = {1: socket.AF_INET, 28: socket.AF_INET6}.get(kind)
    for address in addresses:
        if family == (socket.AF_INET6 if ":" in address else socket.AF_INET):
            data = socket.inet_pton(family, address)
            yield b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 0, len(data)) + data


if __name__ == "__main__":
    main()
