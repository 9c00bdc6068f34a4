"""Tenants and tokens: for operators under IAM alone; no route leads here."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from chalicelib.domain.policy import PURPOSES
from chalicelib.errors import Conflict, Invalid, NotFound
from chalicelib.services import tokens
from chalicelib.services.tokens import Minted
from chalicelib.storage.connection import Database


def create(database: Database, *, name: str, plan: str, operator: str | None, now: datetime) -> dict[str, Any]:
    """Make a tenant with an API token and an admin token, which are shown this once.

    Raises Invalid for a name or plan that can't be, Conflict for a name that is taken.
    """
    if not 1 <= len(name.strip()) <= 200:
        raise Invalid("name: must have 1 to 200 characters", field="name")
    with database.transaction() as tx:
        if not tx.value("tenants.plan_exists", plan=plan):
            raise Invalid(f"plan: there is no plan {plan!r}", field="plan")
        tenant_id: UUID | None = tx.value("tenants.insert", name=name.strip(), plan=plan, now=now)
        if tenant_id is None:
            raise Conflict("a tenant of that name exists", code="tenant_exists")
        return {
            "tenant_id": str(tenant_id),
            "name": name.strip(),
            "plan": plan,
            "api_token": tokens.mint(tx, tenant_id, Minted("api", "first"), now),
            "admin_token": tokens.mint(tx, tenant_id, Minted("admin", "first", operator), now),
        }


def list_tenants(database: Database) -> list[dict[str, Any]]:
    """Every tenant, by name."""
    with database.transaction() as tx:
        return tx.rows("tenants.list")


def set_enabled(database: Database, *, name: str, enabled: bool) -> None:
    """Switch a tenant off or on; what waits stays. Raises NotFound."""
    with database.transaction() as tx:
        if tx.row("tenants.set_enabled", name=name, enabled=enabled) is None:
            raise NotFound("there is no such tenant")


def delete(database: Database, *, name: str) -> None:
    """Remove a tenant with everything it has; nothing more is fetched for it. Raises NotFound."""
    with database.transaction() as tx:
        if tx.run("tenants.delete", name=name) == 0:
            raise NotFound("there is no such tenant")


def create_token(database: Database, *, tenant: str, wanted: Minted, now: datetime) -> dict[str, Any]:
    """One more token, shown this once. Raises Invalid, NotFound."""
    if wanted.token_class not in ("api", "admin"):
        raise Invalid("class: must be api or admin", field="class")
    if wanted.operator and wanted.token_class != "admin":
        raise Invalid("operator: only an admin token is minted for a named person", field="operator")
    if unknown := sorted(set(wanted.purposes or ()) - PURPOSES):
        raise Invalid(f"purposes: {unknown[0]!r} is no purpose", field="purposes")
    with database.transaction() as tx:
        row = tx.row("tenants.by_name", name=tenant)
        if row is None:
            raise NotFound("there is no such tenant")
        token = tokens.mint(tx, row["id"], wanted, now)
        return {"tenant": tenant, "class": wanted.token_class, "token": token}


def list_tokens(database: Database, *, tenant: str | None) -> list[dict[str, Any]]:
    """Tokens without their secret, of one tenant or of all."""
    with database.transaction() as tx:
        return tx.rows("tokens.list", tenant=tenant)


def revoke_token(database: Database, *, token_id: UUID, now: datetime) -> None:
    """End a token at once. Raises NotFound if there is none or it has ended already."""
    with database.transaction() as tx:
        if tx.run("tokens.revoke", id=token_id, now=now) == 0:
            raise NotFound("there is no such token, or it is revoked already")
