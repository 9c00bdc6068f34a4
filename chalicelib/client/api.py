"""Every route of Larder as a method; the names are the operation ids of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast
from urllib.parse import quote

from chalicelib.client import answers
from chalicelib.client.answers import Mode, When
from chalicelib.client.transport import Transport

Answer = TypeVar("Answer")
Item = TypeVar("Item")

PAGE = 200  # rows a request: the most that the API gives


class Client:
    """A tenant's view of one deployment.

    Every method raises ApiProblem for what the API refuses and Unreachable where no answer comes. Reads need the API
    token, changes the admin token too, which is sent with nothing else. ``patience_seconds``: how long a change may
    wait, altogether, when the limit of mutations is used up.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        admin_token: str | None = None,
        *,
        patience_seconds: float = 0.0,
    ) -> None:
        self._transport = Transport(base_url, token, admin_token, patience_seconds=patience_seconds)
        self.base_url = self._transport.base_url

    # --- The service ---

    def healthz(self) -> answers.Health:
        """Whether the service and its database answer."""
        return self._get(answers.Health, "/healthz")

    def openapi(self) -> dict[str, Any]:
        """The API's own description."""
        return self._get(dict[str, Any], "/v1/openapi.json")

    def show_status(self) -> answers.Status:
        """How the knowledge base is doing."""
        return self._get(answers.Status, "/v1/kb/status")

    def show_settings(self) -> answers.Settings:
        """Window, timezone, cap and enabled."""
        return self._get(answers.Settings, "/v1/kb/settings")

    def change_settings(
        self,
        *,
        night_start: str | None = None,
        night_end: str | None = None,
        timezone: str | None = None,
        nightly_job_cap: int | None = None,
        enabled: bool | None = None,
    ) -> answers.Settings:
        """Change what is given; times are ``HH:MM``."""
        changes = {
            "night_start": night_start,
            "night_end": night_end,
            "timezone": timezone,
            "nightly_job_cap": nightly_job_cap,
            "enabled": enabled,
        }
        return self._change(answers.Settings, "/v1/kb/settings", changes)

    # --- Sources ---

    def list_sources(self, *, limit: int | None = None, cursor: str | None = None) -> answers.Page[answers.Source]:
        """One page, oldest first."""
        return self._get(answers.Page[answers.Source], "/v1/kb/sources", limit=limit, cursor=cursor)

    def iter_sources(self) -> Iterator[answers.Source]:
        """Every source, oldest first."""
        return _all(self.list_sources)

    def show_source(self, source_id: str) -> answers.Source:
        """One source."""
        return self._get(answers.Source, f"/v1/kb/sources/{_part(source_id)}")

    def put_source(
        self,
        uri: str,
        *,
        name: str | None = None,
        refresh_ttl_seconds: int | None = None,
        keep_hidden_text: bool | None = None,
    ) -> answers.Source:
        """Add a source, or update the one that has this uri."""
        source = {
            "uri": uri,
            "name": name,
            "refresh_ttl_seconds": refresh_ttl_seconds,
            "keep_hidden_text": keep_hidden_text,
        }
        return self._change(answers.Source, "/v1/kb/sources", source)

    def put_sources(self, sources: Sequence[Mapping[str, Any]]) -> answers.Results[answers.BatchResult]:
        """Add or update up to 100, each given by the arguments of put_source and each with its own result."""
        return self._change(
            answers.Results[answers.BatchResult], "/v1/kb/sources/batch", {"sources": [dict(one) for one in sources]}
        )

    def toggle_source(self, source_id: str, active: bool | None = None) -> answers.Source:
        """Switch a source on or off; None switches over."""
        return self._change(answers.Source, f"/v1/kb/sources/{_part(source_id)}/toggle", {"active": active})

    def queue_source(self, source_id: str, when: When) -> answers.Event:
        """Have a source refreshed now or in the next night."""
        return self._change(answers.Event, f"/v1/kb/sources/{_part(source_id)}/queue", {"when": when})

    # --- Suggestions and events ---

    def list_suggestions(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> answers.Page[answers.Suggestion]:
        """One page of open ones, oldest first; asking brings them up to date."""
        return self._get(answers.Page[answers.Suggestion], "/v1/kb/suggestions", limit=limit, cursor=cursor)

    def iter_suggestions(self) -> Iterator[answers.Suggestion]:
        """Every open suggestion, oldest first."""
        return _all(self.list_suggestions)

    def approve_suggestion(self, suggestion_id: str) -> answers.Approved:
        """Do what it proposes; a refresh is scheduled, not run."""
        return self._change(answers.Approved, f"/v1/kb/suggestions/{_part(suggestion_id)}/approve")

    def approve_suggestions(self, ids: Sequence[str] | None = None) -> answers.Results[answers.BulkResult]:
        """Approve these, or all open ones (None), each with its own result."""
        which = {"all": True} if ids is None else {"ids": list(ids)}
        return self._change(answers.Results[answers.BulkResult], "/v1/kb/suggestions/approve", which)

    def snooze_suggestion(self, suggestion_id: str, days: int) -> answers.Suggestion:
        """Put it off for 1 to 365 days."""
        return self._change(answers.Suggestion, f"/v1/kb/suggestions/{_part(suggestion_id)}/snooze", {"days": days})

    def dismiss_suggestion(self, suggestion_id: str) -> answers.Suggestion:
        """Close it until the source was checked again or one more TTL has passed."""
        return self._change(answers.Suggestion, f"/v1/kb/suggestions/{_part(suggestion_id)}/dismiss")

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
        return self._get(answers.Page[answers.Event], "/v1/kb/events", **query)

    def iter_events(self, *, state: str | None = None, source_id: str | None = None) -> Iterator[answers.Event]:
        """Every event, newest first."""
        return _all(self.list_events, state=state, source_id=source_id)

    def cancel_event(self, event_id: str) -> answers.Event:
        """Cancel an event that is not finished."""
        return self._change(answers.Event, f"/v1/kb/events/{_part(event_id)}/cancel")

    # --- What sources say, and said ---

    def list_versions(
        self, source_id: str, *, limit: int | None = None, cursor: int | None = None
    ) -> answers.Page[answers.Version]:
        """One page, newest first."""
        path = f"/v1/kb/sources/{_part(source_id)}/versions"
        return self._get(answers.Page[answers.Version], path, limit=limit, cursor=cursor)

    def iter_versions(self, source_id: str) -> Iterator[answers.Version]:
        """Every version, newest first."""
        return _all(self.list_versions, source_id)

    def show_text(self, source_id: str, at: datetime | None = None) -> answers.Text:
        """What a source said at an instant; None: what it says now."""
        return self._get(answers.Text, f"/v1/kb/sources/{_part(source_id)}/text", at=_instant(at))

    def show_diff(self, source_id: str, from_version: int | None = None, to_version: int | None = None) -> answers.Diff:
        """What changed between two versions; by default the last and the one before."""
        versions = {"from": from_version, "to": to_version}
        return self._get(answers.Diff, f"/v1/kb/sources/{_part(source_id)}/diff", **versions)

    def search_kb(
        self,
        query: str,
        *,
        limit: int | None = None,
        mode: Mode | None = None,
        at: datetime | None = None,
        source_ids: Sequence[str] | None = None,
    ) -> answers.Search:
        """Search what sources say now, or said at an instant."""
        question = {"query": query, "limit": limit, "mode": mode, "at": _instant(at), "source_ids": source_ids}
        return cast(answers.Search, self._transport.request("POST", "/v1/kb/search", body=question))

    def _get(self, kind: type[Answer], path: str, **query: Any) -> Answer:
        return cast(Answer, self._transport.request("GET", path, query=query))

    def _change(self, kind: type[Answer], path: str, body: Mapping[str, Any] | None = None) -> Answer:
        return cast(Answer, self._transport.request("POST", path, body=body or {}, as_admin=True))


def _all(page: Callable[..., answers.Page[Item]], *arguments: Any, **query: Any) -> Iterator[Item]:
    """Every item of a list, a page at a time as they are asked for."""
    cursor: str | int | None = None
    while True:
        found = page(*arguments, **query, limit=PAGE, cursor=cursor)
        yield from found["items"]
        cursor = found["next_cursor"]
        if cursor is None:
            return


def _part(text: str) -> str:
    """One segment of a path, whatever is in it. Raises ValueError for one that would lead to another route."""
    if text in ("", ".", ".."):
        raise ValueError(f"{text!r} is no id")
    return quote(text, safe="")


def _instant(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
