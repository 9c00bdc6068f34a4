"""Registrations of knowledge providers, all of them: for admins, for agents, for Larder's own provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from chalicelib.storage.connection import Transaction
from chalicelib.storage.registration import Registration


@dataclass(frozen=True, slots=True)
class Provider:
    """A row of ``knowledge_providers``; the columns are explained where they are made."""

    id: UUID
    tenant_id: UUID
    name: str
    base_url: str
    exposure_profile: str
    secret: bytes = field(repr=False)
    secret_key_id: str
    previous_secret: bytes | None = field(repr=False)
    previous_secret_key_id: str | None
    previous_secret_until: datetime | None
    secret_rotated_at: datetime | None
    module: str | None
    capabilities: list[str]
    contract_version: int
    priority: int
    status: str
    allow_private_network: bool
    send_conversation_id: bool
    config_generation: int
    label_warnings: int
    last_label_warning_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @property
    def registration(self) -> Registration:
        """As it is asked for agents: internal results stay where the profile says that there may be some."""
        inside = self.exposure_profile == "agent_only"
        shared = {name: getattr(self, name) for name in Registration.__dataclass_fields__ if hasattr(self, name)}
        wants = inside and self.send_conversation_id
        return Registration(**{**shared, "keeps_internal": inside, "send_conversation_id": wants})


def of_tenant(tx: Transaction, tenant_id: UUID) -> list[Provider]:
    """Every registration of the tenant, in order of registration."""
    return tx.all("providers.list", Provider, tenant_id=tenant_id)


def get(tx: Transaction, ident: UUID, *, lock: bool = False) -> Provider | None:
    """The registration, locked until the transaction ends if ``lock``; None if there is none in this tenant."""
    return tx.one("providers.get_for_update" if lock else "providers.get", Provider, id=ident)


def circuits(tx: Transaction, tenant_id: UUID) -> list[dict[str, Any]]:
    """How the tenant's providers do, a row a provider and lane; one without a row has never failed."""
    return tx.rows("providers.circuits", tenant_id=tenant_id)
