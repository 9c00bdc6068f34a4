"""Routes of what people and programs remember: notes, documents, quarantine, deny patterns, forgetting."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chalicelib.client import memory_answers as answers
from chalicelib.client.answers import Event, Page
from chalicelib.client.routes import Routes, every, given, segment


class MemoryRoutes(Routes):
    """Deposits, and what admins do about them.

    ``policy`` holds fields of a policy, such as ``sensitivity``; None in a field is a value.
    """

    def remember_note(
        self, text: str, *, title: str | None = None, policy: Mapping[str, Any] | None = None
    ) -> answers.Deposit:
        """Remember a note of up to 100 000 characters."""
        note = given(text=text, title=title) | dict(policy or {})
        return self._change(answers.Deposit, "/v1/memory/notes", note)

    def remember_document(
        self,
        content: str | bytes,
        content_type: str = "text/plain",
        *,
        kind: str | None = None,
        title: str | None = None,
        policy: Mapping[str, Any] | None = None,
    ) -> answers.Deposit:
        """Remember a document of up to 2 MB: a text, or bytes of any type that is read."""
        if isinstance(content, bytes):
            held = {"content_base64": base64.b64encode(content).decode("ascii")}
        else:
            held = {"text": content}
        document = given(kind=kind, title=title, content_type=content_type) | held | dict(policy or {})
        return self._change(answers.Deposit, "/v1/memory/documents", document)

    def list_quarantine(
        self, *, state: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Page[answers.Held]:
        """One page of texts that a gate stopped, oldest first; by default those that nobody has decided on."""
        query = {"state": state, "limit": limit, "cursor": cursor}
        return self._get(Page[answers.Held], "/v1/memory/quarantine", query, as_admin=True)

    def iter_quarantine(self, *, state: str | None = None) -> Iterator[answers.Held]:
        """Every one of them."""
        return every(self.list_quarantine, state=state)

    def release_quarantined(self, held_id: str) -> Event:
        """Let a text in that a person has read; the other gates still count."""
        return self._change(Event, f"/v1/memory/quarantine/{segment(held_id)}/release")

    def drop_quarantined(self, held_id: str) -> dict[str, Any]:
        """Let nothing of a text in."""
        return self._change(dict[str, Any], f"/v1/memory/quarantine/{segment(held_id)}/drop")

    def list_deny_patterns(self) -> answers.Patterns:
        """The tenant's deny patterns."""
        return self._get(answers.Patterns, "/v1/memory/deny-patterns", as_admin=True)

    def change_deny_patterns(self, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> answers.Patterns:
        """Add patterns and take some away."""
        return self._change(answers.Patterns, "/v1/memory/deny-patterns", {"add": list(add), "remove": list(remove)})

    def forget_chunk(self, chunk_id: str, why: str = "") -> answers.Forgotten:
        """Erase a chunk's text from every version, for good."""
        return self._change(answers.Forgotten, f"/v1/memory/chunks/{segment(chunk_id)}/forget", {"why": why})
