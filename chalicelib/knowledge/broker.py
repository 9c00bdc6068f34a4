"""Ask many providers at once and wait for none longer than its time (spec 3.4).

A thread a provider, no database connection in any. What can't be cancelled, such as a name server that never answers,
is left behind in its daemon thread when the time is up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from queue import Empty, SimpleQueue
from threading import Thread
from uuid import UUID

from chalicelib.domain.provider_failure import FailureClass
from chalicelib.fetching.ssrf import FetchPolicy
from chalicelib.knowledge import contract, labels, signing
from chalicelib.knowledge.contract import Context, RetrieveRequest
from chalicelib.knowledge.exchange import SECONDS, Post, ProviderFailure, retrieve
from chalicelib.knowledge.labels import Judged

Clock = Callable[[], datetime]
"""Read before and after the world was waited for: a wait that a provider asked for counts from its answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a caller asks. ``conversation_id`` goes only where it is wanted."""

    query: str = field(repr=False)
    limit: int = contract.DEFAULT_LIMIT
    locale: str | None = None
    locale_fallback: bool | None = None
    conversation_id: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Target:
    """A registration as far as asking it goes. ``keys`` are its secrets that count now, the newest first."""

    id: UUID
    base_url: str
    keys: tuple[str, ...] = field(repr=False)
    policy: FetchPolicy
    capabilities: frozenset[str]
    keeps_internal: bool = False
    wants_conversation: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of asking one provider: its results with their verdicts, or the class and reason of its failure.

    ``at`` is when it came, or when it was no longer waited for.
    """

    target: UUID
    milliseconds: int
    at: datetime
    judged: list[Judged] = field(default_factory=list)
    failure: FailureClass | None = None
    reason: str | None = None
    retry_after: str | None = None

    @property
    def dropped(self) -> int:
        """How many results a label took out: a sign that the provider is set up wrongly."""
        return sum(not one.kept for one in self.judged)


def request_for(target: Target, question: Question) -> RetrieveRequest:
    """What goes out to this provider: a field only where the provider declares it or the registration asks for it."""
    locale = question.locale if "locale" in target.capabilities else None
    fallback = question.locale_fallback if "localeFallback" in target.capabilities else None
    context = None
    if target.wants_conversation and question.conversation_id is not None:
        context = Context.model_construct(conversation_id=question.conversation_id)
    return RetrieveRequest.model_construct(
        query=question.query, limit=question.limit, locale=locale, locale_fallback=fallback, context=context
    )


def ask(target: Target, question: Question, *, post: Post, clock: Clock, seconds: float = SECONDS) -> Reply:
    """Ask one provider, in this thread. Never raises for anything that the provider does."""
    start = time.monotonic()
    body = request_for(target, question).body()
    signed = signing.headers(target.keys, body, timestamp=int(clock().timestamp()), nonce=signing.new_nonce())
    try:
        answer = retrieve(target.base_url, body, signed, target.policy, post, seconds=seconds)
        results = contract.parse_response(answer.body, answer.headers.get("content-type"), limit=question.limit)
    except ProviderFailure as error:
        return Reply(target.id, _since(start), clock(), [], error.failure, error.reason, error.retry_after)
    except contract.ContractFailure as error:
        return Reply(target.id, _since(start), clock(), failure=FailureClass.CONTRACT, reason=str(error))
    return Reply(target.id, _since(start), clock(), labels.judge(results, keeps_internal=target.keeps_internal))


def ask_all(
    targets: Sequence[Target], question: Question, *, post: Post, clock: Clock, seconds: float = SECONDS
) -> list[Reply]:
    """Ask all at once; one reply each, in the order of ``targets``, after ``seconds`` at the latest."""
    start = time.monotonic()
    arrived: SimpleQueue[Reply] = SimpleQueue()

    def asking(target: Target) -> Callable[[], None]:
        return lambda: arrived.put(ask(target, question, post=post, clock=clock, seconds=seconds))

    for target in targets:
        Thread(target=asking(target), daemon=True).start()
    replies: dict[UUID, Reply] = {}
    try:
        while len(replies) < len(targets):
            reply = arrived.get(timeout=max(0.0, seconds - (time.monotonic() - start)))
            replies[reply.target] = reply
    except Empty:
        pass
    late = {
        target.id: Reply(target.id, _since(start), clock(), failure=FailureClass.TRANSIENT, reason="timeout")
        for target in targets
        if target.id not in replies
    }
    return [(late | replies)[target.id] for target in targets]


def _since(start: float) -> int:
    return round((time.monotonic() - start) * 1000)
