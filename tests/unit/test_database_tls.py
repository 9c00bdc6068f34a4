"""A connection that leaves this machine is encrypted, and proven where there are authorities to ask."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from chalicelib.storage.database_tls import ENCRYPTED, NotProtected, Tls, protect

PROVEN = Tls(ca_file="/opt/ca/database.pem")
PLAIN = Tls(plaintext=True)
AWAY = "postgresql://app:p4ss@db.example.com/larder"
HERE = [
    "postgresql://app@127.0.0.1:5432/larder",
    "postgresql://app@localhost/larder?sslmode=disable",
    "postgresql://app@[::1]/larder",
    "postgresql:///larder?host=/run/postgresql&sslmode=disable",
    "postgresql:///larder",
    "host=127.0.0.1,127.0.0.2 dbname=larder",
]
NOT_ALL_HERE = [
    "host=localhost hostaddr=192.0.2.7 dbname=larder",
    "host=db.example.com hostaddr=127.0.0.1 dbname=larder",
    "host=127.0.0.1,db.example.com dbname=larder",
    "host=127.0.0.1.example.com dbname=larder",
    "host=192.0.2.7 dbname=larder",
]


@pytest.mark.parametrize("url", HERE)
@pytest.mark.parametrize("tls", [ENCRYPTED, PROVEN, PLAIN])
def test_what_stays_on_this_machine_is_left_as_it_is(url: str, tls: Tls) -> None:
    assert protect(url, tls) == url


@pytest.mark.parametrize("url", [AWAY, *NOT_ALL_HERE])
def test_everything_else_must_encrypt(url: str) -> None:
    assert conninfo_to_dict(protect(url, ENCRYPTED)) == {**conninfo_to_dict(url), "sslmode": "require"}


@pytest.mark.parametrize("mode", ["", "?sslmode=require", "?sslmode=verify-ca", "?sslmode=verify-full"])
def test_with_authorities_the_server_must_prove_its_name(mode: str) -> None:
    found = conninfo_to_dict(protect(AWAY + mode, PROVEN))
    assert (found["sslmode"], found["sslrootcert"]) == ("verify-full", PROVEN.ca_file)
    assert (found["host"], found["password"]) == ("db.example.com", "p4ss")


def test_authorities_that_the_url_names_itself_count() -> None:
    found = conninfo_to_dict(protect(f"{AWAY}?sslrootcert=system", PROVEN))
    assert (found["sslmode"], found["sslrootcert"]) == ("verify-full", "system")


@pytest.mark.parametrize("tls", [ENCRYPTED, PROVEN])
@pytest.mark.parametrize("mode", ["disable", "allow", "prefer"])
def test_what_weakens_it_is_refused_unless_the_deployment_allows_it(mode: str, tls: Tls) -> None:
    url = f"{AWAY}?sslmode={mode}"
    with pytest.raises(NotProtected) as caught:
        protect(url, tls)
    assert "p4ss" not in str(caught.value)
    assert protect(url, PLAIN) == url


@pytest.mark.parametrize("mode", ["require", "verify-ca", "verify-full"])
def test_what_the_url_asks_for_beyond_encryption_stays(mode: str) -> None:
    url = f"{AWAY}?sslmode={mode}"
    assert protect(url, ENCRYPTED) == protect(url, PLAIN) == url


def test_a_refusal_counts_as_a_database_that_cannot_be_reached() -> None:
    assert issubclass(NotProtected, psycopg.OperationalError)
