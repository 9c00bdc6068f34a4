"""Routes of what is suggested and of what is under way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chalicelib.client import answers
from chalicelib.client.routes import Routes, every, segment


class WorkRoutes(Routes):
    """Suggestions and events."""

    def list_suggestions(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> answers.Page[answers.Suggestion]:
        """One page of open ones, oldest first; asking brings them up to date."""
        return self._get(answers.Page[answers.Suggestion], "/v1/kb/suggestions", {"limit": limit, "cursor": cursor})

    def iter_suggestions(self) -> Iterator[answers.Suggestion]:
        """Every open suggestion, oldest first."""
        return every(self.list_suggestions)

    def show_review(self, suggestion_id: str, *, role: str | None = None, purpose: str | None = None) -> answers.Review:
        """The text that was kept aside and what it would change, before you approve a ``review_change``."""
        path = f"/v1/kb/suggestions/{segment(suggestion_id)}/review"
        return self._get(answers.Review, path, {"role": role, "purpose": purpose}, as_admin=True)

    def approve_suggestion(self, suggestion_id: str) -> answers.Approved:
        """Do what it proposes; a refresh is scheduled, not run."""
        return self._change(answers.Approved, f"/v1/kb/suggestions/{segment(suggestion_id)}/approve")

    def approve_suggestions(self, ids: Sequence[str] | None = None) -> answers.Results[answers.BulkResult]:
        """Approve these, or all open ones (None), each with its own result."""
        which = {"all": True} if ids is None else {"ids": list(ids)}
        return self._change(answers.Results[answers.BulkResult], "/v1/kb/suggestions/approve", which)

    def snooze_suggestion(self, suggestion_id: str, days: int) -> answers.Suggestion:
        """Put it off for 1 to 365 days."""
        return self._change(answers.Suggestion, f"/v1/kb/suggestions/{segment(suggestion_id)}/snooze", {"days": days})

    def dismiss_suggestion(self, suggestion_id: str) -> answers.Suggestion:
        """Close it until the source was checked again or one more TTL has passed."""
        return self._change(answers.Suggestion, f"/v1/kb/suggestions/{segment(suggestion_id)}/dismiss")

    def list_events(
        self,
        *,
        state: str | None = None,
        source_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> answers.Page[answers.Event]:
        """One page, newest first."""
        query = {"state": state, "source_id": source_id, "limit": limit, "cursor": cursor}
        return self._get(answers.Page[answers.Event], "/v1/kb/events", query)

    def iter_events(self, *, state: str | None = None, source_id: str | None = None) -> Iterator[answers.Event]:
        """Every event, newest first."""
        return every(self.list_events, state=state, source_id=source_id)

    def cancel_event(self, event_id: str) -> answers.Event:
        """Cancel an event that is not finished."""
        return self._change(answers.Event, f"/v1/kb/events/{segment(event_id)}/cancel")
