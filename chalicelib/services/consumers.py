"""Who asks for knowledge beside the API's own tokens: agents, assistants, widgets, each with a token of its class.

What a consumer may reach follows from the class of its token and from nothing in the request (spec 3.1).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from chalicelib.errors import Conflict, Invalid, NotFound, Unauthorized
from chalicelib.fetching import ssrf
from chalicelib.fetching.errors import FetchError
from chalicelib.services import quotas
from chalicelib.services.outside import Outside
from chalicelib.services.policies import audit
from chalicelib.services.quotas import Allowance
from chalicelib.services.tokens import Principal
from chalicelib.storage.connection import Database, Transaction

Kind = Literal["agent", "assistant", "widget"]
READ_PUBLIC, READ_INTERNAL = "knowledge:read_public", "knowledge:read_internal"
MOST_CONSUMERS = 1_000  # of a tenant
_PREFIX: dict[Kind, str] = {"agent": "lrd_agent_", "assistant": "lrd_assistant_", "widget": "lrd_widget_"}
_LOCAL = ("localhost", "127.0.0.1")  # a page under development comes from here, without TLS


@dataclass(frozen=True, slots=True)
class Consumer:
    """A row of ``knowledge_consumers``."""

    id: UUID
    tenant_id: UUID
    kind: Kind
    name: str
    active: bool
    capabilities: list[str]
    origins: list[str]
    token_id: UUID
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Asking:
    """A consumer that its token has named, and whether its tenant is switched on."""

    consumer: Consumer
    tenant_enabled: bool


def authenticate(database: Database, bearer: str | None, kinds: Sequence[Kind]) -> Asking:
    """The active consumer behind a token of one of ``kinds``. Raises Unauthorized, and does not say why."""
    refused = Unauthorized("a valid token is needed", headers={"WWW-Authenticate": "Bearer"})
    kind = next((kind for kind in kinds if bearer and len(bearer) <= 200 and bearer.startswith(_PREFIX[kind])), None)
    if kind is None or bearer is None:
        raise refused
    with database.transaction() as tx:
        presented = _hash(bearer)
        row = tx.row("tokens.find", token_hash=presented)
    if row is None or row["class"] != kind or not hmac.compare_digest(row["token_hash"], presented):
        raise refused
    with database.transaction(row["tenant_id"]) as tx:
        consumer = tx.one("consumers.of_token", Consumer, token_id=row["token_id"], kind=kind)
    if consumer is None:
        raise refused
    return Asking(consumer, row["tenant_enabled"])


def create(
    outside: Outside, who: Principal, kind: Kind, name: str, origins: Sequence[str], now: datetime
) -> tuple[Consumer, str, Allowance]:
    """Make a consumer and its token, which is shown this once. Raises Invalid, Conflict, RateLimited."""
    token = _PREFIX[kind] + secrets.token_urlsafe(32)
    wanted = list(dict.fromkeys(_origin(origin) for origin in origins))
    with quotas.mutation(outside, who, now) as (tx, allowance):
        if tx.value("consumers.count", tenant_id=who.tenant_id) >= MOST_CONSUMERS:
            raise Conflict(f"a tenant has {MOST_CONSUMERS} consumers at most", code="too_many_consumers")
        own = {"tenant_id": who.tenant_id, "now": now}
        token_id = tx.value("consumers.insert_token", **own, **{"class": kind}, label=name, token_hash=_hash(token))
        made = tx.one("consumers.insert", Consumer, **own, kind=kind, name=name, origins=wanted, token_id=token_id)
        if made is None:
            raise Conflict(f"a {kind} of that name exists", code="consumer_exists")
        audit(tx, who, f"{kind}.create", str(made.id), None, {"name": name, "origins": wanted}, now)
        return made, token, allowance


def show_all(outside: Outside, who: Principal, kind: Kind) -> list[Consumer]:
    """Every consumer of a kind, in the order in which they were made."""
    with outside.database.transaction(who.tenant_id) as tx:
        return tx.all("consumers.list", Consumer, tenant_id=who.tenant_id, kind=kind)


def set_active(
    outside: Outside, who: Principal, kind: Kind, ident: UUID, active: bool, now: datetime
) -> tuple[Consumer, Allowance]:
    """Switch a consumer off or on; its token answers to nothing while it is off.

    Raises NotFound, and RateLimited where it is switched on.
    """
    with quotas.counted(outside, who, now, protects=not active) as (tx, allowance):
        before = _require(tx, kind, ident)
        after = tx.one("consumers.set_active", Consumer, id=ident, active=active)
        assert after is not None
        audit(tx, who, f"{kind}.active", str(ident), {"active": before.active}, {"active": active}, now)
        return after, allowance


def set_capability(
    outside: Outside, who: Principal, ident: UUID, capability: str, *, granted: bool, now: datetime
) -> tuple[Consumer, Allowance]:
    """Grant a capability to an assistant, or take it. Both may be repeated.

    ``knowledge:read_internal`` is refused: every assistant can write for customers (spec 3.1). Raises Invalid,
    NotFound, and RateLimited where it is granted.
    """
    if capability != READ_PUBLIC:
        rule = f"must be {READ_PUBLIC}"
        if capability == READ_INTERNAL:
            rule += ": every assistant can write for customers, so none reads what is internal"
        raise Invalid(f"capability: {rule}", field="capability", rule=rule)
    with quotas.counted(outside, who, now, protects=not granted) as (tx, allowance):
        before = _require(tx, "assistant", ident)
        wanted = [READ_PUBLIC] if granted else []
        after = tx.one("consumers.set_capabilities", Consumer, id=ident, capabilities=wanted)
        assert after is not None
        told = {"capabilities": before.capabilities}, {"capabilities": wanted}
        audit(tx, who, "assistant.capability", str(ident), *told, now)
        return after, allowance


def delete(outside: Outside, who: Principal, kind: Kind, ident: UUID, now: datetime) -> Allowance:
    """Remove a consumer and its token. Raises NotFound."""
    with quotas.protective(outside, who, now) as (tx, allowance):
        gone = _require(tx, kind, ident)
        tx.run("consumers.delete", token_id=gone.token_id)
        audit(tx, who, f"{kind}.delete", str(ident), {"name": gone.name}, None, now)
        return allowance


def _require(tx: Transaction, kind: Kind, ident: UUID) -> Consumer:
    consumer = tx.one("consumers.get", Consumer, id=ident, kind=kind)
    if consumer is None:
        raise NotFound(f"there is no such {kind}")
    return consumer


def _origin(text: str) -> str:
    """``text``, if it is spelled as browsers send it (RFC 6454, 6.2): they are compared as texts."""
    rule = "must be an origin as browsers send it, such as https://www.example.com"
    try:
        page = ssrf.parse_url(text)
    except FetchError:
        raise Invalid(f"origins: {rule}", field="origins", rule=rule) from None
    canonical = f"{page.scheme}://{page.authority}"
    if page.scheme != "https" and page.host not in _LOCAL:
        raise Invalid(f"origins: {rule}", field="origins", rule=rule)
    if text != canonical:
        rule += f"; {canonical} perhaps"
        raise Invalid(f"origins: {rule}", field="origins", rule=rule)
    return text


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
