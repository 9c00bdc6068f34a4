"""The pin, shown on loopback with nothing injected: servers on several addresses, a name that rebinds, an audit hook.

Loopback addresses are opened by the policy here, so only the pinning stands between the guard and the other servers;
that addresses are judged is shown by ``test_ssrf_island``.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.fetching.errors import FetchError, Reason
from chalicelib.fetching.ssrf import FetchPolicy, fetch, post

ADDRESSES = ("127.0.0.2", "127.0.0.3", "127.0.0.4")

connects: list[str] = []


def audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        connects.append(str(arguments[1][0]))


sys.addaudithook(audit)


class Servers:
    """One HTTP server an address, all on one port; ``served`` is where requests arrived."""

    def __init__(self) -> None:
        self.served: list[str] = []
        self.location = ""
        self.listeners: list[socket.socket] = []
        self.port = 0
        for address in ADDRESSES:
            listener = socket.create_server((address, self.port))
            self.port = listener.getsockname()[1]
            self.listeners.append(listener)
            threading.Thread(target=self.serve, args=(listener,), daemon=True).start()

    def serve(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                conn, _ = listener.accept()
                with conn, contextlib.suppress(OSError):
                    if conn.recv(65_536):
                        self.served.append(conn.getsockname()[0])
                        status = f"302 Found\r\nLocation: {self.location}" if self.location else "200 OK"
                        self.location = ""
                        conn.sendall(
                            f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n".encode()
                        )


@pytest.fixture
def servers() -> Iterator[Servers]:
    started = Servers()
    connects.clear()
    yield started
    for listener in started.listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What the system's resolver says, query by query; whoever asks a second time gets the second answer."""
    left: list[list[str]] = []

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        if not left:
            raise socket.gaierror(socket.EAI_NONAME, "no answer left")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in left.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return left


def policy(servers: Servers) -> FetchPolicy:
    return FetchPolicy(exempt=frozenset({"loopback"}), allowed_ports=frozenset({servers.port}), timeout_seconds=5.0)


def test_a_second_answer_is_never_asked_for(servers: Servers, answers: list[list[str]]) -> None:
    answers += [["127.0.0.2"], ["127.0.0.3"]]
    fetch(f"http://a.example.com:{servers.port}/", policy(servers))
    assert (connects, servers.served) == (["127.0.0.2"], ["127.0.0.2"])
    assert answers == [["127.0.0.3"]]


def test_a_post_is_pinned_too(servers: Servers, answers: list[list[str]]) -> None:
    answers += [["127.0.0.2"], ["127.0.0.3"]]
    post(f"http://a.example.com:{servers.port}/", b"{}", {}, policy(servers))
    assert (connects, servers.served) == (["127.0.0.2"], ["127.0.0.2"])


def test_each_hop_is_pinned_to_its_own_answer(servers: Servers, answers: list[list[str]]) -> None:
    answers += [["127.0.0.2"], ["127.0.0.3"], ["127.0.0.4"]]
    servers.location = "/next"
    fetch(f"http://a.example.com:{servers.port}/", policy(servers))
    assert connects == servers.served == ["127.0.0.2", "127.0.0.3"]


def test_one_forbidden_answer_keeps_every_server_untouched(servers: Servers, answers: list[list[str]]) -> None:
    answers += [["127.0.0.2", "169.254.169.254", "127.0.0.3"]]
    with pytest.raises(FetchError) as caught:
        fetch(f"http://a.example.com:{servers.port}/", policy(servers))
    assert caught.value.reason == Reason.ADDRESS
    assert connects == servers.served == []


def test_without_the_exemption_no_loopback_server_is_contacted(servers: Servers, answers: list[list[str]]) -> None:
    answers += [["127.0.0.2"]]
    closed = FetchPolicy(allowed_ports=frozenset({servers.port}))
    for host in ("a.example.com", *ADDRESSES):
        with pytest.raises(FetchError) as caught:
            fetch(f"http://{host}:{servers.port}/", closed)
        assert caught.value.reason == Reason.ADDRESS
    assert connects == servers.served == []


def test_a_name_without_a_dot_is_asked_for_as_it_is_and_others_as_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    for host in ("wiki", "wiki.example.com", "wiki.example.com."):
        with pytest.raises(FetchError, match="dns"):
            fetch(f"http://{host}/", FetchPolicy(allow_private_networks=True))
    assert asked == ["wiki", "wiki.example.com.", "wiki.example.com."]
