"""One tenant's providers, told how to answer, and what everybody saw of them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.cases.provider_clock import Clock, governing
from tests.cases.provider_stage import rows, tenant
from tests.knowledge import Household
from tests.scripted_provider import Behaviour, Says, ScriptedProvider
from tests.tenants import Answer

NOW = datetime(2026, 11, 30, tzinfo=UTC)
CLASSES = {"contract_error": "contract", "config_error": "configuration", "timeout": "transient", "ok": None}
"""The class of each word that an agent is told. A circuit that is open and a registration that is off are none."""


@dataclass
class Scene:
    """Providers by name, in order of registration."""

    house: Household = field(default_factory=tenant)
    providers: dict[str, ScriptedProvider] = field(default_factory=dict)
    registered: dict[str, dict[str, Any]] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Scene:
        self._stack.enter_context(governing(self.clock))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        for one in self.providers.values():
            one.close()

    def add(self, behave: Behaviour | Says, name: str = "p1", profile: str = "customer_safe", **more: Any) -> None:
        """A provider that answers so, registered by the public route."""
        self.providers[name] = ScriptedProvider(behave)
        self.registered[name] = self.house.register(self.providers[name], profile, name=name, **more)

    def asked(self, name: str = "p1") -> int:
        """How many questions this provider got."""
        return len(self.providers[name].questions)

    def queried(self) -> set[str]:
        """The profiles of the registrations that got any question."""
        return {self.registered[name]["exposure_profile"] for name in self.providers if self.asked(name)}

    def row(self, name: str = "p1") -> dict[str, Any]:
        """The registration as an admin sees it now."""
        ident = self.registered[name]["id"]
        return next(one for one in self.house.providers() if one["id"] == ident)

    def lane(self, lane: str = "main", name: str = "p1") -> dict[str, Any] | None:
        """How the provider did on this lane; None if it never failed there."""
        return next((one for one in self.row(name)["health"] if one["lane"] == lane), None)

    def count(self, table: str) -> int:
        """Rows of this tenant."""
        ((found,),) = rows(self.house, f"select count(*) from {table} where tenant_id = %s", self.house.tenant.id)
        return int(found)

    @property
    def kept(self) -> int:
        """Answers in the cache."""
        return self.count("knowledge_cache")

    def by_route(self, route: str | None, **more: Any) -> Answer:
        """Ask as a visitor, an assistant, or, by default, the agent."""
        word = (route or "agent").lower()
        if "widget" in word:
            return self.house.visit(**more)
        if "assistant" in word or "customer" in word:
            return self.house.ask(token=self.house.assistant, **more)
        return self.house.ask(**more)


def words_of(answer: Answer) -> list[str]:
    """How each provider did, in order of registration; nothing of that is told to customers."""
    told = answer.json.get("providers") if isinstance(answer.json, dict) else None
    return [str(one["status"]) for one in told or []]


def status_of(answer: Answer, name: str = "p1") -> str:
    """The provider's word in an agent's answer."""
    return next(str(one["status"]) for one in answer.json["providers"] if one["name"] == name)
