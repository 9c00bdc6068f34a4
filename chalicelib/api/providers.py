"""``/v1/knowledge/providers``: who is asked, kept by admins (spec 3.2)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, WithJsonSchema

from chalicelib.api import fields
from chalicelib.api.resource import Answer, Call, Input, NoQuery, Nothing, Output, Resource
from chalicelib.domain.locale_match import is_tag
from chalicelib.knowledge.broker import Question
from chalicelib.knowledge.contract import DEFAULT_LIMIT, MAX_LIMIT
from chalicelib.knowledge.labels import Judged
from chalicelib.services import provider_checks, provider_secrets
from chalicelib.services import providers as service
from chalicelib.services.provider_checks import Tested

providers = Resource("providers")

DAY = 86_400
Capability = Literal["locale", "localeFallback", "scoring"]
Profile = Literal["customer_safe", "agent_only"]
BaseUrl = Annotated[str, Field(min_length=1, max_length=2_000)]
Priority = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]
CapabilityList = Annotated[list[Capability], Field(max_length=3)]


def _tag(text: str) -> str:
    if not is_tag(text):
        raise ValueError("must be a BCP 47 language tag, such as de-DE")
    return text


LocaleTag = Annotated[str, AfterValidator(_tag), WithJsonSchema({"type": "string"})]
"""A language tag."""


class ProviderIn(Input):
    """A provider to register. ``{registration}`` in its address is filled in with its id."""

    name: fields.Name
    base_url: BaseUrl
    exposure_profile: Profile
    priority: Priority = 100
    capabilities: CapabilityList = Field(default_factory=list)
    module: Annotated[str, Field(pattern="^[a-z0-9:-]{1,64}$")] | None = None
    allow_private_network: bool = False
    acknowledge: str | None = None
    send_conversation_id: bool = False


class ProviderPatch(Input):
    """What to change; what is left out stays. The exposure profile is no part of it: that is another registration."""

    name: fields.Name | None = None
    base_url: BaseUrl | None = None
    priority: Priority | None = None
    capabilities: CapabilityList | None = None
    status: Literal["active", "disabled"] | None = None
    allow_private_network: bool | None = None
    acknowledge: str | None = None
    send_conversation_id: bool | None = None


class RotateIn(Input):
    """How long the old secret stays good; 0 ends it at once."""

    overlap_seconds: Annotated[int, Field(ge=0, le=30 * DAY)] = DAY


class TrialIn(Input):
    """A question for this provider alone."""

    query: fields.AnyQuery = "test"
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    locale: LocaleTag | None = None
    localeFallback: bool | None = None


class ProviderHealth(Output):
    """How it did lately. ``lane`` is ``widget`` for what public pages cause, ``main`` for everything else."""

    lane: str
    transient_failures: int
    hard_failures: int
    open_until: datetime | None
    stopped: bool
    last_failure: str | None
    last_reason: str | None
    last_failure_at: datetime | None


class ProviderOut(Output):
    """A registration; its secret is shown when it is made, and never again."""

    id: UUID
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
    last_label_warning_at: datetime | None
    secret_rotated_at: datetime | None
    previous_secret_until: datetime | None
    created_at: datetime
    updated_at: datetime
    health: list[ProviderHealth]


class ProviderWithSecret(ProviderOut):
    """A registration with its new secret, shown this once."""

    secret: str


class ProviderList(Output):
    """Every registration, in order of registration."""

    items: list[ProviderOut]


class RefreshedOut(Output):
    """What came of reading the capabilities; a provider that fails keeps what it had."""

    status: str
    reason: str | None
    milliseconds: int
    capabilities: list[str]
    config_generation: int


class TrialResult(Output):
    """A result as it came, with its verdict: ``kept``, ``link_dropped`` or ``dropped_internal``."""

    verdict: str
    documentId: str
    title: str
    snippet: str
    audience: str
    revision: str | None
    chunkId: str | None
    url: str | None
    locale: str | None
    score: float | None
    freshness: str | None
    reviewDueAt: str | None
    translationGroupId: str | None


class TrialOut(Output):
    """What came of a question for this provider alone."""

    status: str
    failure: str | None
    reason: str | None
    milliseconds: int
    results: list[TrialResult]


class Removed(Output):
    """It is gone."""

    id: UUID


@providers.route(
    "GET", "/v1/knowledge/providers", action="knowledge.providers.read", access="write", answers={200: ProviderList}
)
def list_providers(call: Call[Nothing, NoQuery]) -> Answer:
    """List the registrations and how they do."""
    return Answer(ProviderList(items=[shown(one) for one in service.show_all(call.outside, call.who)]))


@providers.route(
    "POST",
    "/v1/knowledge/providers",
    action="knowledge.providers.write",
    access="write",
    body=ProviderIn,
    answers={201: ProviderWithSecret},
)
def add_provider(call: Call[ProviderIn, NoQuery]) -> Answer:
    """Register a provider; the answer has its secret, this once."""
    body = call.body
    wanted = service.Wanted(**{**body.model_dump(), "capabilities": tuple(dict.fromkeys(body.capabilities))})
    made, secret, allowance = service.create(call.outside, call.who, wanted, call.now)
    return Answer(_with_secret(made, secret), 201, allowance.headers())


@providers.route(
    "PATCH",
    "/v1/knowledge/providers/{provider_id}",
    action="knowledge.providers.write",
    access="write",
    body=ProviderPatch,
    answers={200: ProviderOut},
)
def change_provider(call: Call[ProviderPatch, NoQuery]) -> Answer:
    """Change a registration; its exposure profile can't be changed."""
    changes = call.body.model_dump(exclude_none=True, exclude={"acknowledge"})
    if "capabilities" in changes:
        changes["capabilities"] = list(dict.fromkeys(changes["capabilities"]))
    changed, allowance = service.update(
        call.outside, call.who, call.ids["provider_id"], changes, call.body.acknowledge, call.now
    )
    return Answer(shown(changed), 200, allowance.headers())


@providers.route(
    "DELETE",
    "/v1/knowledge/providers/{provider_id}",
    action="knowledge.providers.write",
    access="write",
    answers={200: Removed},
)
def remove_provider(call: Call[Nothing, NoQuery]) -> Answer:
    """Remove a registration and everything that was kept about it."""
    ident = call.ids["provider_id"]
    allowance = service.delete(call.outside, call.who, ident, call.now)
    return Answer(Removed(id=ident), 200, allowance.headers())


@providers.route(
    "POST",
    "/v1/knowledge/providers/{provider_id}/rotate-secret",
    action="knowledge.providers.write",
    access="write",
    body=RotateIn,
    answers={200: ProviderWithSecret},
)
def rotate_secret(call: Call[RotateIn, NoQuery]) -> Answer:
    """Give a registration a new secret, shown this once; the old one stays good for a while."""
    overlap = timedelta(seconds=call.body.overlap_seconds)
    rotated, secret, allowance = provider_secrets.rotate(
        call.outside, call.who, call.ids["provider_id"], overlap, call.now
    )
    return Answer(_with_secret(rotated, secret), 200, allowance.headers())


@providers.route(
    "POST",
    "/v1/knowledge/providers/{provider_id}/refresh-capabilities",
    action="knowledge.providers.write",
    access="write",
    answers={200: RefreshedOut},
)
def refresh_capabilities(call: Call[Nothing, NoQuery]) -> Answer:
    """Read what a provider declares that it can do."""
    refreshed, allowance = provider_checks.refresh_capabilities(
        call.outside, call.who, call.ids["provider_id"], call.now
    )
    shown_now = RefreshedOut(
        status=refreshed.status,
        reason=refreshed.reason,
        milliseconds=refreshed.milliseconds,
        capabilities=refreshed.provider.capabilities,
        config_generation=refreshed.provider.config_generation,
    )
    return Answer(shown_now, 200, allowance.headers())


@providers.route(
    "POST",
    "/v1/knowledge/providers/{provider_id}/test",
    action="knowledge.providers.test",
    access="write",
    body=TrialIn,
    answers={200: TrialOut},
)
def try_provider(call: Call[TrialIn, NoQuery]) -> Answer:
    """Ask one provider and show what came, with each result's verdict; nothing is counted or kept."""
    body = call.body
    question = Question(body.query, body.limit, body.locale, body.localeFallback)
    tested = provider_checks.try_out(call.outside, call.who, call.ids["provider_id"], question, call.now)
    return Answer(_tested(tested))


def shown(one: service.Shown) -> ProviderOut:
    """A registration as admins see it."""
    columns = {name: getattr(one.provider, name) for name in ProviderOut.model_fields if hasattr(one.provider, name)}
    return ProviderOut(**columns, health=[ProviderHealth.model_validate(health) for health in one.health])


def _with_secret(one: service.Shown, secret: str) -> ProviderWithSecret:
    return ProviderWithSecret(**shown(one).model_dump(), secret=secret)


def _tested(tested: Tested) -> TrialOut:
    return TrialOut(
        status=tested.status,
        failure=tested.failure,
        reason=tested.reply.reason,
        milliseconds=tested.reply.milliseconds,
        results=[_result(judged) for judged in tested.reply.judged],
    )


def _result(judged: Judged) -> TrialResult:
    return TrialResult(verdict=judged.verdict, **{**judged.result.model_dump(by_alias=True), "url": judged.url})
