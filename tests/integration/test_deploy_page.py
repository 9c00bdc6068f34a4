"""The SQL of docs/deploy.md, by psql, as somebody who is no superuser: then the migrations do the rest."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from chalicelib.storage.connection import Database
from chalicelib.storage.migrate import files, migrate
from infra import postgres
from infra.package import ROOT
from infra.postgres import Postgres

PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


@pytest.fixture
def fresh_server() -> Iterator[Postgres]:
    """A server with no role but the superuser and an administrator as RDS has, who may make no extension here."""
    folder = Path(tempfile.mkdtemp(prefix="larder-test-page-"))
    server = postgres.start(folder / "data")
    try:
        with psycopg.connect(server.url("postgres", "template1"), autocommit=True) as connection:
            connection.execute("create extension vector")
            connection.execute("create role admin login createdb createrole")
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


def test_the_sql_of_the_page_prepares_a_database(fresh_server: Postgres) -> None:
    [block] = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    psql = Path(psutil.Process(fresh_server.process.pid).exe()).with_name("psql")
    subprocess.run(
        [psql, fresh_server.url("admin", "postgres"), "--quiet", "--set", "ON_ERROR_STOP=1"],
        input=block.encode(),
        check=True,
        timeout=60,
    )
    assert migrate(fresh_server.url(postgres.OWNER)) == [migration.name for migration in files()]
    with psycopg.connect(fresh_server.url("postgres"), autocommit=True) as connection:
        logins = connection.execute(
            "select a.rolname, a.rolpassword is not null, r.rolconfig is not null from pg_authid a"
            " join pg_roles r using (rolname) where a.rolname ^@ 'larder' and a.rolcanlogin order by 1"
        ).fetchall()
    assert logins == [("larder_app", True, True), ("larder_owner", True, False), ("larder_worker", True, True)]
    for role in (postgres.APP, postgres.WORKER):
        database = Database(fresh_server.url(role))
        with database.transaction() as tx:
            assert tx.value("doctor.version")
        database.close()
