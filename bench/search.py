"""How good and how fast search is: ``python -m bench.search [--chunks 12000]``. Prints ratios measured in one run.

Recall is against an exact scan of the same tenant; times are medians, as multiples of a plain ``select 1``.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg

from chalicelib.services import enforcement, search
from chalicelib.services.tokens import Principal
from tests import postgres
from tests.tenants import Deployment

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
WORDS = [f"{a}{b}" for a in ("pump", "valve", "price", "rotor", "plan", "seal", "motor", "gauge") for b in range(400)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chunks", type=int, default=12_000)
    parser.add_argument("--small-tenants", type=int, default=40)
    parser.add_argument("--queries", type=int, default=40)
    arguments = parser.parse_args()
    postgres.agree_on_data_folder()
    server = postgres.TestServer()
    deployment = Deployment(server, server.create())
    try:
        report(deployment, arguments)
    finally:
        deployment.close()
        postgres.stop_server()


def report(deployment: Deployment, arguments: Any) -> None:
    big = deployment.tenant("big").id
    fill(deployment, big, arguments.chunks)
    small = [deployment.tenant(f"small{number}").id for number in range(arguments.small_tenants)]
    for tenant in small:
        fill(deployment, tenant, 150)
    with connect(deployment) as connection:
        connection.execute("vacuum analyze")
    floor = median([lambda: ping(deployment, big)] * 50)
    print(f"select 1 in a transaction: {floor * 1000:.2f} ms = 1.0")
    for name, tenant in (("large tenant", big), ("small tenant", small[0])):
        for mode in ("vector", "keyword", "hybrid"):
            calls = [ask(deployment, tenant, mode, number) for number in range(arguments.queries)]
            print(f"{name:13} {mode:8} {median(calls) / floor:8.1f} x")
        print(f"{name:13} recall@10 {recall(deployment, tenant, arguments.queries):.3f}")
    print(f"large tenant  as of    {median([ask(deployment, big, 'hybrid', n, NOW) for n in range(8)]) / floor:8.1f} x")


def connect(deployment: Deployment) -> psycopg.Connection[Any]:
    return psycopg.connect(deployment.server.url(deployment.database_name, "postgres"), autocommit=True)


def vector(seed: int) -> list[float]:
    """A point near one of 64 centres, as texts of one topic lie together."""
    centre, noise = random.Random(seed % 64), random.Random(seed)
    return [centre.gauss(0, 1) + noise.gauss(0, 0.7) for _ in range(384)]


def fill(deployment: Deployment, tenant: UUID, chunks: int) -> None:
    source = uuid4()
    with connect(deployment) as connection, connection.cursor() as cursor:
        cursor.execute(
            "insert into kb_sources (id, tenant_id, uri, name, current_version, last_checked_at, created_at,"
            " updated_at) values (%s, %s, %s, 'bench', 1, %s, %s, %s)",
            (source, tenant, f"http://{source}.example.com/", NOW, NOW, NOW),
        )
        cursor.execute(
            "insert into kb_versions (source_id, version, tenant_id, system_time, content_hash, final_url,"
            " character_count, chunk_count, extractor_version, chunker_version, secret_rules_version, fetched_at)"
            " values (%s, 1, %s, tstzrange(%s, null), 'x', 'x', 1, %s, 1, 1, 1, %s)",
            (source, tenant, NOW, chunks, NOW),
        )
        statement = (
            "copy kb_chunks (tenant_id, source_id, chunk_id, chunk_index, overlap, text, content_hash,"
            " embedding_model, embedding, system_time) from stdin"
        )
        with cursor.copy(statement) as copy:
            for number in range(chunks):
                words = random.Random(number).choices(WORDS, k=120)
                embedding = "[" + ",".join(f"{value:.4f}" for value in vector(number)) + "]"
                row = (
                    tenant,
                    source,
                    uuid4(),
                    number,
                    0,
                    " ".join(words)[:1200],
                    str(number),
                    "bench",
                    embedding,
                    f"[{NOW},)",
                )
                copy.write_row(row)


def ask(deployment: Deployment, tenant: UUID, mode: Any, number: int, at: datetime | None = None) -> Any:
    class Fixed:
        model_id, dimension = "bench", 384

        def embed(self, texts: Any) -> list[list[float]]:
            return [vector(1_000_000 + number)]

        def fits(self, text: str) -> bool:
            return True

    from dataclasses import replace

    outside = replace(deployment.outside, embedder=Fixed())
    query = " ".join(random.Random(number).choices(WORDS, k=3))
    question = search.Question(query, 10, mode, at)
    who = Principal(tenant, tenant, True)
    reading = enforcement.reading(outside, who, role=None, purpose=None, trace_id="bench")
    return lambda: search.search(outside, who, reading, question, NOW)


def recall(deployment: Deployment, tenant: UUID, queries: int) -> float:
    shares = []
    with connect(deployment) as connection:
        connection.execute("set enable_indexscan = off")
        for number in range(queries):
            found = {hit.candidate.chunk_id for hit in ask(deployment, tenant, "vector", number)().hits}
            wanted = connection.execute(
                "select chunk_id from kb_chunks where tenant_id = %s order by embedding <=> %s::vector limit 10",
                (tenant, str(vector(1_000_000 + number))),
            ).fetchall()
            shares.append(len(found & {row[0] for row in wanted}) / 10)
    return statistics.mean(shares)


def ping(deployment: Deployment, tenant: UUID) -> None:
    with deployment.outside.database.transaction(tenant):
        pass


def median(calls: list[Any]) -> float:
    times = []
    for call in calls:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
