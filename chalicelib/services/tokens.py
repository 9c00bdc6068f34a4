"""Tokens: who is asking. Random, shown once, stored as SHA-256."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from chalicelib.errors import Forbidden, Unauthorized
from chalicelib.storage.connection import Database, Transaction

_PREFIX = {"api": "lrd_api_", "admin": "lrd_admin_"}


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is asking, as their tokens say; nothing of it comes from the request's own claims.

    ``admin_token_id`` is set where a valid admin token of the same tenant came along. ``correlation_id`` is the
    gateway's name for this request, which what is done in it bears in the record.
    """

    tenant_id: UUID
    token_id: UUID
    tenant_enabled: bool
    admin_token_id: UUID | None = None
    operator_name: str | None = None
    roles: tuple[str, ...] = ()
    purposes: tuple[str, ...] | None = None
    firewall_mode: str | None = None
    correlation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Minted:
    """What a new token is to be. ``roles`` and ``purposes`` bound what its requests may name; None: any purpose."""

    token_class: str
    label: str = ""
    operator: str | None = None
    roles: tuple[str, ...] = ()
    purposes: tuple[str, ...] | None = None


def mint(tx: Transaction, tenant_id: UUID, wanted: Minted, now: datetime) -> str:
    """Make a token and return it; only its hash is kept, so it can't be shown again."""
    token = _PREFIX[wanted.token_class] + secrets.token_urlsafe(32)
    tx.row(
        "tokens.insert",
        **{"class": wanted.token_class},
        tenant_id=tenant_id,
        label=wanted.label,
        operator_name=wanted.operator,
        roles=list(wanted.roles),
        purposes=None if wanted.purposes is None else list(wanted.purposes),
        token_hash=_hash(token),
        now=now,
    )
    return token


def authenticate(database: Database, bearer: str | None, admin: str | None, *, admin_needed: bool) -> Principal:
    """The principal behind an API token and, if given, an admin token.

    Raises Unauthorized without a valid API token, Forbidden ``admin_token_required`` where an admin token is needed and
    none, a wrong one or another tenant's came. Which of these it was is not told. Where none is needed, a wrong one
    counts as none: it makes nobody an operator.
    """
    with database.transaction() as tx:
        api = _find(tx, bearer, "api")
        operator = _find(tx, admin, "admin")
    if api is None:
        raise Unauthorized("a valid API token is needed", headers={"WWW-Authenticate": "Bearer"})
    if operator is None or operator["tenant_id"] != api["tenant_id"]:
        if admin_needed:
            raise Forbidden("this needs the X-Admin-Token of the same tenant", code="admin_token_required")
        operator = {}
    return _principal(api, operator)


def resume(database: Database, token_id: UUID, admin_token_id: UUID) -> Principal:
    """The principal behind two tokens that were shown before, by their ids; a token that was revoked since ends it.

    Raises Unauthorized.
    """
    with database.transaction() as tx:
        api = tx.row("tokens.find_by_id", id=token_id)
        operator = tx.row("tokens.find_by_id", id=admin_token_id)
    if api is None or operator is None:
        raise Unauthorized("one of the tokens no longer counts")
    return _principal(api, operator)


def _principal(api: dict[str, Any], operator: dict[str, Any]) -> Principal:
    return Principal(
        tenant_id=api["tenant_id"],
        token_id=api["token_id"],
        tenant_enabled=api["tenant_enabled"],
        admin_token_id=operator.get("token_id"),
        operator_name=operator.get("operator_name"),
        roles=tuple(api["roles"]),
        purposes=None if api["purposes"] is None else tuple(api["purposes"]),
        firewall_mode=api["firewall_mode"],
    )


def _find(tx: Transaction, token: str | None, token_class: str) -> dict[str, Any] | None:
    if not token or not token.startswith(_PREFIX[token_class]) or len(token) > 200:
        return None
    presented = _hash(token)
    row = tx.row("tokens.find", token_hash=presented)
    if row is None or row["class"] != token_class or not hmac.compare_digest(row["token_hash"], presented):
        return None
    return row


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
