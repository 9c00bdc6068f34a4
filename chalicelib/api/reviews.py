"""``/v1/kb/suggestions/{id}/review``: what a person reads before approving a ``review_change``."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from chalicelib.api import fields
from chalicelib.api.history import HunkOut
from chalicelib.api.reading import reading_of
from chalicelib.api.resource import Answer, Call, Nothing, Output, Query, Resource
from chalicelib.services import reviews as service

reviews = Resource("reviews")


class ReviewQuery(Query):
    """As whom and what for."""

    role: fields.Name | None = None
    purpose: fields.Purpose | None = None


class ReviewOut(Output):
    """The text kept aside, and what lies between the current version and it.

    Approving publishes exactly that text. ``base_version`` was current when it was kept; if ``current_version`` is
    another by now, approving publishes nothing. ``withheld`` chunks of it are a placeholder.
    """

    suggestion_id: UUID
    source_id: UUID
    state: str
    reason: str
    base_version: int | None
    current_version: int | None
    fetched_at: datetime
    final_url: str
    title: str | None
    language: str | None
    description: str | None
    invisible_removed: int
    secrets_redacted: int
    text: str
    withheld: int
    policy_warnings: list[str]
    inserted: int
    deleted: int
    coarse: bool
    hunks: list[HunkOut]
    unified: str


@reviews.route(
    "GET",
    "/v1/kb/suggestions/{suggestion_id}/review",
    action="kb.suggestions.review",
    access="write",
    query=ReviewQuery,
    answers={200: ReviewOut},
)
def show_review(call: Call[Nothing, ReviewQuery]) -> Answer:
    """Show the doubtful text that a suggestion asks about, and what it would change."""
    reading = reading_of(call, call.query.role, call.query.purpose)
    found = service.show(call.outside, call.who, reading, call.ids["suggestion_id"], call.now)
    held, difference = found.held, found.difference
    current = found.current.version.version if found.current else None
    return Answer(
        ReviewOut(
            suggestion_id=found.suggestion.id,
            source_id=held.source_id,
            state=found.suggestion.state,
            reason=held.reason,
            base_version=held.base_version,
            current_version=current,
            fetched_at=held.fetched_at,
            final_url=held.final_url,
            title=held.title,
            language=held.language,
            description=held.description,
            invisible_removed=held.invisible_removed,
            secrets_redacted=held.secrets_redacted,
            text=held.text,
            withheld=found.withheld,
            policy_warnings=found.warnings,
            inserted=difference.inserted,
            deleted=difference.deleted,
            coarse=difference.coarse,
            hunks=[HunkOut.model_validate(hunk) for hunk in difference.hunks],
            unified=difference.unified(f"version {current}" if current else "nothing", "for review"),
        )
    )
