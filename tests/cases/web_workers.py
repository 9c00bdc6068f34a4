"""Workers that stop where a case wants them to: between fetch and write, killed at a point, one beside the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from chalicelib.fetching import ssrf
from chalicelib.services.outside import Outside
from chalicelib.storage.connection import Database, Transaction
from chalicelib.workers import refresh as worker
from tests.cases.web_stage import Stage
from tests.integration.cycle import die, killed

PHASES = ("leased", "fetched", "embedded", "done")
_PATIENCE_SECONDS = 20.0


class _Killed(BaseException):
    """The worker is gone: no handler of ours runs, as after SIGKILL."""


class Worker:
    """One delivery of one event, in a thread, that goes as far as it is told.

    ``leased``: the event is its own and nothing was asked of the site; ``fetched``: the answer is there; ``embedded``:
    what was new is embedded and nothing is written; ``done``.
    """

    def __init__(self, stage: Stage, event_id: UUID, before_fetch: Any = None) -> None:
        self.result: str | None = None
        self.error: BaseException | None = None
        self._stage, self._before_fetch = stage, before_fetch
        self._reached, self._goal, self._is_killed = -1, -1, False
        self._moved = threading.Condition()
        self._outside = stage.worker(fetch=self._fetch, embedder=_Embedder(stage.deployment.embedder, self))
        self._thread = threading.Thread(target=self._run, args=(event_id,), daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether it ended, one way or the other."""
        return not self._thread.is_alive()

    def go(self, phase: str) -> None:
        """Let it work until it is there, or has ended on the way."""
        wanted = PHASES.index(phase)
        with self._moved:
            self._goal = max(self._goal, wanted)
            self._moved.notify_all()
            self._moved.wait_for(lambda: self._reached >= wanted, timeout=_PATIENCE_SECONDS)
        if phase == "done":
            self._thread.join(_PATIENCE_SECONDS)

    def kill(self) -> None:
        """It is gone where it stands; its lease stays."""
        with self._moved:
            self._is_killed = True
            self._moved.notify_all()
        self._thread.join(_PATIENCE_SECONDS)

    def stop_at(self, phase: str) -> None:
        """Wait there until the case goes on."""
        place = PHASES.index(phase)
        with self._moved:
            self._reached = max(self._reached, place)
            self._moved.notify_all()
            self._moved.wait_for(lambda: self._goal > place or self._is_killed, timeout=_PATIENCE_SECONDS)
            if self._is_killed:
                raise _Killed

    def _run(self, event_id: UUID) -> None:
        try:
            self.result = worker.run(self._outside, event_id, clock=lambda: self._stage.now)
        except (Exception, _Killed) as error:
            self.error = error
        finally:
            self._outside.database.close()
            with self._moved:
                self._reached = PHASES.index("done")
                self._moved.notify_all()

    def _fetch(self, url: str, *, validators: ssrf.Validators | None, no_cache: bool) -> ssrf.FetchResult:
        self.stop_at("leased")
        if self._before_fetch:
            self._before_fetch()
        page = self._stage.site.fetch(url, validators=validators, no_cache=no_cache)
        self.stop_at("fetched")
        return page


class _Embedder:
    """The stage's embedder, with a stop behind it."""

    def __init__(self, embedder: Any, stopping: Worker) -> None:
        self._embedder, self._stopping = embedder, stopping
        self.model_id, self.dimension, self.fits = embedder.model_id, embedder.dimension, embedder.fits

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed(texts)
        self._stopping.stop_at("embedded")
        return vectors


class DyingIn(Database):
    """Kills its process in a transaction that has run the statement ``name`` and has not committed."""

    def __init__(self, url: str, name: str) -> None:
        super().__init__(url)
        self._name = name

    @contextmanager
    def transaction(self, tenant_id: UUID | None = None) -> Iterator[Transaction]:
        with super().transaction(tenant_id) as tx:
            yield _DyingTransaction(tx._connection, self._name)


class _DyingTransaction(Transaction):
    def __init__(self, connection: Any, name: str) -> None:
        super().__init__(connection)
        self._name = name

    def value(self, name: str, /, **params: Any) -> Any:
        found = super().value(name, **params)
        if name == self._name:
            die()
        return found


class FailingIn(Database):
    """Raises what a lost connection raises when one of the statements is to run."""

    def __init__(self, url: str, *names: str) -> None:
        super().__init__(url)
        self._names = names

    @contextmanager
    def transaction(self, tenant_id: UUID | None = None) -> Iterator[Transaction]:
        with super().transaction(tenant_id) as tx:
            yield _FailingTransaction(tx._connection, self._names)


class _FailingTransaction(Transaction):
    def __init__(self, connection: Any, names: tuple[str, ...]) -> None:
        super().__init__(connection)
        self._names = names

    def value(self, name: str, /, **params: Any) -> Any:
        if name in self._names:
            raise ConnectionError("the database went away")
        return super().value(name, **params)


class FailingEmbedder:
    """Fails at the text number ``at`` (counted from 1)."""

    def __init__(self, embedder: Any, at: int) -> None:
        self._embedder, self._at, self._count = embedder, at, 0
        self.model_id, self.dimension, self.fits = embedder.model_id, embedder.dimension, embedder.fits

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        from chalicelib.embedding.model import EmbeddingFailed

        self._count += len(texts)
        if self._count >= self._at:
            raise EmbeddingFailed("the model went away")
        vectors: list[list[float]] = self._embedder.embed(texts)
        return vectors


def run_killed(outside: Outside, stage: Stage, event_id: UUID) -> bool:
    """Do the event in a forked process; whether it was killed on the way."""
    return killed(lambda: worker.run(outside, event_id, clock=lambda: stage.now))


def dying(*args: Any, **kwargs: Any) -> Any:
    """Stands for a fetch or an embedding that its process does not survive."""
    die()
