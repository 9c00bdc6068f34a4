"""A search that was asked before: found without searching, judged and audited as ever, ended by any write."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from chalicelib import bootstrap
from chalicelib.services import enforcement, search, search_cache
from chalicelib.services.search import Question
from tests.api import tables
from tests.api.furniture import write_version
from tests.integration import rows
from tests.postgres import TestServer
from tests.tenants import Deployment, HashEmbedder, Tenant

TEXT = "The kettle is red and whistles when the water boils."


class CountingEmbedder(HashEmbedder):
    """Counts how often it was asked."""

    asked = 0

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += 1
        return super().embed(texts)


EMBEDDER = CountingEmbedder()


@pytest.fixture(scope="module")
def deployment(server: TestServer) -> Iterator[Deployment]:
    settings = {"LARDER_SEARCH_CACHE_SECONDS": "60", "LARDER_SEARCH_CACHE_ROWS": "3"}
    deployment = Deployment(server, server.create(), settings)
    deployment.embedder = EMBEDDER
    deployment.outside = deployment.build("larder_app")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "outside", lambda: deployment.outside)
        yield deployment
    deployment.close()
    server.drop(deployment.database_name)


@pytest.fixture
def acme(deployment: Deployment) -> Tenant:
    return deployment.tenant(f"acme-{uuid4()}")


@pytest.fixture
def source(acme: Tenant) -> UUID:
    source = UUID(acme.add("https://kettle.example/")["id"])
    write_version(acme, source, 1, TEXT, datetime.now(UTC) - timedelta(days=2), None)
    return source


def ask(tenant: Tenant, query: str = "kettle", **more: Any) -> list[str]:
    answer = tenant.post("/v1/kb/search", {"query": query, **more})
    assert answer.status == 200, answer
    return [hit["text"] for hit in answer.json["hits"]]


def searches(call: Callable[[], Any]) -> int:
    """How many real searches by meaning a call made."""
    before = EMBEDDER.asked
    call()
    return EMBEDDER.asked - before


def test_the_same_question_is_searched_for_once_and_audited_twice(
    deployment: Deployment, acme: Tenant, source: UUID
) -> None:
    first = acme.post("/v1/kb/search", {"query": "kettle"}).json
    assert searches(lambda: ask(acme)) == 0
    second = acme.post("/v1/kb/search", {"query": "kettle"}).json
    assert [hit["text"] for hit in first["hits"]] == [TEXT]
    for hit in (*first["hits"], *second["hits"]):
        del hit["proof"]
    assert first == second
    with tables.superuser(deployment) as connection:
        audited = connection.execute("select count(*) from policy_evaluations where tenant_id = %s", (acme.id,))
        assert audited.fetchall() == [(3,)]


def test_another_question_another_reader_or_another_tenant_is_searched_for(
    deployment: Deployment, acme: Tenant, source: UUID
) -> None:
    ask(acme)
    for other in ({"query": "kettle "}, {"limit": 3}, {"mode": "vector"}, {"source_ids": [str(source)]}):
        assert searches(lambda other=other: ask(acme, **other)) == 1, other
    assert searches(lambda: acme.post("/v1/kb/search", {"query": "kettle", "purpose": "audit_review"})) == 1
    stranger = deployment.tenant(f"stranger-{uuid4()}")
    assert searches(lambda: ask(stranger)) == 1
    assert ask(stranger) == []


def test_every_write_of_the_tenant_ends_what_was_kept(deployment: Deployment, acme: Tenant, source: UUID) -> None:
    writes: dict[str, Callable[[], Any]] = {
        "a new source": lambda: acme.add("https://other.example/"),
        "a source's policy": lambda: acme.post(f"/v1/kb/sources/{source}/policy", {"sensitivity": "public"}),
        "a chunk": lambda: rows.sql(
            deployment, "update kb_chunks set text = 'A kettle.' where source_id = %s returning 1", source
        ),
        "a switch": lambda: acme.post(f"/v1/kb/sources/{source}/toggle", {"active": False}),
    }
    for name, write in writes.items():
        ask(acme)
        assert searches(lambda: ask(acme)) == 0
        write()
        assert searches(lambda: ask(acme)) == 1, name
    assert ask(acme) == []


def test_a_write_that_a_search_did_not_see_ends_it_though_it_commits_later(
    deployment: Deployment, acme: Tenant, source: UUID
) -> None:
    with tables.superuser(deployment) as connection, connection.transaction():
        connection.execute("update kb_chunks set text = 'The kettle is gone.' where source_id = %s", (source,))
        assert ask(acme) == [TEXT], "the write is not committed"
    assert ask(acme) == ["The kettle is gone."]


def test_another_tenants_write_ends_nothing(deployment: Deployment, acme: Tenant, source: UUID) -> None:
    stranger = deployment.tenant(f"stranger-{uuid4()}")
    ask(acme)
    stranger.add("https://else.example/")
    assert searches(lambda: ask(acme)) == 0


def test_what_may_no_longer_be_read_is_withheld_though_it_was_kept(
    deployment: Deployment, acme: Tenant, source: UUID
) -> None:
    now = datetime.now(UTC)
    with tables.superuser(deployment) as connection:
        connection.execute("update kb_sources set expires_at = %s where id = %s", (now + timedelta(seconds=30), source))
    who = replace(rows.principal(acme), firewall_mode="enforce")
    reading = enforcement.reading(deployment.outside, who, role=None, purpose=None, trace_id="t")
    question = Question("kettle", 10, "hybrid")
    assert len(search.search(deployment.outside, who, reading, question, now).hits) == 1
    asked = EMBEDDER.asked
    assert search.search(deployment.outside, who, reading, question, now + timedelta(seconds=31)).hits == []
    assert EMBEDDER.asked == asked, "it came from the cache, and its end had come"


def test_it_runs_out_holds_no_text_and_few_answers_and_is_swept(
    deployment: Deployment, acme: Tenant, source: UUID
) -> None:
    for number in range(6):
        ask(acme, f"kettle {number}")
    with tables.superuser(deployment) as connection:
        kept = connection.execute("select count(*) from search_cache where tenant_id = %s", (acme.id,)).fetchall()
        assert kept == [(3,)]
        connection.execute("update search_cache set expires_at = now() - interval '1 minute'")
        connection.execute("update search_writes set at = at - interval '2 hours'")
    assert searches(lambda: ask(acme, "kettle 1")) == 1
    with tables.superuser(deployment) as connection:
        connection.execute("update search_cache set expires_at = now() - interval '1 minute'")
    assert search_cache.sweep(deployment.worker, datetime.now(UTC))["searches"] >= 1
    with tables.superuser(deployment) as connection:
        assert connection.execute("select count(*) from search_cache").fetchall() == [(0,)]
        assert connection.execute("select count(*) from search_writes").fetchall() == [(0,)]


def test_readers_and_writers_at_once_never_see_an_old_text_after_a_write(
    deployment: Deployment, acme: Tenant, source: UUID
) -> None:
    """A writer counts up; whoever asks after a write was committed gets at least that number."""
    committed, done = [0], threading.Event()
    wrong: list[tuple[int, list[int]]] = []
    who = rows.principal(acme)

    def read() -> None:
        outside = deployment.build("larder_app")
        reading = enforcement.reading(outside, who, role=None, purpose=None, trace_id="t")
        while not done.is_set():
            least = committed[0]
            hits = search.search(outside, who, reading, Question("kettle", 5, "keyword"), datetime.now(UTC)).hits
            seen = [int(hit.candidate.text.split()[-1]) for hit in hits if hit.candidate.text.startswith("kettle ")]
            if seen and max(seen) < least:
                wrong.append((least, seen))

    with tables.superuser(deployment) as connection:
        connection.execute("update kb_chunks set text = 'kettle 0' where source_id = %s", (source,))
        reader = threading.Thread(target=read)
        reader.start()
        for number in range(1, 60):
            connection.execute("update kb_chunks set text = %s where source_id = %s", (f"kettle {number}", source))
            committed[0] = number
        done.set()
        reader.join()
    assert wrong == []
