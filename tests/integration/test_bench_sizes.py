"""What docs/scaling.md multiplies is measured, and on tables that are there."""

from __future__ import annotations

from bench.sizes import SCALE, fill, measure, read, report
from tests.tenants import Deployment


def test_every_table_of_the_sum_is_measured(deployment: Deployment) -> None:
    tenant = deployment.tenant(plan="scale").id
    fill(deployment, tenant, 8)
    read(deployment, tenant, 3)
    sizes = measure(deployment)
    assert sizes.keys() == SCALE.keys()
    current, historic = sizes["kb_chunks, current"], sizes["kb_chunks, historic"]
    assert current.table > 384 * 4, "a row holds its vector"
    assert current.indexes["kb_chunks_open_embedding"] > 384 * 4, "and so does the index over vectors"
    assert "kb_chunks_open_embedding" not in historic.indexes
    lines = list(report(sizes))
    assert lines[-1].startswith("all")
    assert all(any(line.startswith(name) for line in lines) for name in SCALE)
