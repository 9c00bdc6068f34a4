"""The ingest log is kept as long as it must be and no longer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from chalicelib.services import ingest_log, scheduling
from chalicelib.storage.queries import query
from tests.integration import rows
from tests.tenants import Deployment, Tenant


@pytest.fixture
def acme(deployment: Deployment) -> Tenant:
    return deployment.tenant("acme")


KINDS = {  # outcome, redactions: days that it is kept
    ("admit", 0): 30,
    ("admit", 1): 365,
    ("admit_unscanned", 0): 365,
    ("refuse", 0): 365,
    ("quarantine", 0): 365,
}


def log(deployment: Deployment, tenant: Tenant, days: float, outcome: str = "admit", redactions: int = 0) -> None:
    at = datetime.now(UTC) - timedelta(days=days)
    statement = "insert into ingest_log (tenant_id, at, deposit, outcome, redactions) values (%s, %s, 'note', %s, %s)"
    rows.sql(deployment, statement, tenant.id, at, outcome, redactions)


def left(deployment: Deployment) -> int:
    return int(rows.sql(deployment, "select count(*) from ingest_log")[0]["count"])


@pytest.mark.parametrize(("outcome", "redactions"), KINDS)
def test_a_row_goes_when_its_time_has_come_and_not_before(
    deployment: Deployment, acme: Tenant, outcome: str, redactions: int
) -> None:
    kept = KINDS[outcome, redactions]
    for tenant in (acme, deployment.tenant("other")):
        log(deployment, tenant, kept - 0.1, outcome, redactions)
        log(deployment, tenant, kept + 0.1, outcome, redactions)
    assert ingest_log.retain(deployment.worker, now=datetime.now(UTC)) == 2
    assert ingest_log.retain(deployment.worker, now=datetime.now(UTC)) == 0
    assert left(deployment) == 2


def test_the_tick_drops_a_part_of_many_and_the_next_hours_the_rest(
    deployment: Deployment, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(10):
        log(deployment, acme, 31)
    monkeypatch.setattr(ingest_log, "ROWS_A_BATCH", 3)
    monkeypatch.setattr(ingest_log, "BATCHES_A_TICK", 2)
    hour = datetime.now(UTC).replace(minute=scheduling.HOUSEKEEPING_MINUTE)
    counts = []
    for _ in range(3):
        scheduling.tick(deployment.worker, now=hour)
        counts.append(left(deployment))
    assert counts == [4, 0, 0]


def test_the_worker_can_drop_nothing_that_must_be_kept(deployment: Deployment, acme: Tenant) -> None:
    for outcome, redactions in KINDS:
        log(deployment, acme, 29, outcome, redactions)
    assert ingest_log.retain(deployment.worker, now=datetime.now(UTC) + timedelta(days=1000)) == 0
    assert left(deployment) == len(KINDS)


@pytest.mark.parametrize("name", ["drop_admitted", "drop_rest"])
def test_what_is_due_is_found_by_an_index(deployment: Deployment, acme: Tenant, name: str) -> None:
    rows.sql(
        deployment,
        "insert into ingest_log (tenant_id, at, deposit, outcome) select %s, now() - n * interval '1 minute', 'note', "
        "case when n %% 10 = 0 then 'refuse' else 'admit' end from generate_series(1, 20000) n",
        acme.id,
    )
    rows.sql(deployment, "analyze ingest_log")
    due = {"before": datetime.now(UTC) - timedelta(days=13), "limit": 100}
    with psycopg.connect(deployment.server.url(deployment.database_name, "larder_worker")) as connection:
        found = connection.execute(f"explain {query(f'ingest_log.{name}')}".encode(), due).fetchall()
    plan = "\n".join(str(row) for row in found)
    assert f"using ingest_log_{name.removeprefix('drop_')}" in plan, plan
