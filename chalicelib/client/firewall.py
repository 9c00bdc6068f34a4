"""Routes of the firewall: its mode, policies, the record of its decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from chalicelib.client import memory_answers as answers
from chalicelib.client.answers import Page
from chalicelib.client.routes import Routes, every, instant, segment


class FirewallRoutes(Routes):
    """Mode, policies, decisions, proofs. The record of decisions is for admins."""

    def show_mode(self) -> answers.FirewallMode:
        """The tenant's own mode, and the one that counts."""
        return self._get(answers.FirewallMode, "/v1/memory/firewall/mode")

    def set_mode(self, mode: str | None) -> answers.FirewallMode:
        """``off``, ``advisory``, ``enforce``, or None for the deployment's."""
        return self._change(answers.FirewallMode, "/v1/memory/firewall/mode", {"mode": mode})

    def show_source_policy(self, source_id: str) -> answers.SourcePolicy:
        """The policy that a source gives to all its chunks."""
        return self._get(answers.SourcePolicy, f"/v1/kb/sources/{segment(source_id)}/policy")

    def set_source_policy(
        self, source_id: str, changes: Mapping[str, Any], *, if_match: str | None = None
    ) -> answers.SourcePolicy:
        """Change fields; None in a field is a value. With ``if_match``, an ETag, only if it is still as read."""
        path = f"/v1/kb/sources/{segment(source_id)}/policy"
        return self._change(answers.SourcePolicy, path, changes, if_match=if_match)

    def show_chunk_policy(self, chunk_id: str) -> answers.ChunkPolicy:
        """What counts for a chunk."""
        return self._get(answers.ChunkPolicy, f"/v1/memory/chunks/{segment(chunk_id)}/policy")

    def set_chunk_policy(
        self, chunk_id: str, changes: Mapping[str, Any], *, if_match: str | None = None
    ) -> answers.ChunkPolicy:
        """Change what is said of a chunk's text, as set_source_policy does for a source."""
        path = f"/v1/memory/chunks/{segment(chunk_id)}/policy"
        return self._change(answers.ChunkPolicy, path, changes, if_match=if_match)

    def validate_chunk(
        self, chunk_id: str, status: str, why: str = "", *, if_match: str | None = None
    ) -> answers.ChunkPolicy:
        """Say that a chunk's text is ``confirmed``, ``refuted`` or ``unverified``."""
        path = f"/v1/memory/chunks/{segment(chunk_id)}/validation"
        return self._change(answers.ChunkPolicy, path, {"status": status, "why": why}, if_match=if_match)

    def list_evaluations(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        decision: str | None = None,
        chunk_id: str | None = None,
        role: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[answers.Evaluation]:
        """One page of decisions, oldest first; by default of the last 30 days."""
        query = _filters(since, until, decision, chunk_id, role) | {"limit": limit, "cursor": cursor}
        path = "/v1/memory/firewall/evaluations"
        return self._get(Page[answers.Evaluation], path, query, as_admin=True)

    def iter_evaluations(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        decision: str | None = None,
        chunk_id: str | None = None,
        role: str | None = None,
    ) -> Iterator[answers.Evaluation]:
        """Every decision, oldest first."""
        return every(self.list_evaluations, since=since, until=until, decision=decision, chunk_id=chunk_id, role=role)

    def export_evaluations(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        decision: str | None = None,
        chunk_id: str | None = None,
        role: str | None = None,
    ) -> Iterator[str]:
        """The same as CSV (RFC 4180), page after page: joined they are one file."""
        path = "/v1/memory/firewall/evaluations.csv"
        return self._transport.pages_of_text(path, _filters(since, until, decision, chunk_id, role), as_admin=True)

    def verify_evaluations(self) -> answers.Verification:
        """Whether the record is what it was."""
        return self._get(answers.Verification, "/v1/memory/firewall/verify", as_admin=True)

    def verify_proof(self, proof: Mapping[str, Any]) -> answers.ProofVerdict:
        """Whether a hit's proof is ours and unchanged."""
        return self._ask(answers.ProofVerdict, "/v1/memory/firewall/proofs/verify", proof)


def _filters(
    since: datetime | None, until: datetime | None, decision: str | None, chunk_id: str | None, role: str | None
) -> dict[str, Any]:
    return {
        "since": instant(since),
        "until": instant(until),
        "decision": decision,
        "chunk_id": chunk_id,
        "role": role,
    }
