"""A web of one's own for tests of the worker: what each URL answers, and what was asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from chalicelib.fetching import ssrf
from chalicelib.fetching.errors import FetchError, Reason
from tests.tenants import result

Answer = ssrf.FetchResult | FetchError


@dataclass
class Web:
    """Answers by URL; each request is kept with its validators."""

    pages: dict[str, Answer] = field(default_factory=dict)
    requests: list[tuple[str, ssrf.Validators | None]] = field(default_factory=list)

    def __call__(self, url: str, *, validators: ssrf.Validators | None, no_cache: bool) -> ssrf.FetchResult:
        self.requests.append((url, validators))
        answer = self.pages[url]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def page(self, url: str, text: str, **headers: str) -> None:
        body = "".join(f"<p>{paragraph}</p>" for paragraph in text.split("\n"))
        self.pages[url] = result(url, f"<title>T</title>{body}".encode(), **headers)

    def not_modified(self, url: str, **headers: str) -> None:
        self.pages[url] = result(url, b"", status=304, **headers)

    def fails(self, url: str, reason: Reason, *, retry_after: str | None = None) -> None:
        self.pages[url] = FetchError(reason, retry_after=retry_after)
