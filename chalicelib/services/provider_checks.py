"""Asking one provider for its admin: what it declares, and what it answers. Neither touches its circuits or a cache."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chalicelib.domain.provider_failure import STATUS_WORDS, FailureClass
from chalicelib.errors import Conflict, Unavailable
from chalicelib.fetching import ssrf
from chalicelib.keys import KeysUnusable
from chalicelib.knowledge.broker import Question, Reply, ask_all
from chalicelib.knowledge.exchange import Post, ProviderFailure, read_capabilities
from chalicelib.services import consult, quotas
from chalicelib.services.outside import Outside
from chalicelib.services.policies import audit
from chalicelib.services.providers import CHANGEABLE, require, write
from chalicelib.services.quotas import Allowance
from chalicelib.services.tokens import Principal
from chalicelib.storage.providers import Provider


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What came of reading the capabilities: a status word of spec 3.5, the reason of a failure, and the provider."""

    status: str
    reason: str | None
    milliseconds: int
    provider: Provider


@dataclass(frozen=True, slots=True)
class Tested:
    """What came of a synthetic question."""

    status: str
    failure: FailureClass | None
    reply: Reply


def refresh_capabilities(outside: Outside, who: Principal, ident: UUID, now: datetime) -> tuple[Refreshed, Allowance]:
    """Read ``GET {base_url}/capabilities`` and keep what it says. A provider that fails keeps what it had.

    Raises NotFound, RateLimited, and Conflict where the registration was changed meanwhile: what answered is then no
    longer what counts.
    """
    with quotas.mutation(outside, who, now) as (tx, allowance):
        provider = require(tx, ident)
    start = time.monotonic()
    try:
        declared = read_capabilities(provider.base_url, consult.policy_of(outside, provider.registration))
    except ProviderFailure as error:
        return Refreshed(STATUS_WORDS[error.failure], error.reason, _since(start), provider), allowance
    elapsed = _since(start)
    with outside.database.transaction(who.tenant_id) as tx:
        before = require(tx, ident, lock=True)
        if before.config_generation != provider.config_generation:
            raise Conflict("the registration was changed while its provider was asked", code="provider_changed")
        wanted = {name: getattr(before, name) for name in CHANGEABLE} | {"capabilities": declared}
        changed = sorted(before.capabilities) != sorted(declared)
        after = write(tx, before, wanted, now, begins_anew=changed) if changed else before
        if changed:
            told = {"capabilities": before.capabilities}, {"capabilities": after.capabilities}
            audit(tx, who, "provider.capabilities", str(ident), *told, now)
        return Refreshed("ok", None, elapsed, after), allowance


def try_out(
    outside: Outside, who: Principal, ident: UUID, question: Question, now: datetime, *, post: Post = ssrf.post
) -> Tested:
    """Ask this registration alone, whatever its status and circuit. Changes nothing, so it is no mutation.

    Raises NotFound, Unavailable.
    """
    with outside.database.transaction(who.tenant_id) as tx:
        provider = require(tx, ident)
    try:
        target = consult.target_of(outside, provider.registration, now)
    except KeysUnusable as error:
        raise Unavailable("the provider's secret can't be opened") from error
    (reply,) = ask_all([target], question, post=post, clock=lambda: now)
    status = "ok" if reply.failure is None else STATUS_WORDS[reply.failure]
    return Tested(status, reply.failure, reply)


def _since(start: float) -> int:
    return round((time.monotonic() - start) * 1000)
