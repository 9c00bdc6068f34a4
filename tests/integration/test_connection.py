"""A process's one connection: it may die at any time, and no work is done twice or lost without a word."""

from __future__ import annotations

import psycopg
import pytest

from chalicelib.storage.connection import Database
from tests.integration import rows
from tests.tenants import Deployment


def end_connections(deployment: Deployment) -> None:
    """As a failover does with every connection but the test's own."""
    query = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'larder'"
    assert rows.sql(deployment, f"{query} and datname = current_database()")


def who(database: Database) -> int:
    with database.transaction() as tx:
        return int(tx._connection.info.backend_pid)


def test_an_idle_connection_that_died_is_replaced_unseen(deployment: Deployment) -> None:
    database = deployment.outside.database
    before = who(database)
    assert who(database) == before, "it is kept"
    end_connections(deployment)
    assert who(database) != before


def test_a_connection_that_dies_in_a_transaction_fails_it_and_the_next_has_a_new_one(deployment: Deployment) -> None:
    database, done = deployment.outside.database, list[int]()

    def work() -> None:
        with database.transaction() as tx:
            done.append(tx._connection.info.backend_pid)
            end_connections(deployment)
            tx._connection.execute("select 1")

    with pytest.raises(psycopg.OperationalError):
        work()
    assert len(done) == 1, "what was begun is not begun again"
    assert who(database) not in done


def test_an_exception_undoes_the_transaction_and_keeps_the_connection(deployment: Deployment) -> None:
    tenant, database = deployment.tenant(), deployment.owner
    before = who(database)

    def work() -> None:
        with database.transaction(tenant.id) as tx:
            tx._connection.execute("update tenants set name = 'other' where id = %s", (tenant.id,))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert rows.sql(deployment, "select name from tenants") == [{"name": tenant.name}]
    assert who(database) == before


def test_a_database_that_is_not_there_is_told(deployment: Deployment) -> None:
    database = Database(deployment.server.url("nobody_made_this", "larder_app"))
    with pytest.raises(psycopg.OperationalError), database.transaction():
        raise AssertionError("not reached")
