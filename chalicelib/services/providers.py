"""Knowledge providers as an admin keeps them: register, show, change, remove (spec 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from chalicelib.errors import Conflict, Invalid, NotFound
from chalicelib.fetching import ssrf
from chalicelib.fetching.address_table import PRIVATE_CLASSES
from chalicelib.fetching.errors import FetchError
from chalicelib.knowledge import signing
from chalicelib.knowledge.sealed import seal
from chalicelib.services import quotas
from chalicelib.services.outside import Outside
from chalicelib.services.policies import audit
from chalicelib.services.quotas import Allowance
from chalicelib.services.tokens import Principal
from chalicelib.storage import providers
from chalicelib.storage.connection import Transaction
from chalicelib.storage.providers import Provider

MOST_PROVIDERS = 32  # of a tenant: each is a thread and a connection in every search
RISK = "ssrf-risk"
OWN_MODULE = "larder"
_CONFIGURATION = ("base_url", "capabilities", "allow_private_network", "status")
_LESS = {"status": "disabled", "allow_private_network": False, "send_conversation_id": False}
"""Changes that can only take from what a provider is given or reaches."""
CHANGEABLE = ("name", "base_url", "priority", "status", "capabilities", "allow_private_network", "send_conversation_id")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a registration is to be. ``base_url`` may hold ``{registration}``, which is filled in."""

    name: str
    base_url: str
    exposure_profile: str
    priority: int
    capabilities: tuple[str, ...]
    module: str | None
    allow_private_network: bool
    send_conversation_id: bool
    acknowledge: str | None


@dataclass(frozen=True, slots=True)
class Health:
    """How a provider did lately on one lane, as its circuit has it."""

    lane: str
    transient_failures: int
    hard_failures: int
    open_until: datetime | None
    stopped: bool
    last_failure: str | None
    last_reason: str | None
    last_failure_at: datetime | None

    @property
    def counts(self) -> bool:
        """Whether a failure of it counts now, or keeps it from being asked."""
        return self.stopped or self.open_until is not None or self.transient_failures + self.hard_failures > 0


@dataclass(frozen=True, slots=True)
class Shown:
    """A registration and how it does."""

    provider: Provider
    health: list[Health]


def show_all(outside: Outside, who: Principal) -> list[Shown]:
    """Every registration of the tenant, in order of registration."""
    with outside.database.transaction(who.tenant_id) as tx:
        rows = providers.circuits(tx, who.tenant_id)
        return [Shown(one, _health(one, rows)) for one in providers.of_tenant(tx, who.tenant_id)]


def create(outside: Outside, who: Principal, wanted: Wanted, now: datetime) -> tuple[Shown, str, Allowance]:
    """Register a provider; also its secret, which is shown this once.

    Raises Invalid for an address that may not be asked, Conflict for a name that is taken or one provider too many.
    """
    ident = uuid4()
    base_url = _base_url(outside, wanted.base_url, ident, wanted.module, private=wanted.allow_private_network)
    if wanted.allow_private_network:
        _require_acknowledgement(wanted.acknowledge)
    _check_conversation(wanted.exposure_profile, wanted.send_conversation_id)
    secret = signing.new_secret()
    sealed = seal(outside.keys, ident, secret)
    with quotas.mutation(outside, who, now) as (tx, allowance):
        tx.row("providers.lock_tenant", tenant_id=who.tenant_id)
        if len(providers.of_tenant(tx, who.tenant_id)) >= MOST_PROVIDERS:
            raise Conflict(f"a tenant has {MOST_PROVIDERS} providers at most", code="too_many_providers")
        made = tx.one(
            "providers.insert",
            Provider,
            id=ident,
            tenant_id=who.tenant_id,
            name=wanted.name,
            base_url=base_url,
            exposure_profile=wanted.exposure_profile,
            secret=sealed.ciphertext,
            secret_key_id=sealed.key_id,
            module=wanted.module,
            capabilities=list(wanted.capabilities),
            priority=wanted.priority,
            allow_private_network=wanted.allow_private_network,
            send_conversation_id=wanted.send_conversation_id,
            now=now,
        )
        if made is None:
            raise _name_taken()
        told = {**_told(made), "exposure_profile": made.exposure_profile, "module": made.module}
        audit(tx, who, "provider.create", str(ident), None, told, now)
        return Shown(made, []), secret, allowance


def update(
    outside: Outside, who: Principal, ident: UUID, changes: Mapping[str, Any], acknowledge: str | None, now: datetime
) -> tuple[Shown, Allowance]:
    """Change what ``changes`` names. What a registration is exposed to can't be changed: that is another registration.

    A change of what it is asked with, or how, begins anew: its circuits are closed, and nothing cached is its any more.
    So does the status ``active``, given to one that is not asked for its failures or because it asked to be let alone.
    Raises NotFound, Invalid, Conflict, and RateLimited unless all of it only takes away.
    """
    with quotas.counted(outside, who, now, protects=_takes_away(changes)) as (tx, allowance):
        before = require(tx, ident, lock=True)
        wanted = {name: changes.get(name, getattr(before, name)) for name in CHANGEABLE}
        if wanted["allow_private_network"] != before.allow_private_network:
            _require_acknowledgement(acknowledge)
        if changes.keys() & {"base_url", "allow_private_network"}:
            private = wanted["allow_private_network"]
            wanted["base_url"] = _base_url(outside, wanted["base_url"], ident, before.module, private=private)
        _check_conversation(before.exposure_profile, wanted["send_conversation_id"])
        if tx.value("providers.name_taken", tenant_id=who.tenant_id, name=wanted["name"], id=ident):
            raise _name_taken()
        if set(wanted["capabilities"]) == set(before.capabilities):  # another order is no change
            wanted["capabilities"] = before.capabilities
        lanes = _health(before, providers.circuits(tx, who.tenant_id))
        enabled = changes.get("status") == "active" and any(one.counts for one in lanes)
        begins_anew = enabled or any(wanted[name] != getattr(before, name) for name in _CONFIGURATION)
        after = write(tx, before, wanted, now, begins_anew=begins_anew)
        audit(tx, who, "provider.update", str(ident), _told(before), _told(after), now)
        return Shown(after, _health(after, providers.circuits(tx, who.tenant_id))), allowance


def delete(outside: Outside, who: Principal, ident: UUID, now: datetime) -> Allowance:
    """Remove a registration with its secret and everything that was kept about it. Raises NotFound."""
    with quotas.protective(outside, who, now) as (tx, allowance):
        gone = require(tx, ident, lock=True)
        tx.run("providers.delete", id=ident)
        audit(tx, who, "provider.delete", str(ident), _told(gone), None, now)
        return allowance


def require(tx: Transaction, ident: UUID, *, lock: bool = False) -> Provider:
    """The tenant's registration. Raises NotFound."""
    provider = providers.get(tx, ident, lock=lock)
    if provider is None:
        raise NotFound("there is no such provider")
    return provider


def write(
    tx: Transaction, before: Provider, wanted: Mapping[str, Any], now: datetime, *, begins_anew: bool
) -> Provider:
    """Save the fields that can be changed; ``wanted`` has all of them.

    What begins anew is asked again if it was not the admin who had stopped that.
    """
    if begins_anew:
        tx.run("providers.forget", id=before.id)
    saved = {**wanted, "config_generation": before.config_generation + int(begins_anew)}
    if begins_anew and wanted["status"] == "auto_disabled":
        saved["status"] = "active"
    after = tx.one("providers.update", Provider, id=before.id, **saved, now=now)
    assert after is not None
    return after


def _takes_away(changes: Mapping[str, Any]) -> bool:
    return bool(changes) and changes.items() <= _LESS.items()


def _told(provider: Provider) -> dict[str, Any]:
    """What the audit says of it: never a secret."""
    return {name: getattr(provider, name) for name in CHANGEABLE}


def _health(provider: Provider, rows: list[dict[str, Any]]) -> list[Health]:
    names = Health.__dataclass_fields__
    return [Health(**{name: row[name] for name in names}) for row in rows if row["provider_id"] == provider.id]


def _name_taken() -> Conflict:
    return Conflict("a provider of that name exists", code="provider_exists")


def _require_acknowledgement(acknowledge: str | None) -> None:
    if acknowledge != RISK:
        rule = f'must be "{RISK}" where allow_private_network is changed'
        raise Invalid(f"acknowledge: {rule}", field="acknowledge", rule=rule)


def _check_conversation(exposure_profile: str, sends: bool) -> None:
    if sends and exposure_profile != "agent_only":
        rule = "must be false: conversations go to agent_only providers alone"
        raise Invalid(f"send_conversation_id: {rule}", field="send_conversation_id", rule=rule)


def _base_url(outside: Outside, given: str, ident: UUID, module: str | None, *, private: bool) -> str:
    """The address under which ``/retrieve`` is asked, if the guard would go there as far as can be said without DNS.

    A registration of module ``larder`` holds the secret of its own route, so it is asked there and nowhere else.
    """
    url = given.replace("{registration}", str(ident)).rstrip("/")
    try:
        if "?" in url or "#" in url:
            raise Invalid("base_url: must have no query and no fragment", field="base_url")
        if module == OWN_MODULE and not url.endswith(own := f"/v1/provider/{ident}"):
            rule = f"must end in {own} for module {OWN_MODULE} (or in /v1/provider/{{registration}})"
            raise Invalid(f"base_url: {rule}", field="base_url", rule=rule)
        policy = ssrf.FetchPolicy(
            allowed_domains=outside.fetch_policy.allowed_domains,
            allowed_ports=outside.fetch_policy.allowed_ports,
            allow_private_networks=outside.fetch_policy.allow_private_networks,
            exempt=PRIVATE_CLASSES if private else frozenset(),
            https_only=not outside.fetch_policy.allow_private_networks,
        )
        ssrf.check_url(f"{url}/capabilities", policy)
    except FetchError as refusal:
        word = str(refusal.reason)
        raise Invalid(f"base_url: may not be asked ({word})", field="base_url", rule=word) from refusal
    return url
