"""Migrations from zero make the schema that is committed here, so a change of the schema is seen in review.

After a new migration write it anew: WRITE_SCHEMA=1 python -m pytest tests/integration/test_schema_snapshot.py
"""

from __future__ import annotations

import os
import re
import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest

from chalicelib.storage.migrate import migrate
from tests.postgres import TestServer

SNAPSHOT = Path(__file__).with_name("schema.sql")
VERSION = "18"  # of Postgres: another one tells the same schema in other words
ANEW = "WRITE_SCHEMA=1 python -m pytest tests/integration/test_schema_snapshot.py"

_NOISE = re.compile(r"--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*|")
"""Comments with versions in them, settings of the session, the random word around psql's restricted mode."""


@pytest.fixture(scope="module")
def from_zero(server: TestServer) -> str:
    """What pg_dump tells of a blank database after every migration."""
    if (server.data / "PG_VERSION").read_text().strip() != VERSION:
        pytest.skip(f"the snapshot was taken on Postgres {VERSION}")
    name = server.create_blank()
    migrate(server.url(name, "larder_owner"))
    command = [str(server.server.bin_path / "pg_dump"), "--schema-only", f"--dbname={server.url(name, 'postgres')}"]
    dumped = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    server.drop(name)
    return "\n".join(line for line in dumped.splitlines() if not _NOISE.fullmatch(line)) + "\n"


def test_migrations_from_zero_make_the_committed_schema(from_zero: str) -> None:
    if os.environ.get("WRITE_SCHEMA"):
        SNAPSHOT.write_text(from_zero, encoding="utf-8")
    committed = SNAPSHOT.read_text(encoding="utf-8")
    changed = "\n".join(
        unified_diff(committed.splitlines(), from_zero.splitlines(), "committed", "migrated", lineterm="")
    )
    assert not changed, f"{changed}\n\nIf the new schema is meant: {ANEW}"


def test_the_snapshot_tells_of_tables_policies_functions_and_grants(from_zero: str) -> None:
    for told in (
        "CREATE TABLE public.kb_sources (",
        "ALTER TABLE ONLY public.kb_sources FORCE ROW LEVEL SECURITY;",
        "CREATE POLICY own_tenant ON public.kb_sources ",
        "CREATE FUNCTION public.finish_refresh_v",
        "CREATE UNIQUE INDEX kb_events_one_open ",
        "GRANT SELECT,INSERT,UPDATE ON TABLE public.kb_sources TO larder_app;",
    ):
        assert told in from_zero
