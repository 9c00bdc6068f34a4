"""Migrations go forward, once, and refuse what they don't know."""

from __future__ import annotations

import threading
from uuid import uuid4

import psycopg
import pytest

from chalicelib.storage import migrate as runner
from tests.postgres import TestServer


def test_migrating_twice_applies_nothing_the_second_time(server: TestServer) -> None:
    url = server.url(server.create_blank(), "larder_owner")
    assert runner.migrate(url) == [m.name for m in runner.files()]
    assert runner.migrate(url) == []
    assert runner.pending(url) == []


def test_four_processes_migrate_one_blank_database_once(server: TestServer) -> None:
    url = server.url(server.create_blank(), "larder_owner")
    applied: list[list[str]] = []
    threads = [threading.Thread(target=lambda: applied.append(runner.migrate(url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(len, applied)) == [0, 0, 0, len(runner.files())]


def test_an_edited_migration_is_refused(server: TestServer, database: str) -> None:
    url = server.url(database, "larder_owner")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("update schema_migrations set checksum = 'x' where number = 1")
    with pytest.raises(runner.MigrationError, match="0001_roles was changed"):
        runner.migrate(url)


def test_code_older_than_the_schema_is_refused(server: TestServer, database: str) -> None:
    url = server.url(database, "larder_owner")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("insert into schema_migrations values (9999, 'later', 'x')")
    with pytest.raises(runner.MigrationError, match="9999"):
        runner.migrate(url)


def test_what_was_consolidated_before_an_acceptance_counted_as_asked_is_put_in_order(
    server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = server.create_blank()
    url, files = server.url(name, "larder_owner"), runner.files()
    [first] = [place for place, one in enumerate(files) if one.name.endswith("_consolidation_kept")]
    with monkeypatch.context() as patch:
        patch.setattr(runner, "files", lambda: files[:first])
        runner.migrate(url)
    tenant, source = uuid4(), uuid4()
    ids = {what: uuid4() for what in ("holds", "again", "ended", "other pair")}
    with psycopg.connect(server.url(name, "postgres"), autocommit=True) as connection:
        connection.execute("set session_replication_role = replica")
        for what, pair, state in (
            ("holds", "a", "accepted"),
            ("again", "a", "open"),
            ("ended", "b", "accepted"),
            ("other pair", "c", "rejected"),
        ):
            connection.execute(
                "insert into consolidation_proposals (id, tenant_id, kind, state, pair, similarity, kept_source_id,"
                " kept_hash, kept_chunk_id, other_source_id, other_hash, other_chunk_id, policy_digest, created_at)"
                " values (%s, %s, 'extractive', %s, %s, 1, %s, 'k', %s, %s, %s, %s, '', now())",
                (ids[what], tenant, state, pair, source, source, source, what, source),
            )
        connection.execute(
            "insert into superseded_chunks (tenant_id, source_id, content_hash, kept_source_id, kept_chunk_id,"
            " proposal_id, period) values (%s, %s, 'o', %s, %s, %s, tstzrange(now(), null))",
            (tenant, source, source, source, ids["holds"]),
        )
        for deposit in ("consolidated", "note"):
            connection.execute(
                "insert into quarantine (tenant_id, deposit, gate, reason, title, text, created_at)"
                " values (%s, %s, 'deny_patterns', 'deny_pattern', 't', 'text', now())",
                (tenant, deposit),
            )
        assert runner.migrate(url) == [one.name for one in files[first:]]
        found = connection.execute("select id, state from consolidation_proposals").fetchall()
        states = {"holds": "accepted", "again": "lapsed", "ended": "lapsed", "other pair": "rejected"}
        assert dict(found) == {ids[what]: state for what, state in states.items()}
        held = connection.execute("select deposit, state, text from quarantine order by 1").fetchall()
        assert held == [("consolidated", "dropped", "[dropped]"), ("note", "held", "text")]
