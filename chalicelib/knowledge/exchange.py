"""One exchange with one provider, and what came of it (spec 3.4). Nothing is retried: a retry doubles the wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from chalicelib.domain.provider_failure import FailureClass, of_status
from chalicelib.errors import LarderError
from chalicelib.fetching import ssrf
from chalicelib.fetching.errors import FetchError, Reason
from chalicelib.fetching.ssrf import FetchPolicy, PostResult
from chalicelib.knowledge import contract

SECONDS = 10.0
"""What a provider has, DNS and TLS included."""


class Post(Protocol):
    """The guard's POST mode, `ssrf.post`; a test hands in one with another resolver and connector."""

    def __call__(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        policy: FetchPolicy,
        *,
        timeout_seconds: float,
        max_body_bytes: int,
    ) -> PostResult: ...


class ProviderFailure(LarderError):
    """No answer that can be used. ``str()`` is the reason for the operator: a word, a status, a rule of the contract.

    ``retry_after`` is the raw header of a 429 or 503.
    """

    def __init__(self, failure: FailureClass, reason: str, retry_after: str | None = None) -> None:
        super().__init__(reason)
        self.failure, self.reason, self.retry_after = failure, reason, retry_after


def retrieve(
    base_url: str, body: bytes, headers: Mapping[str, str], policy: FetchPolicy, post: Post, *, seconds: float
) -> PostResult:
    """POST a question. Returns an answer of status 200, still unread; raises ProviderFailure for everything else."""
    content = {"Content-Type": contract.CONTENT_TYPE, "Accept": "application/json"}
    try:
        answer = post(
            f"{base_url}/retrieve",
            body,
            content | dict(headers),
            policy,
            timeout_seconds=seconds,
            max_body_bytes=contract.MAX_RESPONSE_BYTES,
        )
    except FetchError as error:
        raise _failure_of(error) from None
    failure = of_status(answer.status)
    if failure is not None:
        asked_to_wait = answer.headers.get("retry-after") if answer.status in (429, 503) else None
        raise ProviderFailure(failure, f"http_{answer.status}", asked_to_wait)
    return answer


def read_capabilities(base_url: str, policy: FetchPolicy) -> list[str]:
    """``GET {base_url}/capabilities``: the words that this version knows. Raises ProviderFailure.

    The request is not signed: it asks nothing that is a secret.
    """
    try:
        answer = ssrf.fetch(f"{base_url}/capabilities", replace(policy, max_redirects=0))
    except FetchError as error:
        raise _failure_of(error) from None
    try:
        return contract.parse_capabilities(answer.body, answer.headers.get("content-type")).known
    except contract.ContractFailure as error:
        raise ProviderFailure(FailureClass.CONTRACT, str(error)) from None


_TRANSIENT = {Reason.DNS, Reason.CONNECT, Reason.TLS, Reason.CONNECTION_LOST, Reason.TRUNCATED, Reason.TIMEOUT}


def _failure_of(error: FetchError) -> ProviderFailure:
    """The class of a failed exchange. A status that came before the failure says more than the failure."""
    failure = of_status(error.status_code) if error.status_code is not None else None
    if failure is None:
        refused = error.reason.status == "refused" or error.reason is Reason.CERTIFICATE
        failure = (
            FailureClass.CONFIGURATION
            if refused
            else FailureClass.TRANSIENT
            if error.reason in _TRANSIENT
            else FailureClass.CONTRACT
        )
    return ProviderFailure(failure, error.reason.value, error.retry_after)
