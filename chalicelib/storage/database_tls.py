"""How a connection to Postgres is protected: encrypted unless it stays on this machine, proven where there is a CA.

libpq by itself encrypts if the server offers it and asks no questions. Here a server elsewhere must encrypt, and with a
file of authorities it must show a certificate of theirs with its own name in it (PostgreSQL, "SSL Support").
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

_WEAKER = ("disable", "allow", "prefer")  # than what an attacker on the way can't switch off


class NotProtected(psycopg.OperationalError):
    """The URL asks for a connection that may be plain text; the message does not repeat the URL."""


@dataclass(frozen=True, slots=True)
class Tls:
    """``ca_file``: the authorities whose certificate the server must show; empty: any.

    ``plaintext``: the deployment has said that a server elsewhere may be spoken to without TLS.
    """

    ca_file: str = ""
    plaintext: bool = False


ENCRYPTED = Tls()
"""Encrypted, whoever answers."""


def protect(conninfo: str, tls: Tls) -> str:
    """``conninfo``, a URL or keywords and values, with what protects it; as it is where every host is this machine.

    Raises NotProtected, or psycopg.ProgrammingError if libpq can't read it.
    """
    found = conninfo_to_dict(conninfo)
    mode = found.get("sslmode")
    if _stays_here(found) or (tls.plaintext and mode in _WEAKER):
        return conninfo
    if mode in _WEAKER:
        raise NotProtected(f"sslmode={mode} is refused for a server on another machine")
    if tls.ca_file:
        return make_conninfo(conninfo, sslmode="verify-full", sslrootcert=found.get("sslrootcert") or tls.ca_file)
    return conninfo if mode else make_conninfo(conninfo, sslmode="require")


def _stays_here(found: Mapping[str, Any]) -> bool:
    """Both what is connected to (hostaddr) and what it is called (host): a tunnel's near end is not the server."""
    return all(
        _is_this_machine(host) for name in ("host", "hostaddr") for host in str(found.get(name) or "").split(",")
    )


def _is_this_machine(host: str) -> bool:
    """A socket's folder, or a loopback address. Nothing is looked up."""
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
