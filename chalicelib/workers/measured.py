"""What one refresh is measured by: how long it waited for the site and for the model, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from chalicelib import metrics
from chalicelib.domain.outcome import Outcome
from chalicelib.embedding.model import Embedder
from chalicelib.fetching.ssrf import FetchResult, Validators
from chalicelib.metrics import Sample
from chalicelib.services.outside import Outside
from chalicelib.services.refresh import Changed, Failed, Gathered
from chalicelib.tracing import Tracer


class Stopwatch:
    """Milliseconds that were spent on one thing in all, or None if it never came to it."""

    def __init__(self, tracer: Tracer, name: str) -> None:
        self._tracer, self._name = tracer, name
        self.milliseconds: float | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """While this lasts, it runs."""
        begin = time.perf_counter()
        try:
            with self._tracer.span(self._name):
                yield
        finally:
            self.milliseconds = (self.milliseconds or 0.0) + (time.perf_counter() - begin) * 1000


class Measured:
    """Larder's surroundings for one refresh, with a stopwatch at the site and at the model."""

    def __init__(self, outside: Outside) -> None:
        self._fetch, self._fetching = outside.fetch, Stopwatch(outside.tracer, "fetch")
        self._embedder = _MeasuredEmbedder(outside.embedder, Stopwatch(outside.tracer, "embed"))
        self.outside = replace(outside, fetch=self._timed_fetch, embedder=self._embedder)

    def _timed_fetch(self, url: str, *, validators: Validators | None, no_cache: bool) -> FetchResult:
        with self._fetching.running():
            return self._fetch(url, validators=validators, no_cache=no_cache)

    def samples(self, gathered: Gathered, result: str) -> Iterator[Sample]:
        """All that there is to tell once it ended with ``result``."""
        yield metrics.REFRESHES.of(1, result)
        yield from metrics.refusals([gathered.cause] if isinstance(gathered, Failed) else [])
        yield metrics.VERSIONS_WRITTEN.of(result == Outcome.NEW_VERSION)
        if isinstance(gathered, Changed):
            yield metrics.CHUNKS_EMBEDDED.of(self._embedder.embedded)
            yield metrics.CHUNKS_REUSED.of(gathered.version["chunk_count"] - self._embedder.embedded)
        if self._fetching.milliseconds is not None:
            yield metrics.FETCH_TIME.of(self._fetching.milliseconds)
        if self._embedder.watch.milliseconds is not None:
            yield metrics.EMBED_TIME.of(self._embedder.watch.milliseconds)


class _MeasuredEmbedder:
    def __init__(self, embedder: Embedder, watch: Stopwatch) -> None:
        self._embedder, self.watch, self.embedded = embedder, watch, 0

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        with self.watch.running():
            vectors = self._embedder.embed(texts)
        self.embedded += len(texts)
        return vectors

    def fits(self, text: str) -> bool:
        return self._embedder.fits(text)
