"""A port that is known before what answers on it: the guard's list of ports is a setting, a gateway's port is not."""

from __future__ import annotations

import contextlib
import socket
import threading


class Relay:
    """Passes every connection on to ``target``, which is set when it is known."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self.target: tuple[str, int] | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                conn, _ = self._listener.accept()
                threading.Thread(target=self._relay, args=(conn,), daemon=True).start()

    def _relay(self, conn: socket.socket) -> None:
        assert self.target is not None
        with conn, socket.create_connection(self.target) as other:
            back = threading.Thread(target=_copy, args=(other, conn), daemon=True)
            back.start()
            _copy(conn, other)
            back.join()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
