"""The record of decisions at full size: ``python -m bench.audit [--readers N] [--recalls N] [--rows N …]``.

Many readers at once, each on a connection of its own, then the count of what they wrote and the walk of its chain; and
the CSV export by the command, in a process of its own, with the most memory that it ever had. Exits with 1 if a row is
missing or too much, if the chain does not verify, or if memory grows with the rows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from uuid import UUID, uuid4

from bench.firewall_tenant import fill
from chalicelib.domain.evaluation import ALLOW, Request
from chalicelib.domain.firewall_mode import Mode
from chalicelib.services import enforcement, evaluations, search
from chalicelib.services.proofs import Clerk
from chalicelib.services.tokens import Principal
from chalicelib.storage.evaluations import append
from chalicelib.telemetry import logger
from tests import postgres
from tests.api.live_app import serving_app
from tests.integration.rows import sql
from tests.tenants import Deployment, Tenant

HITS = 50
BATCH = 50
GROWTH = 1.1  # of the most memory, from the shortest export to the longest
COMMAND = """
import atexit, re, runpy, sys
from pathlib import Path
def tell():
    peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())
    sys.stderr.write(peak[1])
atexit.register(tell)
runpy.run_module("chalicelib.cli", run_name="__main__", alter_sys=True)
"""
"""Runs the command and says last how much memory it had at most, in kB: a parent's own counts in what wait4 tells."""


def main() -> int:
    """Run both, print what was seen, and say whether it is as it must be."""
    parser = argparse.ArgumentParser(description="The record of decisions at full size.")
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("--recalls", type=int, default=200, help="of each reader")
    parser.add_argument("--chunks", type=int, default=1000, help="of the tenant that is read")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000], help="of each export")
    arguments = parser.parse_args()
    logger.setLevel("ERROR")
    postgres.agree_on_data_folder()
    server = postgres.TestServer()
    try:
        deployment = Deployment(server, server.create())
        whole = readers(deployment, arguments.readers, arguments.recalls, arguments.chunks)
        constant = exports(deployment, arguments.rows)
        deployment.close()
    finally:
        postgres.stop_server()
    return 0 if whole and constant else 1


def readers(deployment: Deployment, count: int, recalls: int, chunks: int) -> bool:
    """Everybody reads at once; whether exactly their decisions are there, in a chain that verifies."""
    tenant = deployment.tenant("read")
    queries = fill(deployment, tenant.id, chunks)
    who = Principal(tenant.id, tenant.id, True)

    def read(number: int) -> int:
        outside, served = deployment.build("larder_app"), 0
        reading = enforcement.reading(outside, who, role=None, purpose=None, trace_id=f"reader-{number}")
        for turn in range(recalls):
            question = search.Question(queries[(number + turn) % len(queries)], HITS, "hybrid")
            served += len(search.search(outside, who, reading, question, datetime.now(UTC)).hits)
        outside.database.close()
        return served

    begin = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        served = sum(pool.map(read, range(count)))
    read_in = time.perf_counter() - begin
    begin = time.perf_counter()
    found = evaluations.verify(deployment.outside, who)
    print(f"{count} readers x {recalls} recalls: {served} hits served in {read_in:.1f} s")
    print(f"  {found.rows} rows in {found.segments} segments, verified in {time.perf_counter() - begin:.1f} s")
    print(f"  faults: {found.faults or 'none'}")
    return found.rows == served == _rows(deployment, tenant) and not found.faults


def exports(deployment: Deployment, sizes: list[int]) -> bool:
    """The command exports each size; whether all rows came, and memory did not grow with them."""
    peaks = []
    with serving_app(deployment) as url:
        for size in sizes:
            tenant = deployment.tenant(f"export-{size}")
            write(deployment, tenant.id, size)
            begin = time.perf_counter()
            lines, octets, peak = export(url, tenant)
            taken = time.perf_counter() - begin
            print(
                f"export of {size} rows: {lines} lines, {octets / 1e6:.1f} MB, {taken:.1f} s, peak {peak / 1e3:.1f} MB"
            )
            if lines != size + 1:
                return False
            peaks.append(peak)
    print(f"  the longest took {max(peaks) / min(peaks):.2f} times the memory of the shortest")
    return max(peaks) <= GROWTH * min(peaks)


def export(url: str, tenant: Tenant) -> tuple[int, int, int]:
    """Lines, bytes, and the process's most memory in kB."""
    environment = {
        "PATH": os.environ["PATH"],
        "LARDER_URL": url,
        "LARDER_TOKEN": tenant.api_token,
        "LARDER_ADMIN_TOKEN": tenant.admin_token,
    }
    command = [sys.executable, "-c", COMMAND, "firewall", "evaluations", "--csv"]
    with tempfile.TemporaryFile() as file:
        done = subprocess.run(command, env=environment, stdout=file, stderr=subprocess.PIPE, cwd=Path.cwd(), check=True)
        file.seek(0)
        lines = sum(line.endswith(b"\r\n") for line in file)
        return lines, file.tell(), int(done.stderr.split()[-1])


def write(deployment: Deployment, tenant: UUID, count: int) -> None:
    """So many decisions, as the firewall writes them."""
    request, digest = Request(str(tenant), "reader", "operational"), sha256(b"policy").hexdigest()
    for _ in range(count // BATCH):
        now = datetime.now(UTC)
        form = Clerk(deployment.outside.keys, request, Mode.ADVISORY, "bench", now).form(ALLOW)
        ids = [(str(uuid4()), str(uuid4())) for _ in range(BATCH)]
        entries = [(*pair, 1, ALLOW.code, ALLOW.reason, digest, form.record(*pair, 1, digest)) for pair in ids]
        with deployment.outside.database.transaction(tenant) as tx:
            append(tx, request, Mode.ADVISORY, "bench", "allow", entries, now)


def _rows(deployment: Deployment, tenant: Tenant) -> int:
    [row] = sql(deployment, "select count(*) from policy_evaluations where tenant_id = %s", tenant.id)
    return int(row["count"])


if __name__ == "__main__":
    sys.exit(main())
