"""``python -m bench.sizes``: bytes a row of the large tables and indexes of the real schema, and what they sum to.

Fills a database of its own with texts of natural length, asks Postgres how large each relation is, and multiplies by
the numbers that the design is for. Row counts that follow from others are named beside them.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy
import psycopg

from bench.search import NOW, connect
from chalicelib.services import enforcement, search
from chalicelib.services.tokens import Principal
from tests import postgres
from tests.tenants import Deployment

CHUNKS = 5  # open ones of a source, as 50 M are of 10 M
CLOSED = 20  # as 200 M are
SCALE = {
    "kb_sources": ("10 000 tenants × 1 000", 10_000_000),
    "kb_versions": ("one current and ten before, two chunks closed by each", 110_000_000),
    "kb_chunks, current": ("five a source", 50_000_000),
    "kb_chunks, historic": ("twenty a source", 200_000_000),
    "kb_events": ("one a source and week for 97 days, and what wrote a version", 249_000_000),
    "kb_suggestions": ("one a source and week for 97 days", 139_000_000),
    "policy_evaluations": ("a million reads a day of ten hits, kept for 30 days", 300_000_000),
    "embedding_cache": ("its limit", 200_000),
}
_SOURCES = """
insert into kb_sources (tenant_id, uri, name, etag, last_modified, last_attempt_at, last_checked_at, last_changed_at,
    last_status, body_hash, pipeline, current_version, created_at, updated_at)
select %s, 'https://docs.example.com/handbook/chapter-' || n || '/page.html', 'Handbook, chapter ' || n,
       '"' || md5(n::text) || '"', 'Sun, 29 Nov 2026 12:00:00 GMT', %s, %s, %s, 'unchanged', repeat(md5(n::text), 2),
       'extractor 1, chunker 1, secrets 1', 11, %s, %s from generate_series(1, %s) n
"""
_VERSIONS = """
insert into kb_versions (source_id, version, tenant_id, system_time, event_id, content_hash, title, language,
    description, final_url, character_count, chunk_count, extractor_version, chunker_version, secret_rules_version,
    fetched_at)
select id, v, tenant_id,
       tstzrange(%s + v * interval '1 day', case when v < 11 then %s + (v + 1) * interval '1 day' end),
       gen_random_uuid(), repeat(md5(id::text || v), 2), name || ' of the handbook', 'en',
       'What the chapter is about, in one sentence of the usual length.', uri, 4000, 5, 1, 1, 1, %s
  from kb_sources, generate_series(1, 11) v
"""
_EVENTS = """
insert into kb_events (tenant_id, source_id, state, night, available_at, approved_at, source_generation, counted_night,
    correlation_id, dispatched_at, outcome, created_at, finished_at)
select tenant_id, id, 'done', true, %(now)s, %(now)s, 1, '2026-11-29', gen_random_uuid()::text, %(now)s, 'unchanged',
       %(now)s + n * interval '1 week', %(now)s from kb_sources, generate_series(1, 5) n
"""
_SUGGESTIONS = """
insert into kb_suggestions (tenant_id, source_id, kind, state, reason, detail, event_id, stale_since, created_at,
    decided_at, decided_by)
select tenant_id, id, 'refresh', 'closed', 'ttl_expired', '{"stale_seconds": 604800}', gen_random_uuid(), %(now)s,
       %(now)s + n * interval '1 week', %(now)s, gen_random_uuid() from kb_sources, generate_series(1, 5) n
"""
_CACHE = """
insert into embedding_cache (model_id, text_hash, embedding, last_used_at)
select embedding_model, sha256(convert_to(text || row_id, 'UTF8')), embedding, %s from kb_chunks
"""
_RELATIONS = """
select c.relname as name, pg_table_size(c.oid) as bytes, c.reltuples as rows, t.relname as of_table
  from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_class t on t.oid = i.indrelid
 where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'i')
"""
_CURRENT_ONLY = {"kb_chunks_open", "kb_chunks_open_tenant", "kb_chunks_open_words", "kb_chunks_open_embedding"}
_HISTORIC_ONLY = {"kb_chunks_tenant"}


@dataclass(frozen=True)
class Size:
    """Bytes a row of one table's rows: the table with what it keeps out of line, and each of its indexes."""

    table: float
    indexes: dict[str, float]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.sizes", description="Bytes a row, and what they sum to.")
    parser.add_argument("--sources", type=int, default=400, help="to fill the database with, default %(default)s")
    parser.add_argument("--reads", type=int, default=300, help="of ten hits, default %(default)s")
    arguments = parser.parse_args()
    postgres.agree_on_data_folder()
    try:
        server = postgres.TestServer()
        deployment = Deployment(server, server.create())
        tenant = deployment.tenant(plan="scale").id
        fill(deployment, tenant, arguments.sources)
        read(deployment, tenant, arguments.reads)
        print("\n".join(report(measure(deployment))))
        deployment.close()
    finally:
        postgres.stop_server()


def fill(deployment: Deployment, tenant: UUID, sources: int) -> None:
    """Sources with eleven versions each, and what a year leaves behind."""
    with connect(deployment) as connection:
        connection.execute(_SOURCES, (tenant, *[NOW] * 5, sources))
        connection.execute(_VERSIONS, (NOW, NOW, NOW))
        connection.execute(_EVENTS, {"now": NOW})
        connection.execute(_SUGGESTIONS, {"now": NOW})
        ids = [row[0] for row in connection.execute("select id from kb_sources").fetchall()]
        _copy_chunks(connection, tenant, ids)
        connection.execute(_CACHE, (NOW,))


def read(deployment: Deployment, tenant: UUID, times: int) -> None:
    """Searches, each of which writes a decision for every hit."""
    rng = numpy.random.default_rng(2)

    class Fixed:
        model_id, dimension = "bench", 384

        def embed(self, texts: Any) -> list[list[float]]:
            return [rng.standard_normal(384).tolist()]

        def fits(self, text: str) -> bool:
            return True

    outside = replace(deployment.outside, embedder=Fixed())
    who = Principal(tenant, tenant, True)
    for _ in range(times):
        reading = enforcement.reading(
            outside, who, role=None, purpose=None, trace_id="0af7651916cd43dd8448eb211c80319c"
        )
        search.search(outside, who, reading, search.Question("a question", 10, "vector", None), NOW)


def measure(deployment: Deployment) -> dict[str, Size]:
    """Bytes a row by the names of SCALE."""
    with connect(deployment) as connection:
        # A young index of words has room for lists that grow: rebuilt, it is as dense as a large one.
        connection.execute("reindex index kb_chunks_open_words")
        connection.execute("vacuum analyze")
        found = {row[0]: row[1:] for row in connection.execute(_RELATIONS).fetchall()}
    return {name: Size(*_of_rows(name, found)) for name in SCALE}


def _of_rows(name: str, found: dict[str, Any]) -> tuple[float, dict[str, float]]:
    """The table's bytes a row, and each index's over the rows of this kind, without the indexes over the other kind."""
    table, _, kind = name.partition(", ")
    size, rows, _ = found[table]
    share = {"current": CHUNKS, "historic": CLOSED}.get(kind, CHUNKS + CLOSED) / (CHUNKS + CLOSED)
    elsewhere = {"current": _HISTORIC_ONLY, "historic": _CURRENT_ONLY}.get(kind, set())
    own = _CURRENT_ONLY | _HISTORIC_ONLY
    indexes = {index: of[0] for index, of in found.items() if of[2] == table and index not in elsewhere}
    return size / rows, {index: size / (rows * share if index in own else rows) for index, size in indexes.items()}


def report(sizes: dict[str, Size]) -> Iterator[str]:
    """A line a table, a line an index that counts, and the sum."""
    total = 0.0
    yield f"{'':<28} {'bytes a row':>11} {'rows':>12} {'GB':>8}"
    for name, size in sizes.items():
        why, rows = SCALE[name]
        table, indexes = size.table * rows / 1e9, sum(size.indexes.values()) * rows / 1e9
        total += table + indexes
        yield f"{name:<28} {size.table:>11.0f} {rows:>12} {table:>8.1f}   {why}"
        yield f"{'  its indexes':<28} {sum(size.indexes.values()):>11.0f} {'':>12} {indexes:>8.1f}"
        for index in ("kb_chunks_open_embedding", "kb_chunks_open_words"):
            if index in size.indexes:
                bytes_ = size.indexes[index]
                yield f"{'    ' + index:<28} {bytes_:>7.0f} {'':>12} {bytes_ * rows / 1e9:>8.1f}"
    yield f"{'all':<28} {'':>11} {'':>12} {total:>8.0f}"


def _copy_chunks(connection: psycopg.Connection[Any], tenant: UUID, sources: list[UUID]) -> None:
    rng, numbers = random.Random(1), numpy.random.default_rng(1)
    prose = _prose()
    statement = (
        "copy kb_chunks (tenant_id, source_id, chunk_id, chunk_index, overlap, text, content_hash, embedding_model,"
        " embedding, system_time) from stdin"
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for source in sources:
            for number in range(CHUNKS + CLOSED):
                begin, length = rng.randrange(len(prose) - 1200), rng.randrange(600, 1200)
                vector = numbers.standard_normal(384).astype("float32").tolist()
                closed = "" if number < CHUNKS else str(NOW.replace(year=2027))
                copy.write_row(
                    (
                        tenant,
                        source,
                        UUID(int=rng.getrandbits(128)),
                        number % CHUNKS,
                        100,
                        prose[begin : begin + length],
                        f"{rng.getrandbits(256):064x}",
                        "bench",
                        str(vector),
                        f"[{NOW},{closed})",
                    )
                )


def _prose() -> str:
    """Text as people write it: this project's own."""
    root = Path(__file__).resolve().parent.parent
    return "\n".join(page.read_text(encoding="utf-8") for page in sorted(root.glob("docs/*.md")))


if __name__ == "__main__":
    main()
