"""Routes of sources, and of what they say and said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from chalicelib.client import answers
from chalicelib.client.answers import Mode, When
from chalicelib.client.routes import Routes, every, given, instant, segment


class SourceRoutes(Routes):
    """Sources, versions, texts, search.

    ``role`` and ``purpose`` narrow what the token may read; they can't widen it. ``as_operator`` sends the admin
    token as well: whom it was made for reads what is restricted.
    """

    def list_sources(self, *, limit: int | None = None, cursor: str | None = None) -> answers.Page[answers.Source]:
        """One page, oldest first."""
        return self._get(answers.Page[answers.Source], "/v1/kb/sources", {"limit": limit, "cursor": cursor})

    def iter_sources(self) -> Iterator[answers.Source]:
        """Every source, oldest first."""
        return every(self.list_sources)

    def show_source(self, source_id: str) -> answers.Source:
        """One source."""
        return self._get(answers.Source, f"/v1/kb/sources/{segment(source_id)}")

    def put_source(
        self,
        uri: str,
        *,
        name: str | None = None,
        refresh_ttl_seconds: int | None = None,
        keep_hidden_text: bool | None = None,
    ) -> answers.Source:
        """Add a source, or update the one that has this uri."""
        source = given(uri=uri, name=name, refresh_ttl_seconds=refresh_ttl_seconds, keep_hidden_text=keep_hidden_text)
        return self._change(answers.Source, "/v1/kb/sources", source)

    def put_sources(self, sources: Sequence[Mapping[str, Any]]) -> answers.Results[answers.BatchResult]:
        """Add or update up to 100, each given by the arguments of put_source and each with its own result."""
        return self._change(
            answers.Results[answers.BatchResult], "/v1/kb/sources/batch", {"sources": [dict(one) for one in sources]}
        )

    def toggle_source(self, source_id: str, active: bool | None = None) -> answers.Source:
        """Switch a source on or off; None switches over."""
        return self._change(answers.Source, f"/v1/kb/sources/{segment(source_id)}/toggle", given(active=active))

    def queue_source(self, source_id: str, when: When) -> answers.Event:
        """Have a source refreshed now or in the next night."""
        return self._change(answers.Event, f"/v1/kb/sources/{segment(source_id)}/queue", {"when": when})

    def list_versions(
        self, source_id: str, *, limit: int | None = None, cursor: int | None = None
    ) -> answers.Page[answers.Version]:
        """One page, newest first."""
        path = f"/v1/kb/sources/{segment(source_id)}/versions"
        return self._get(answers.Page[answers.Version], path, {"limit": limit, "cursor": cursor})

    def iter_versions(self, source_id: str) -> Iterator[answers.Version]:
        """Every version, newest first."""
        return every(self.list_versions, source_id)

    def show_text(
        self,
        source_id: str,
        at: datetime | None = None,
        *,
        role: str | None = None,
        purpose: str | None = None,
        as_operator: bool = False,
    ) -> answers.Text:
        """What a source said at an instant; None: what it says now."""
        path = f"/v1/kb/sources/{segment(source_id)}/text"
        query = {"at": instant(at), "role": role, "purpose": purpose}
        return self._get(answers.Text, path, query, as_admin=as_operator)

    def show_diff(
        self,
        source_id: str,
        from_version: int | None = None,
        to_version: int | None = None,
        *,
        role: str | None = None,
        purpose: str | None = None,
        as_operator: bool = False,
    ) -> answers.Diff:
        """What changed between two versions; by default the last and the one before."""
        query = {"from": from_version, "to": to_version, "role": role, "purpose": purpose}
        path = f"/v1/kb/sources/{segment(source_id)}/diff"
        return self._get(answers.Diff, path, query, as_admin=as_operator)

    def search_kb(
        self,
        query: str,
        *,
        limit: int | None = None,
        mode: Mode | None = None,
        at: datetime | None = None,
        source_ids: Sequence[str] | None = None,
        role: str | None = None,
        purpose: str | None = None,
        as_operator: bool = False,
    ) -> answers.Search:
        """Search what sources say now, or said at an instant."""
        ids = None if source_ids is None else list(source_ids)
        question = given(
            query=query, limit=limit, mode=mode, at=instant(at), source_ids=ids, role=role, purpose=purpose
        )
        return self._ask(answers.Search, "/v1/kb/search", question, as_admin=as_operator)

    def context_pack(
        self,
        query: str,
        max_chars: int,
        *,
        role: str | None = None,
        purpose: str | None = None,
        as_operator: bool = False,
    ) -> answers.Pack:
        """Evidence for a prompt of at most ``max_chars`` (500 to 100 000), fenced and labelled as untrusted."""
        question = given(query=query, max_chars=max_chars, role=role, purpose=purpose)
        return self._ask(answers.Pack, "/v1/context-pack", question, as_admin=as_operator)
