"""What a doubtful page says, for the person whom a ``review_change`` suggestion asks (spec 1.1).

The held text is no chunk yet. It is judged as the chunks that publishing it would write, so that a review shows nothing
that a reading of the published page would withhold.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from chalicelib.domain import chunking, policy
from chalicelib.domain.chunking import Chunk
from chalicelib.domain.content_class import content_class
from chalicelib.domain.diff import Diff, diff
from chalicelib.domain.policy import CREDENTIALS
from chalicelib.errors import Conflict, NotFound
from chalicelib.services import enforcement, history, inheritance
from chalicelib.services.enforcement import Reading
from chalicelib.services.history import Part, TextAt
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import held_texts, suggestions, versions
from chalicelib.storage.connection import Transaction
from chalicelib.storage.held_texts import HeldText
from chalicelib.storage.suggestions import Suggestion


@dataclass(frozen=True, slots=True)
class Review:
    """``held``: the text kept aside; in its text and in ``current``'s what may not be read is a placeholder.

    ``current`` is the version that publishing would supersede, None if the source has none.
    """

    suggestion: Suggestion
    held: HeldText
    withheld: int
    warnings: list[str]
    current: TextAt | None
    difference: Diff


@dataclass(frozen=True, slots=True)
class _Asked:
    suggestion: Suggestion
    held: HeldText
    open_chunks: list[versions.OpenChunk]
    guarded: inheritance.Guarded


def show(outside: Outside, who: Principal, reading: Reading, suggestion_id: UUID, now: datetime) -> Review:
    """The held text and how it differs from the current version.

    Raises NotFound, also ``no_held_text`` for a suggestion of another kind; Conflict if it was decided, or if a policy
    of the source changed while the text was read.
    """
    with outside.database.transaction(who.tenant_id) as tx:
        asked = _asked(tx, suggestion_id)
    chunks = chunking.chunk(asked.held.text, fits=outside.embedder.fits)
    parents = inheritance.parents(asked.open_chunks, chunks, asked.guarded)
    with outside.database.transaction(who.tenant_id) as tx:
        if tx.value("policies.epoch", source_id=asked.held.source_id) != asked.guarded.epoch:
            raise Conflict("a policy of the source has just changed; ask again", code="policy_changed")
        parts = _parts(tx, asked.held.source_id, chunks, parents)
        proposed = history.join(outside, tx, reading, parts, now)
        version = versions.current(tx, asked.held.source_id)
        current = history.text_of(outside, tx, reading, version, now) if version else None
        described = enforcement.may_describe(tx, reading, asked.held.source_id, now)
    held = replace(asked.held, text=proposed.text)
    return Review(
        asked.suggestion,
        held if described else replace(held, title=None, description=None),
        proposed.withheld,
        proposed.warnings,
        current,
        diff(current.text if current else "", held.text),
    )


def _asked(tx: Transaction, suggestion_id: UUID) -> _Asked:
    suggestion = suggestions.get(tx, suggestion_id)
    if suggestion is None:
        raise NotFound("there is no such suggestion")
    if suggestion.kind != "review_change":
        raise NotFound("the suggestion holds no text to review", code="no_held_text", kind=suggestion.kind)
    if suggestion.state not in ("open", "snoozed"):
        raise Conflict(f"the suggestion is {suggestion.state}", code="suggestion_not_open", state=suggestion.state)
    held = held_texts.get(tx, suggestion.held_text_id) if suggestion.held_text_id else None
    if held is None:  # a chunk of it was forgotten
        raise NotFound("the text to review is no longer there", code="no_held_text", kind=suggestion.kind)
    chunks = versions.open_chunks(tx, held.source_id)
    return _Asked(suggestion, held, chunks, inheritance.guarded(tx, held.source_id))


def _parts(tx: Transaction, source_id: UUID, chunks: list[Chunk], parents: list[tuple[str, str]]) -> list[Part]:
    """The chunks that publishing would write, each under the strictest of what is said of it and of its parents.

    A text that was forgotten becomes a placeholder when it is published, so nobody reads it here either.
    """
    source = tx.row("policies.source", source_id=source_id)
    assert source is not None, "the suggestion's source stands as long as it does"
    of_source = enforcement.source_policy_of(source)
    digests = [chunking.content_hash(one.body) for one in chunks]
    said_of: defaultdict[str, set[str]] = defaultdict(set)
    for heir, parent in parents:
        said_of[heir].add(parent)
    hashes = sorted({*digests, *(parent for _, parent in parents)})
    said = {row["content_hash"]: enforcement.policy_of(row) for row in _said(tx, source, hashes)}
    secret = {digest for digest, one in zip(digests, chunks, strict=True) if content_class(one.body) == CREDENTIALS}
    forgotten = {row["content_hash"] for row in tx.rows("policies.forgotten", source_id=source_id, hashes=digests)}

    def judged_by(digest: str) -> policy.Policy:
        found = of_source
        for one in (digest, *sorted(said_of[digest])):
            found = policy.strictest(found, said.get(one, of_source))
        if digest in secret:
            found = policy.strictest(found, policy.of_class(found.tenant_id, CREDENTIALS))
        return replace(found, validation_status="refuted") if digest in forgotten else found

    idents = chunking.chunk_ids(source_id, chunks)
    return [
        Part(ident, source_id, None, judged_by(digest), index, one.body)
        for index, (ident, digest, one) in enumerate(zip(idents, digests, chunks, strict=True))
    ]


def _said(tx: Transaction, source: dict[str, Any], hashes: list[str]) -> list[dict[str, Any]]:
    rows = tx.rows("policies.of_texts", source_id=source["source_id"], hashes=hashes)
    return [{**source, **row, "chunk_has_policy": True} for row in rows]
