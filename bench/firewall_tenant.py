"""A tenant of realistic size for the benchmarks of the firewall: sources with policies of their own, English texts.

Each chunk is seven sentences of the Python language reference, some 800 characters; its vector is the mean of what the
real model says of the seven, so neighbours are near for a reason, and filling takes seconds instead of minutes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pydoc_data.topics import topics
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg

from chalicelib.embedding.model import Embedder, LocalModel
from infra import model
from tests import postgres
from tests.tenants import Deployment, Tenant

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
CHUNKS_A_SOURCE = 100
SENTENCES_A_CHUNK = 7
OWN_POLICY_EVERY = 10  # one chunk in so many has a policy of its own beside its source's
WORDS_A_QUERY = 4

_SOURCE = """insert into kb_sources (id, tenant_id, uri, name, current_version, last_checked_at, created_at, updated_at,
  permitted_roles, trust) values (%s, %s, %s, %s, 1, %s, %s, %s, %s, %s)"""
_VERSION = """insert into kb_versions (source_id, version, tenant_id, system_time, content_hash, final_url, title,
  character_count, chunk_count, extractor_version, chunker_version, secret_rules_version, fetched_at)
  values (%s, 1, %s, tstzrange(%s, null), 'x', %s, %s, 1, %s, 1, 1, 1, %s)"""
_CHUNKS = """copy kb_chunks (tenant_id, source_id, chunk_id, chunk_index, overlap, text, content_hash, embedding_model,
  embedding, system_time) from stdin"""
_POLICY = """insert into chunk_policies (source_id, content_hash, tenant_id, sensitivity, expires_at, updated_at)
  values (%s, %s, %s, 'internal', %s, %s)"""


@dataclass
class Filled:
    """A deployment with one full tenant, its real model, and questions in its words."""

    deployment: Deployment
    tenant: Tenant
    queries: list[str]

    def wait_for_disk(self) -> None:
        """From now on a commit is over when it is on the disk, as a production database has it."""
        with psycopg.connect(self.deployment.server.admin, autocommit=True) as connection:
            for name in ("fsync", "synchronous_commit", "full_page_writes"):
                connection.execute(f"alter system set {name} = on".encode())
            connection.execute("select pg_reload_conf()")
        self.deployment.outside.database.close()


@contextmanager
def filled(chunks: int) -> Iterator[Filled]:
    """A server of its own, with a tenant of ``chunks`` chunks; like every server of tests it waits for no disk."""
    postgres.agree_on_data_folder()
    server = postgres.TestServer()
    try:
        deployment = Deployment(server, server.create())
        deployment.embedder = LocalModel(model.lay())
        deployment.outside = deployment.build("larder_app")
        tenant = deployment.tenant()
        yield Filled(deployment, tenant, fill(deployment, tenant.id, chunks))
        deployment.close()
    finally:
        postgres.stop_server()


def fill(deployment: Deployment, tenant: UUID, chunks: int) -> list[str]:
    """Write sources, versions, chunks and policies as the superuser; returns questions that the texts answer."""
    sentences = _sentences()
    vectors = _vectors(deployment.embedder, sentences)
    drawn = random.Random(7)
    url = deployment.server.url(deployment.database_name, "postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        for number in range(chunks // CHUNKS_A_SOURCE):
            _write_source(connection, tenant, number, sentences, vectors, drawn)
        connection.execute("vacuum analyze")
    return [" ".join(drawn.sample(re.findall(r"[a-z]{4,}", one), WORDS_A_QUERY)) for one in _wordy(sentences)]


def _write_source(
    connection: psycopg.Connection[Any],
    tenant: UUID,
    number: int,
    sentences: Sequence[str],
    vectors: np.ndarray[Any, Any],
    drawn: random.Random,
) -> None:
    source, uri = uuid4(), f"https://docs.example.com/{number}"
    roles = ["", "reader", "lead", f"team-{number}"]
    connection.execute(
        _SOURCE, (source, tenant, uri, f"Document {number}", BEGIN, BEGIN, BEGIN, roles, 30 + number % 60)
    )
    connection.execute(_VERSION, (source, tenant, BEGIN, uri, f"Document {number}", CHUNKS_A_SOURCE, BEGIN))
    with connection.cursor() as cursor, cursor.copy(_CHUNKS) as copy:
        for index in range(CHUNKS_A_SOURCE):
            chosen = drawn.sample(range(len(sentences)), SENTENCES_A_CHUNK)
            mean = vectors[chosen].mean(axis=0)
            embedding = "[" + ",".join(f"{value:.5f}" for value in mean / np.linalg.norm(mean)) + "]"
            text = " ".join(sentences[one] for one in chosen)
            copy.write_row(
                (tenant, source, uuid4(), index, 0, text, f"{number}-{index}", "bench", embedding, f"[{BEGIN},)")
            )
    for index in range(0, CHUNKS_A_SOURCE, OWN_POLICY_EVERY):
        connection.execute(_POLICY, (source, f"{number}-{index}", tenant, BEGIN + timedelta(days=3650 + index), BEGIN))


def _sentences() -> list[str]:
    """Plain sentences of the Python language reference, which every interpreter carries."""
    text = re.sub(r"\s+", " ", " ".join(topics[name] for name in sorted(topics)))
    whole = re.compile(r"[A-Z][\w ,;'()\"-]{59,159}\.")
    return [one for one in dict.fromkeys(re.split(r"(?<=[.:]) ", text)) if whole.fullmatch(one)]


def _wordy(sentences: Sequence[str]) -> list[str]:
    return [one for one in sentences if len(re.findall(r"[a-z]{4,}", one)) >= WORDS_A_QUERY]


def _vectors(embedder: Embedder, sentences: Sequence[str]) -> np.ndarray[Any, Any]:
    return np.array(embedder.embed(sentences))
