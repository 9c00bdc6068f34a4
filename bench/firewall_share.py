"""What the firewall adds to a search of 50 hits, with the same search without a firewall beside it, in one run.

The same code answers each question in four ways, one after the other: without any firewall (the statement brings no
policy, nothing is judged, written or signed), with the policies that the statement brings, with every hit judged and
written down besides, and as it is, with a proof for each hit. The service is called directly, and over HTTP through the
app's local handler. Then once more where commits wait for the disk: what only reads has nothing to wait for.
"""

from __future__ import annotations

import json
import re
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any
from unittest.mock import patch

from chalice.config import Config
from chalice.local import LocalGateway
from pydantic import create_model

from bench.firewall_tenant import Filled, filled
from chalicelib import bootstrap
from chalicelib.api import search as api
from chalicelib.api.resource import Output
from chalicelib.domain.policy import Policy
from chalicelib.services import enforcement, search
from chalicelib.services.enforcement import Served
from chalicelib.services.proofs import Clerk
from chalicelib.services.tokens import Principal
from chalicelib.storage import connection, queries
from chalicelib.telemetry import logger

HITS = 50
TURNS = 4  # as many as there are ways, so that each is the first once
BOUND = 0.10  # of a search (spec 2.2)
WAYS = {
    "absent": "no firewall",
    "policies": "policies in the SELECT",
    "decisions": "and evaluation, audit",
    "whole": "and proofs",
}

Ask = Callable[[str], None]
Times = dict[str, list[float]]


def bounds(chunks: int, runs: int) -> list[tuple[str, bool]]:
    """Print every share; evaluation and audit must stay below a tenth of a search, where no disk is waited for."""
    logger.setLevel("ERROR")
    found = []
    with filled(chunks) as tenant, patch.object(bootstrap, "outside", lambda: tenant.deployment.outside):
        for name, ask in (("service", _service(tenant)), ("HTTP", _http(tenant))):
            print(f"search of {HITS} hits among {chunks} chunks, {name}, median of {runs} questions:")
            times = _interleaved(ask, tenant.queries, runs)
            _tell(times)
            added = _added(times["decisions"], times["policies"], times["absent"])
            proven = _added(times["whole"], times["policies"], times["absent"])
            print(f"  evaluation and audit {added:+.3f}, with proofs {proven:+.3f}")
            found.append((f"evaluation and audit add less than {BOUND:.0%} ({name})", added < BOUND))
        tenant.wait_for_disk()
        print("the same, service, where commits wait for the disk:")
        _tell(_interleaved(_service(tenant), tenant.queries, runs))
    return found


def _tell(times: Times) -> None:
    for way, name in WAYS.items():
        share = _added(times[way], times["absent"], times["absent"])
        print(f"  {name:23} {statistics.median(times[way]) * 1000:7.2f} ms  {share:+.3f}")


def _added(times: list[float], without: list[float], absent: list[float]) -> float:
    """The median of what a question took longer, as a share of its own time without a firewall."""
    return statistics.median((a - b) / c for a, b, c in zip(times, without, absent, strict=True))


def _interleaved(ask: Ask, queries: list[str], runs: int) -> Times:
    """Seconds by way, one a question: the quickest of a few turns, for a shared machine slows down and recovers.

    In each turn the question is asked in every way; another way is the first each time.
    """
    ways = list(WAYS)
    times: Times = {way: [] for way in ways}
    for run in range(-5, runs):  # the first ones warm caches, of the interpreter and of the database
        turns = [_turn(ask, queries[run % len(queries)], ways[turn:] + ways[:turn]) for turn in range(TURNS)]
        for way in ways if run >= 0 else []:
            times[way].append(min(turn[way] for turn in turns))
    return times


def _turn(ask: Ask, query: str, ways: list[str]) -> dict[str, float]:
    taken = {}
    for way in ways:
        with _patched(way):
            begin = time.perf_counter()
            ask(query)
            taken[way] = time.perf_counter() - begin
    return taken


def _service(tenant: Filled) -> Ask:
    outside = tenant.deployment.outside
    who = Principal(tenant.tenant.id, tenant.tenant.id, True)

    def ask(query: str) -> None:
        reading = enforcement.reading(outside, who, role=None, purpose=None, trace_id="bench-0123456789")
        found = search.search(outside, who, reading, search.Question(query, HITS, "hybrid"), datetime.now(UTC))
        assert (len(found.hits), found.degraded) == (HITS, None)

    return ask


def _http(tenant: Filled) -> Ask:
    from app import app

    gateway = LocalGateway(app, Config.create(chalice_app=app))
    headers = {"Authorization": f"Bearer {tenant.tenant.api_token}", "Content-Type": "application/json"}

    def ask(query: str) -> None:
        body = json.dumps({"query": query, "limit": HITS}).encode()
        answer = gateway.handle_request("POST", "/v1/kb/search", headers, body)
        assert (answer["statusCode"], answer["body"].count('"source_name"')) == (200, HITS)

    return ask


@contextmanager
def _patched(way: str) -> Iterator[None]:
    """The code as it would be, were there less of a firewall."""
    with ExitStack() as stack:

        def put(holder: Any, **names: Any) -> None:
            for name, value in names.items():
                stack.enter_context(patch.object(holder, name, value))

        if way != "whole":
            put(Clerk, proof=lambda *_: None)
            put(api, _shown=_bare, SearchOut=BareOut)
        if way in ("absent", "policies"):
            put(enforcement, admit=_everything, too_few=lambda *_: False)
        if way == "absent":
            put(enforcement, policy_of=lambda _: NO_POLICY)
            put(connection, query=_without_policies)
        yield


def _everything(
    outside: Any, tx: Any, reading: Any, rows: Any, *, wanted: int | None, now: datetime, room: Any = None
) -> list[Any]:
    return [Served(row, NO_PROOF, None) for row in rows[:wanted]]


NO_POLICY = Policy("")
NO_PROOF: Any = None
FIREWALL_FIELDS = {"policy_warning", "proof"}
BareHit: Any = create_model(
    "BareHit",
    __base__=Output,
    **{name: field.annotation for name, field in api.HitOut.model_fields.items() if name not in FIREWALL_FIELDS},
)
BareOut: Any = create_model("BareOut", __base__=Output, hits=list[BareHit], degraded=str | None)


def _bare(hit: search.Hit) -> Any:
    return BareHit(**{name: getattr(hit.candidate, name) for name in BareHit.model_fields})


@cache
def _without_policies(name: str) -> str:
    text = queries.query(name)
    if name == "search.current":
        text, columns = re.subn(r",\s+s\.tenant_id, s\.sensitivity.*?p\.validation_status", "", text, flags=re.S)
        text, join = re.subn(r"\s+left join chunk_policies p .*", "", text)
        text, title = re.subn(r"case when not exists \(select from chunk_policies.*? end as", "v.title as", text)
        assert (columns, join, title) == (1, 1, 1), "the statement is no longer what this benchmark cuts"
    return text
