"""Ask registrations: which of them may be asked now, what came, and what that means for their circuits.

Three steps, and nothing is held while the world is waited for: permits in one transaction, the asking outside of any,
what came of it in another. Whoever changes a registration or its circuits locks the registration first, and those of
several in the order of their ids, so that nobody waits in a circle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

import psycopg

from chalicelib import metrics
from chalicelib.domain.provider_circuit import LONGEST_PAUSE, Circuit, Permit, failed, let_alone, succeeded
from chalicelib.domain.provider_failure import STATUS_WORDS
from chalicelib.domain.retry import parse_retry_after
from chalicelib.fetching import ssrf
from chalicelib.fetching.address_table import PRIVATE_CLASSES
from chalicelib.keys import KeysUnusable
from chalicelib.knowledge import contract
from chalicelib.knowledge.answer import Found
from chalicelib.knowledge.broker import Clock, Question, Reply, Target, ask_all
from chalicelib.knowledge.exchange import SECONDS, Post
from chalicelib.knowledge.sealed import Sealed, unseal
from chalicelib.services.outside import Outside
from chalicelib.storage import circuits, registration
from chalicelib.storage.circuits import Lane
from chalicelib.storage.connection import Database, Transaction
from chalicelib.storage.registration import Registration
from chalicelib.telemetry import logger


@dataclass(frozen=True, slots=True)
class Consulted:
    """How one registration did: a word of spec 3.5, the time it took, and its reply if it was asked."""

    registration: Registration
    status: str
    milliseconds: int = 0
    reply: Reply | None = None

    @property
    def found(self) -> Found:
        """What it found, for the merge."""
        one = self.registration
        judged = self.reply.judged if self.reply else []
        return Found(one.id, one.name, one.priority, frozenset(one.capabilities), judged)


Kept = tuple[Registration, object]
"""What is kept of a registration's answer, still to be judged."""


class Cache(Protocol):
    """What was answered a moment ago. Only the way to agents has one."""

    def recall(self, tx: Transaction, registrations: Sequence[Registration], now: datetime) -> Sequence[Kept]:
        """What is kept of these."""

    def judged(self, kept: Sequence[Kept], now: datetime) -> dict[UUID, Reply]:
        """What today's rules make of it."""

    def keep(self, tx: Transaction, came: Sequence[tuple[Registration, Reply]]) -> None:
        """Keep answers; a failure is none."""


def consult(
    outside: Outside,
    database: Database,
    tenant_id: UUID,
    load: Callable[[Transaction], Sequence[Registration]],
    lane: Lane,
    question: Question,
    clock: Clock,
    *,
    cache: Cache | None = None,
    post: Post = ssrf.post,
) -> list[Consulted]:
    """Ask every registration that ``load`` finds and that may be asked; in order of registration.

    ``database`` bounds what can be found and changed at all. Takes ten seconds at most beside the database's time.
    What can't be counted or kept of an answer is logged and takes nothing from it.
    """
    now = clock()
    with database.transaction(tenant_id) as tx:
        registrations = load(tx)
        active = [one.id for one in registrations if one.status == "active"]
        permits = circuits.admit_all(tx, active, lane, now) if active else {}
        may_go = [one for one in registrations if one.id in permits and permits[one.id].granted]
        stored = cache.recall(tx, [one for one in may_go if permits[one.id].verdict == "go"], now) if cache else []
    kept = cache.judged(stored, now) if cache else {}
    asked = [one for one in may_go if one.id not in kept]
    targets = [target for one in asked if (target := _target(outside, one, now)) is not None]
    came = {reply.target: reply for reply in ask_all(targets, question, post=post, clock=clock)}
    outside.meter.emit(*metrics.refusals(reply.reason for reply in came.values()))
    answered = [(one, came[one.id]) for one in sorted(asked, key=lambda one: one.id) if one.id in came]
    if answered:
        with _beside_the_answer("counted"):
            with database.transaction(tenant_id) as tx:
                disabled = _settle(tx, lane, permits, answered)
            if disabled:  # the way to customers has no right to what is kept for agents
                with outside.database.transaction(tenant_id) as tx:
                    registration.forget_answers(tx, disabled)
    if answered and cache:
        with _beside_the_answer("kept"), database.transaction(tenant_id) as tx:
            cache.keep(tx, answered)
    replies = kept | came
    return [_consulted(one, permits.get(one.id), replies.get(one.id)) for one in registrations]


def policy_of(outside: Outside, one: Registration) -> ssrf.FetchPolicy:
    """Where this registration may lead: the deployment's own bounds, and private networks if it was opened to them.

    Plain HTTP and loopback need the deployment's development switch (spec 3.2).
    """
    return replace(
        outside.fetch_policy,
        https_only=not outside.fetch_policy.allow_private_networks,
        exempt=PRIVATE_CLASSES if one.allow_private_network else frozenset(),
        timeout_seconds=SECONDS,
        max_body_bytes=contract.MAX_RESPONSE_BYTES,
    )


def target_of(outside: Outside, one: Registration, now: datetime) -> Target:
    """The registration, ready to be asked. Raises KeysUnusable if its secret can't be opened."""
    return Target(
        id=one.id,
        base_url=one.base_url,
        keys=tuple(unseal(outside.keys, one.id, Sealed(*sealed)) for sealed in one.secrets_at(now)),
        policy=policy_of(outside, one),
        capabilities=frozenset(one.capabilities),
        keeps_internal=one.keeps_internal,
        wants_conversation=one.send_conversation_id,
    )


def _target(outside: Outside, one: Registration, now: datetime) -> Target | None:
    try:
        return target_of(outside, one, now)
    except KeysUnusable:
        logger.error("a provider's secret can't be opened", provider_id=str(one.id))
        return None


@contextmanager
def _beside_the_answer(what: str) -> Iterator[None]:
    """What is done for later requests; this one's answer is there without it."""
    try:
        yield
    except psycopg.Error as error:
        logger.error(f"what providers answered could not be {what}", error=type(error).__name__)


def _settle(
    tx: Transaction, lane: Lane, permits: Mapping[UUID, Permit], came: Sequence[tuple[Registration, Reply]]
) -> list[UUID]:
    """Record what came, in the order of ``came``; the registrations that were disabled for it.

    What was asked under a configuration that is gone says nothing of the one that counts now.
    """
    touched = [one.id for one, reply in came if reply.failure is not None or reply.dropped or _probed(permits[one.id])]
    generations = registration.lock(tx, touched)
    disabled = []
    for one, reply in came:
        permit = permits[one.id]
        if one.id in touched and generations.get(one.id) != one.config_generation:
            continue
        if reply.failure is None and not _probed(permit):
            circuits.mend(tx, one.id, lane, permit, one.config_generation)
        elif _stops(tx, lane, permit, reply):
            logger.error("a provider was disabled", provider_id=str(one.id))
            registration.auto_disable(tx, one.id, reply.at)
            disabled.append(one.id)
        if reply.dropped:
            logger.warning("a provider sent results that its registration may not hold", provider_id=str(one.id))
            registration.warn(tx, one.id, reply.dropped, reply.at)
    return disabled


def _probed(permit: Permit) -> bool:
    return permit.verdict == "probe"


def _stops(tx: Transaction, lane: Lane, permit: Permit, reply: Reply) -> bool:
    """Count a reply; whether the provider is not to be asked any more. What pages cause never comes to that."""
    asked_for = parse_retry_after(reply.retry_after, now=reply.at)

    def transition(circuit: Circuit) -> Circuit:
        if reply.failure is None:
            return succeeded(circuit, permit)
        return failed(circuit, permit, reply.failure, reply.at, asked_for)

    failure = None if reply.failure is None else reply.failure.value
    before, after = circuits.change(
        tx, reply.target, lane, transition, failure=failure, reason=reply.reason, now=reply.at
    )
    if asked_for and after != before:
        _let_alone(tx, reply, lane, asked_for)
    if failure:
        logger.warning(
            "a provider failed", provider_id=str(reply.target), lane=lane, failure=failure, reason=reply.reason
        )
    return after.stopped and not before.stopped and lane == "main"


def _let_alone(tx: Transaction, reply: Reply, lane: Lane, asked_for: timedelta) -> None:
    """The provider asked for peace, and gets it on the other lane too, where nothing is counted."""
    other: Lane = "widget" if lane == "main" else "main"
    wait = asked_for if other == "widget" else min(asked_for, LONGEST_PAUSE)  # pages keep agents away no longer

    def transition(circuit: Circuit) -> Circuit:
        return let_alone(circuit, reply.at + wait)

    circuits.change(tx, reply.target, other, transition, failure=None, reason=None, now=reply.at)


def _consulted(one: Registration, permit: Permit | None, reply: Reply | None) -> Consulted:
    if reply is not None:
        status = "ok" if reply.failure is None else STATUS_WORDS[reply.failure]
        return Consulted(one, status, reply.milliseconds, reply)
    if permit is None or permit.verdict == "stopped":
        return Consulted(one, "disabled")
    return Consulted(one, "circuit_open" if permit.verdict == "wait" else "config_error")
