"""How an attempt to refresh a source ended: the closed list that is stored as ``last_status`` and shown to the tenant.

The word is all that a tenant learns; the exact reason (which address, which header) stays in the operator's log
(spec 1.3).

=====================  =================================================================================================
Word                   What it tells the tenant
=====================  =================================================================================================
``new_version``        The page said something new; it is the current version now.
``unchanged``          Checked, and it still says the same: 304, or a 200 whose text is equal.
``refused``            The guard does not go there: scheme, port, domain, address or redirect is not permitted.
``unreachable``        No usable answer: name, connection, TLS, broken framing, a body cut short, an unasked 304.
``timeout``            The exchange did not end within its time, or the server said 408.
``http_403``           The server wants a login or forbids the page (401, 403, 407).
``http_404``           The page is not there (404, 410).
``http_429``           The server asks for fewer requests.
``http_5xx``           The server failed (500 and above).
``http_4xx``           The server refused the request in any other way (402, 406, 451, ...).
``unsupported_type``   The answer is of a type that is not read: an image, an archive, a video.
``too_large``          The body, or the number of its chunks, is over the limit.
``damaged_text``       The body is no valid text: wrong encoding, control characters, text decoded twice.
``empty``              The page has no readable text.
``mostly_secret``      More than half of the text is credentials; nothing of it is kept.
``quarantined``        The text matches a deny pattern of the tenant and waits in quarantine.
``needs_review``       The text looks doubtful (shrunk, a login page, a challenge); it is kept aside for a person.
``embedding_failed``   The text was good, embedding it failed; the old version stays whole.
``skipped_inactive``   The source had been switched off before its turn came; nothing was fetched.
``internal_error``     A fault of ours.
=====================  =================================================================================================

Whatever the word, the current version stays current unless it is ``new_version`` (spec 1.1).
"""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """One word for each way in which an attempt can end; the table is in the docstring of the module."""

    NEW_VERSION = "new_version"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    HTTP_403 = "http_403"
    HTTP_404 = "http_404"
    HTTP_429 = "http_429"
    HTTP_5XX = "http_5xx"
    HTTP_4XX = "http_4xx"
    UNSUPPORTED_TYPE = "unsupported_type"
    TOO_LARGE = "too_large"
    DAMAGED_TEXT = "damaged_text"
    EMPTY = "empty"
    MOSTLY_SECRET = "mostly_secret"
    QUARANTINED = "quarantined"
    NEEDS_REVIEW = "needs_review"
    EMBEDDING_FAILED = "embedding_failed"
    SKIPPED_INACTIVE = "skipped_inactive"
    INTERNAL_ERROR = "internal_error"

    @property
    def is_success(self) -> bool:
        """The source was checked: ``last_checked_at`` and the validators move (spec 1.7)."""
        return self in (Outcome.NEW_VERSION, Outcome.UNCHANGED)

    @property
    def is_failure(self) -> bool:
        """The attempt failed and says so as the reason of the next suggestion.

        Neither success nor failure: ``skipped_inactive`` (nothing was tried) and ``needs_review`` (a person decides).
        """
        return not self.is_success and self not in (Outcome.SKIPPED_INACTIVE, Outcome.NEEDS_REVIEW)

    @property
    def is_gone(self) -> bool:
        """The server says that the page does not exist; the third in a row suggests to give the source up."""
        return self is Outcome.HTTP_404
