"""One of everything that a route may ask for by its id."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from pgvector import Vector
from psycopg.types.range import TimestamptzRange

from chalicelib.domain import policy
from chalicelib.domain.chunking import content_hash
from chalicelib.knowledge.sealed import seal
from chalicelib.services import enforcement
from tests.any_row import make_row
from tests.api.contract import WORDS
from tests.api.tables import superuser
from tests.tenants import Tenant

TEXTS = ("The kettle is blue.\nIt whistles.", "The kettle is red.\nIt whistles.")


def furnish(tenant: Tenant, *, alike: bool = True) -> dict[str, Any]:
    """Ids by the names that paths give them: a stale source with two versions and a text to review, and an event.

    ``alike``: with two texts more, which searches find too, that are nearly the same.
    """
    source, busy = (UUID(tenant.add(f"https://{name}.example/")["id"]) for name in ("furnished", "busy"))
    event = tenant.post(f"/v1/kb/sources/{busy}/queue", {"when": "night"}).json["event_id"]
    begin = datetime.now(UTC) - timedelta(days=30)
    write_version(tenant, source, 1, TEXTS[0], begin, begin + timedelta(days=10))
    chunk = write_version(tenant, source, 2, TEXTS[1], begin + timedelta(days=10), None)
    return {
        **askers(tenant),
        "source_id": source,
        "suggestion_id": hold_text(tenant, source, now=datetime.now(UTC)),
        "event_id": UUID(event),
        "chunk_id": chunk,
        "held_id": quarantine(tenant),
        "request_id": ask_to_delete(tenant),
        **(near_duplicates(tenant) if alike else {}),
    }


def write_version(
    tenant: Tenant, source_id: UUID, number: int, text: str, begin: datetime, end: datetime | None
) -> UUID:
    """What a refresh would have left behind: a version of one chunk, whose id is told, and the freshness clock."""
    chunk = uuid4()
    own = {"tenant_id": tenant.id, "source_id": source_id, "system_time": TimestamptzRange(begin, end)}
    vector = Vector(tenant.deployment.embedder.embed([text])[0]).to_text()
    with superuser(tenant.deployment) as connection:
        make_row(connection, "kb_versions", **own, version=number, character_count=len(text), fetched_at=begin)
        make_row(connection, "kb_chunks", **own, chunk_id=chunk, chunk_index=0, overlap=0, text=text, embedding=vector)
        connection.execute(_SOURCE, {"source": source_id, "number": number, "begin": begin})
    return chunk


def ask_to_delete(tenant: Tenant) -> UUID:
    """An open question whether a text may go, which is as it was when that was asked."""
    source, asked, begin = UUID(tenant.add("https://ending.example/")["id"]), uuid4(), datetime.now(UTC)
    chunk = write_version(tenant, source, 1, "A text with an end.", begin - timedelta(days=900), None)
    said = {"tenant_id": tenant.id, "source_id": source, "expires_at": begin - timedelta(days=400)}
    with superuser(tenant.deployment) as connection:
        make_row(connection, "chunk_policies", **said, content_hash="ending", sensitivity="")
        connection.execute("update kb_chunks set content_hash = 'ending' where chunk_id = %s", (chunk,))
    digest = tenant.get(f"/v1/memory/chunks/{chunk}/policy").json["policy_digest"]
    more = {"chunk_id": chunk, "content_hash": "ending", "policy_digest": digest, "state": "open"}
    with superuser(tenant.deployment) as connection:
        make_row(
            connection,
            "deletion_requests",
            id=asked,
            **said,
            **more,
            created_at=begin,
            lapses_at=begin + timedelta(days=7),
        )
        # Off, so that searches of the other texts don't meet this one.
        connection.execute("update kb_sources set active = false where id = %s", (source,))
    return asked


def near_duplicates(tenant: Tenant) -> dict[str, UUID]:
    """Proposals about two texts that are as they were: one that waits for an answer, and one that was accepted."""
    now, texts = datetime.now(UTC), ("Zebras graze.", "Zebras graze:")
    sources = [UUID(tenant.add(f"https://twin-{name}.example/")["id"]) for name in ("kept", "other")]
    chunks = [write_version(tenant, one, 1, text, now, None) for one, text in zip(sources, texts, strict=True)]
    with superuser(tenant.deployment) as connection:
        for chunk, text in zip(chunks, texts, strict=True):
            connection.execute(
                "update kb_chunks set content_hash = %s, embedding_model = 'words' where chunk_id = %s",
                (content_hash(text), chunk),
            )
    return {
        "proposal_id": propose(tenant, sources, chunks, texts),
        "accepted_id": propose(tenant, sources, chunks, texts, state="accepted"),
    }


def propose(tenant: Tenant, sources: Sequence[UUID], chunks: Sequence[UUID], texts: Sequence[str], **more: Any) -> UUID:
    """A proposal about two texts, the first of them to be kept, under the policy that counts for that one now."""
    ident = uuid4()
    with tenant.deployment.outside.database.transaction(tenant.id) as tx:
        row = tx.row("policies.chunk", chunk_id=chunks[0])
    assert row is not None
    columns = {
        f"{part}_{name}": value
        for part, *values in zip(("kept", "other"), sources, map(content_hash, texts), chunks, strict=True)
        for name, value in zip(("source_id", "hash", "chunk_id"), values, strict=True)
    }
    digest = policy.rules_digest(enforcement.policy_of(row))
    known = {"id": ident, "tenant_id": tenant.id, "kind": "extractive", "policy_digest": digest}
    with superuser(tenant.deployment) as connection:
        make_row(connection, "consolidation_proposals", **{**known, **columns, "pair": str(ident), **more})
    return ident


def hold_text(tenant: Tenant, source_id: UUID, *, now: datetime) -> UUID:
    """An open ``review_change`` with the text that it asks about; the suggestion's id."""
    held, asked = uuid4(), uuid4()
    own = {"tenant_id": tenant.id, "source_id": source_id}
    with superuser(tenant.deployment) as connection:
        make_row(connection, "kb_held_texts", **own, id=held, reason="shrunk", text="A doubtful text.", fetched_at=now)
        make_row(connection, "kb_suggestions", **own, id=asked, kind="review_change", held_text_id=held, created_at=now)
    return asked


def askers(tenant: Tenant) -> dict[str, Any]:
    """A provider that the guard never connects to, one of each that may ask, and what an assistant may be granted."""
    provider = uuid4()
    with superuser(tenant.deployment) as connection:
        own = {"tenant_id": tenant.id, "name": f"p-{provider}", "base_url": "https://127.0.0.1:9"}
        make_row(
            connection,
            "knowledge_providers",
            id=provider,
            **own,
            exposure_profile="agent_only",
            **sealed(provider, tenant),
        )
    made = {kind: tenant.post(f"/v1/{kind}s", {"name": f"{kind}-{provider}", **more}) for kind, more in ASKERS.items()}
    ids = {f"{kind}_id": UUID(answer.json["id"]) for kind, answer in made.items()}
    return {**WORDS, **ids, "provider_id": provider}


def sealed(provider: UUID, tenant: Tenant) -> dict[str, Any]:
    """A secret at rest, as the service would keep it."""
    kept = seal(tenant.deployment.outside.keys, provider, "a provider's secret")
    return {"secret": kept.ciphertext, "secret_key_id": kept.key_id}


ASKERS: dict[str, dict[str, Any]] = {"agent": {}, "assistant": {}, "widget": {"origins": ["https://www.example.com"]}}


def quarantine(tenant: Tenant) -> UUID:
    """A note that a gate stopped."""
    ident = uuid4()
    note = {
        "deposit": "note",
        "gate": "deny_pattern",
        "text": "The kettle in the kitchen whistles when the tea is due.",
    }
    with superuser(tenant.deployment) as connection:
        make_row(connection, "quarantine", id=ident, tenant_id=tenant.id, **note)
    return ident


def suggest(tenant: Tenant, source_id: UUID, kind: str, detail: str = "{}") -> UUID:
    """An open suggestion of a kind that only a refresh makes."""
    asked = uuid4()
    with superuser(tenant.deployment) as connection:
        make_row(
            connection, "kb_suggestions", tenant_id=tenant.id, source_id=source_id, id=asked, kind=kind, detail=detail
        )
    return asked


def update(tenant: Tenant, table: str, ident: UUID | str, **values: Any) -> None:
    """Set columns of one row, as time or a worker would."""
    columns = ", ".join(f"{name} = %({name})s" for name in values)
    with superuser(tenant.deployment) as connection:
        done = connection.execute(f"update {table} set {columns} where id = %(id)s", {**values, "id": ident})
        assert done.rowcount == 1


_SOURCE = """
update kb_sources set current_version = %(number)s, last_attempt_at = %(begin)s, last_checked_at = %(begin)s,
       last_changed_at = %(begin)s, last_status = 'new_version' where id = %(source)s
"""
