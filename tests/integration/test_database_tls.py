"""TLS to a real Postgres. The packaged server knows none, so a relay before it ends the encryption, as a proxy does."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from chalicelib.storage import migrate
from chalicelib.storage.connection import Database
from chalicelib.storage.database_tls import ENCRYPTED, Tls
from tests import authority
from tests.authority import Signed
from tests.postgres import TestServer

NAME = "db.example.com"
_WISH_FOR_TLS = bytes.fromhex("00000008 04d2162f")  # SSLRequest (PostgreSQL, "Message Formats")


@contextmanager
def relay(certificate: Path | None, server: TestServer) -> Iterator[int]:
    """A port that leads to Postgres, behind TLS with this certificate; None: it refuses TLS."""
    behind = f"{conninfo_to_dict(server.url('postgres', 'postgres'))['host']}/.s.PGSQL.5432"
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        threading.Thread(target=_serve, args=(listening, certificate, behind), daemon=True).start()
        yield listening.getsockname()[1]


def _serve(listening: socket.socket, certificate: Path | None, path: str) -> None:
    with suppress(OSError):
        while True:
            client, _ = listening.accept()
            threading.Thread(target=_join, args=(client, certificate, path), daemon=True).start()


def _join(client: socket.socket, certificate: Path | None, path: str) -> None:
    with suppress(OSError), closing(client):
        begin = client.recv(8, socket.MSG_WAITALL)
        with closing(socket.socket(socket.AF_UNIX)) as behind:
            behind.connect(path)
            if begin != _WISH_FOR_TLS:
                behind.sendall(begin)
            elif certificate is None:
                client.sendall(b"N")
            else:
                client.sendall(b"S")
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(certificate)
                client = context.wrap_socket(client, server_side=True)
            back = threading.Thread(target=_carry, args=(behind, client), daemon=True)
            back.start()
            _carry(client, behind)


def _carry(come: socket.socket, go: socket.socket) -> None:
    with suppress(OSError):
        while data := come.recv(65536):
            go.sendall(data)
        go.shutdown(socket.SHUT_WR)


@pytest.fixture(scope="module")
def trusted() -> Signed:
    return authority.authority()


@pytest.fixture
def proven(trusted: Signed, tmp_path: Path) -> Tls:
    return Tls(ca_file=str(trusted.write(tmp_path / "bundle.pem")))


def away(database: str, port: int, role: str = "larder_app", more: str = "") -> str:
    """The database by a name that is no loopback's, at the relay."""
    return f"postgresql://{role}@{NAME}:{port}/{database}?hostaddr=127.0.0.1{more}"


def answers(url: str, tls: Tls) -> bool:
    with closing(Database(url, tls)) as database, database.transaction() as tx:
        return bool(tx.value("doctor.version"))


def test_a_server_that_proves_its_name_is_spoken_to(
    server: TestServer, database: str, trusted: Signed, proven: Tls, tmp_path: Path
) -> None:
    certificate = authority.server(trusted, NAME).write(tmp_path / "server.pem", key=True)
    with relay(certificate, server) as port:
        assert answers(away(database, port), proven)
        assert migrate.pending(away(database, port, "larder_owner"), proven) == []


def test_one_with_another_name_or_another_authority_is_not(
    server: TestServer, database: str, trusted: Signed, proven: Tls, tmp_path: Path
) -> None:
    for number, impostor in enumerate(
        (authority.server(trusted, "db.example.org"), authority.server(authority.authority("Another authority"), NAME))
    ):
        certificate = impostor.write(tmp_path / f"{number}.pem", key=True)
        with relay(certificate, server) as port:
            with pytest.raises(psycopg.OperationalError, match=r"does not match|certificate verify failed"):
                answers(away(database, port, more="&sslmode=require"), proven)
            assert answers(away(database, port), ENCRYPTED), "without authorities anybody's certificate does"


def test_a_server_without_tls_is_not_spoken_to(server: TestServer, database: str, proven: Tls) -> None:
    with relay(None, server) as port:
        for tls in (ENCRYPTED, proven):
            with pytest.raises(psycopg.OperationalError, match="does not support SSL"):
                answers(away(database, port), tls)
        with pytest.raises(psycopg.OperationalError, match="refused"):
            answers(away(database, port, more="&sslmode=disable"), ENCRYPTED)
        assert answers(away(database, port, more="&sslmode=disable"), Tls(plaintext=True))


def test_authorities_that_are_not_there_are_no_reason_to_go_without(
    server: TestServer, database: str, trusted: Signed, tmp_path: Path
) -> None:
    certificate = authority.server(trusted, NAME).write(tmp_path / "server.pem", key=True)
    with (
        relay(certificate, server) as port,
        pytest.raises(psycopg.OperationalError, match="root cert"),
    ):
        answers(away(database, port), Tls(ca_file=str(tmp_path / "none.pem")))
