"""One of everything that a route may ask for by its id."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from pgvector import Vector

from tests.api.tables import superuser
from tests.tenants import Tenant

TEXTS = ("The kettle is blue.\nIt whistles.", "The kettle is red.\nIt whistles.")


def furnish(tenant: Tenant) -> dict[str, UUID]:
    """Ids by the names that paths give them: a stale source with two versions and an open suggestion, and an event."""
    source, busy = (UUID(tenant.add(f"https://{name}.example/")["id"]) for name in ("furnished", "busy"))
    event = tenant.post(f"/v1/kb/sources/{busy}/queue", {"when": "night"}).json["event_id"]
    begin = datetime.now(UTC) - timedelta(days=30)
    write_version(tenant, source, 1, TEXTS[0], begin, begin + timedelta(days=10))
    write_version(tenant, source, 2, TEXTS[1], begin + timedelta(days=10), None)
    suggestion = tenant.get("/v1/kb/suggestions").json["items"][0]
    assert suggestion["source_id"] == str(source), suggestion
    return {"source_id": source, "suggestion_id": UUID(suggestion["id"]), "event_id": UUID(event)}


def write_version(
    tenant: Tenant, source_id: UUID, number: int, text: str, begin: datetime, end: datetime | None
) -> None:
    """What a refresh would have left behind: a version of one chunk, and the source's freshness clock."""
    common = {"tenant": tenant.id, "source": source_id, "text": text, "begin": begin, "end": end, "number": number}
    vector = Vector(tenant.deployment.embedder.embed([text])[0]).to_text()
    with superuser(tenant.deployment) as connection:
        connection.execute(_VERSION, common)
        connection.execute(_CHUNK, {**common, "chunk": uuid4(), "embedding": vector})
        connection.execute(_SOURCE, common)


def hold_text(tenant: Tenant, source_id: UUID, *, now: datetime) -> UUID:
    """An open ``review_change`` with the text that it asks about; the suggestion's id."""
    with superuser(tenant.deployment) as connection:
        row = connection.execute(_REVIEW, {"tenant": tenant.id, "source": source_id, "now": now}).fetchone()
        assert row is not None
        ident: UUID = row[0]
        return ident


def suggest(tenant: Tenant, source_id: UUID, kind: str, detail: str = "{}") -> UUID:
    """An open suggestion of a kind that only a refresh makes."""
    with superuser(tenant.deployment) as connection:
        values = {"tenant": tenant.id, "source": source_id, "kind": kind, "detail": detail}
        row = connection.execute(_SUGGESTION, values).fetchone()
        assert row is not None
        ident: UUID = row[0]
        return ident


def update(tenant: Tenant, table: str, ident: UUID | str, **values: Any) -> None:
    """Set columns of one row, as time or a worker would."""
    columns = ", ".join(f"{name} = %({name})s" for name in values)
    with superuser(tenant.deployment) as connection:
        done = connection.execute(f"update {table} set {columns} where id = %(id)s", {**values, "id": ident})
        assert done.rowcount == 1


_VERSION = """
insert into kb_versions (source_id, version, tenant_id, system_time, content_hash, final_url, character_count,
                         chunk_count, extractor_version, chunker_version, secret_rules_version, fetched_at)
values (%(source)s, %(number)s, %(tenant)s, tstzrange(%(begin)s, %(end)s), md5(%(text)s), 'https://furnished.example/',
        length(%(text)s), 1, 1, 1, 1, %(begin)s)
"""
_CHUNK = """
insert into kb_chunks (tenant_id, source_id, chunk_id, chunk_index, overlap, text, embedding_model, embedding,
                       system_time)
values (%(tenant)s, %(source)s, %(chunk)s, 0, 0, %(text)s, 'test-words', %(embedding)s, tstzrange(%(begin)s, %(end)s))
"""
_SOURCE = """
update kb_sources set current_version = %(number)s, last_attempt_at = %(begin)s, last_checked_at = %(begin)s,
       last_changed_at = %(begin)s, last_status = 'new_version' where id = %(source)s
"""
_REVIEW = """
with held as (
  insert into kb_held_texts (tenant_id, source_id, reason, text, final_url, extractor_version, secret_rules_version,
                             fetched_at)
  values (%(tenant)s, %(source)s, 'shrunk', 'A doubtful text.', 'https://furnished.example/', 1, 1, %(now)s)
  returning id)
insert into kb_suggestions (tenant_id, source_id, kind, reason, held_text_id, created_at)
select %(tenant)s, %(source)s, 'review_change', 'shrunk', id, %(now)s from held returning id
"""
_SUGGESTION = """
insert into kb_suggestions (tenant_id, source_id, kind, reason, detail, created_at)
values (%(tenant)s, %(source)s, %(kind)s, 'test', %(detail)s, now()) returning id
"""
