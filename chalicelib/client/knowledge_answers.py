"""What the routes of knowledge answer. Instants are RFC 3339."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ProviderHealth(TypedDict):
    """How a provider did lately on one lane."""

    lane: str
    transient_failures: int
    hard_failures: int
    open_until: str | None
    stopped: bool
    last_failure: str | None
    last_reason: str | None
    last_failure_at: str | None


class Provider(TypedDict):
    """A registration."""

    id: str
    name: str
    base_url: str
    exposure_profile: str
    module: str | None
    capabilities: list[str]
    contract_version: int
    priority: int
    status: str
    allow_private_network: bool
    send_conversation_id: bool
    config_generation: int
    label_warnings: int
    last_label_warning_at: str | None
    secret_rotated_at: str | None
    previous_secret_until: str | None
    created_at: str
    updated_at: str
    health: list[ProviderHealth]


class ProviderWithSecret(Provider):
    """A registration with its new secret, shown this once."""

    secret: str


class ProviderList(TypedDict):
    """Every registration, in order of registration."""

    items: list[Provider]


class Removed(TypedDict):
    """It is gone."""

    id: str


class Refreshed(TypedDict):
    """What came of reading a provider's capabilities."""

    status: str
    reason: str | None
    milliseconds: int
    capabilities: list[str]
    config_generation: int


class TrialResult(TypedDict):
    """A result with its verdict."""

    verdict: str
    documentId: str
    title: str
    snippet: str
    audience: str
    url: str | None
    locale: str | None
    score: float | None


class Trial(TypedDict):
    """What came of asking one provider alone."""

    status: str
    failure: str | None
    reason: str | None
    milliseconds: int
    results: list[TrialResult]


class Consumer(TypedDict):
    """An agent, an assistant or a widget."""

    id: str
    kind: str
    name: str
    active: bool
    capabilities: list[str]
    origins: list[str]
    created_at: str


class ConsumerWithToken(Consumer):
    """One that was just made, with its token, shown this once."""

    token: str


class ConsumerList(TypedDict):
    """All of a kind."""

    items: list[Consumer]


class CustomerResult(TypedDict):
    """What a customer sees of a result."""

    title: str
    snippet: str
    url: str | None
    locale: str | None
    localeFallback: bool


class AgentResult(CustomerResult):
    """What an agent sees of a result."""

    documentId: str
    audience: str
    revision: str | None
    chunkId: str | None
    score: float | None
    freshness: str
    reviewDueAt: str | None
    translationGroupId: str | None
    providerId: str
    providerName: str


class ProviderStatus(TypedDict):
    """How a provider did."""

    id: str
    name: str
    status: str
    ms: int


class Knowledge(TypedDict):
    """What was found. For an assistant's token there are ``results`` alone, of the keys that customers may see.

    ``leftOut``: how many more an answer had no room for, where that happened.
    """

    results: list[AgentResult]
    returnedLocale: str | None
    providers: list[ProviderStatus]
    leftOut: NotRequired[int]


class Widget(TypedDict):
    """What a visitor of a page sees."""

    results: list[CustomerResult]


class Retrieve(TypedDict):
    """An answer of the contract."""

    contractVersion: int
    results: list[dict[str, object]]


class Capabilities(TypedDict):
    """What Larder's own provider declares."""

    contractVersion: int
    capabilities: list[str]
