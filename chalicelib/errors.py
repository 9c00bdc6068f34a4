"""The error tree.

LarderError
├── SettingsError            faults in the environment, all of them at once
├── Problem                  an answer to a caller: status, code, title, extra fields (RFC 9457)
│   ├── BadRequest           400 invalid_request
│   ├── Unauthorized         401 unauthorized
│   ├── Forbidden            403 admin_token_required, forbidden
│   ├── NotFound             404 not_found
│   ├── Conflict             409 kb_disabled, suggestion_not_open, …
│   ├── PreconditionFailed   412 precondition_failed
│   ├── PayloadTooLarge      413 payload_too_large
│   ├── AnswerTooLarge       422 answer_too_large
│   ├── Invalid              422 invalid_field
│   ├── QuotaExceeded        402 quota_exceeded
│   ├── RateLimited          429 rate_limited
│   └── Unavailable          503 unavailable
├── FetchError               the guard refused or the exchange failed (fetching/ssrf.py)
└── ExtractionError          a body that gives no text to keep (fetching/extract.py)
"""

from __future__ import annotations

from typing import Any


class LarderError(Exception):
    """Root of everything that Larder raises on purpose."""


class SettingsError(LarderError):
    """The environment is not usable; the message lists every fault, one a line."""


class Problem(LarderError):
    """An error that is shown to the caller as ``application/problem+json`` (RFC 9457).

    ``detail`` must be fit for the caller's eyes: no address, no SQL, no secret.
    ``extra`` are the problem's extension members; ``headers`` go out with the answer.
    """

    status = 500
    code = "internal_error"
    title = "Internal error"

    def __init__(
        self, detail: str = "", *, code: str | None = None, headers: dict[str, str] | None = None, **extra: Any
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        if code is not None:
            self.code = code
        self.headers = headers or {}
        self.extra = extra


class BadRequest(Problem):
    """The request can't be read: JSON that isn't any, a body of the wrong kind."""

    status, code, title = 400, "invalid_request", "Bad request"


class Unauthorized(Problem):
    """No valid API token."""

    status, code, title = 401, "unauthorized", "Unauthorized"


class Forbidden(Problem):
    """The token is valid and may not do this."""

    status, code, title = 403, "forbidden", "Forbidden"


class NotFound(Problem):
    """Not there, or not this tenant's: the two look the same."""

    status, code, title = 404, "not_found", "Not found"


class Conflict(Problem):
    """The thing is in a state in which this can't be done."""

    status, code, title = 409, "conflict", "Conflict"


class PreconditionFailed(Problem):
    """What ``If-Match`` names is no longer what is stored (RFC 9110, 13.1.1)."""

    status, code, title = 412, "precondition_failed", "Precondition failed"


class PayloadTooLarge(Problem):
    """The body is longer than the route takes."""

    status, code, title = 413, "payload_too_large", "Payload too large"


class AnswerTooLarge(Problem):
    """What was asked for is more than one answer can carry."""

    status, code, title = 422, "answer_too_large", "Answer too large"


class Invalid(Problem):
    """A value breaks a rule; ``field`` names it."""

    status, code, title = 422, "invalid_field", "Unprocessable content"


class QuotaExceeded(Problem):
    """The plan's hard limit is reached."""

    status, code, title = 402, "quota_exceeded", "Quota exceeded"


class RateLimited(Problem):
    """Too many mutations in the window; ``Retry-After`` says when to come back."""

    status, code, title = 429, "rate_limited", "Too many requests"


class Unavailable(Problem):
    """Something that Larder needs does not answer."""

    status, code, title = 503, "unavailable", "Service unavailable"
