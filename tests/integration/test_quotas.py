"""The plan's limit of sources and the hour's limit of mutations are exact, however many replicas ask at once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from chalicelib.errors import Problem, QuotaExceeded, RateLimited
from chalicelib.services import approvals, quotas, sources, tenant_settings, work
from chalicelib.services.outside import Outside
from chalicelib.services.sources import Wanted
from chalicelib.services.tokens import Principal
from tests.postgres import TestServer
from tests.tenants import Deployment, Tenant

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def house(server: TestServer) -> Iterator[Deployment]:
    """One deployment for the module, with the limit of mutations that deployments have by default."""
    deployment = Deployment(server, server.create(), {"KB_MUTATIONS_PER_HOUR": "10"})
    yield deployment
    deployment.close()
    server.drop(deployment.database_name)


@pytest.fixture
def free(house: Deployment) -> Tenant:
    """A tenant of the smallest plan, 25 sources, that may change as much as it likes."""
    tenant = house.tenant(f"free-{uuid4()}", plan="free")
    execute(house, "update tenants set mutations_per_hour = 100000 where id = %s", tenant.id)
    return tenant


@pytest.fixture
def busy(house: Deployment) -> Tenant:
    """A tenant with the default limit of mutations."""
    return house.tenant(f"busy-{uuid4()}", plan="team")


def who(tenant: Tenant) -> Principal:
    return Principal(tenant.id, uuid4(), tenant_enabled=True, admin_token_id=uuid4())


def execute(house: Deployment, statement: str, *values: Any) -> list[Any]:
    with psycopg.connect(house.server.url(house.database_name, "postgres"), autocommit=True) as connection:
        cursor = connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def add(house: Deployment, tenant: Tenant, name: object, now: datetime = NOW) -> UUID:
    done, _ = sources.upsert(house.outside, who(tenant), Wanted(f"https://{name}.example/"), now)
    return done.source.id


def fill(house: Deployment, tenant: Tenant, count: int, *, active: bool = True) -> list[UUID]:
    """So many sources, without asking the quota."""
    made = execute(
        house,
        "insert into kb_sources (tenant_id, uri, name, active, created_at, updated_at) "
        "select %s, 'https://' || gen_random_uuid() || '.example/', 'x', %s, now(), now() "
        "from generate_series(1, %s) returning id",
        tenant.id,
        active,
        count,
    )
    return [ident for (ident,) in made]


def active(house: Deployment, tenant: Tenant) -> int:
    ((count,),) = execute(house, "select count(*) from kb_sources where tenant_id = %s and active", tenant.id)
    return int(count)


def used(house: Deployment, tenant: Tenant) -> int:
    rows = execute(house, "select used from mutation_windows where tenant_id = %s", tenant.id)
    return int(rows[0][0]) if rows else 0


def together(house: Deployment, call: Callable[[Outside, int], object], callers: int = 16) -> Counter[str]:
    """Everybody calls at the same instant, each on a connection of its own; how it ended, by name."""
    start = threading.Barrier(callers, timeout=30)

    def run(number: int) -> str:
        outside = house.build("larder_app")
        try:
            with outside.database.transaction():
                pass
            start.wait()
            call(outside, number)
        except Problem as problem:
            return type(problem).__name__
        finally:
            outside.database.close()
        return "done"

    with ThreadPoolExecutor(callers) as pool:
        return Counter(pool.map(run, range(callers)))


# --- Sources a plan ---


def test_sixteen_creates_at_once_stop_exactly_at_the_plans_limit(house: Deployment, free: Tenant) -> None:
    fill(house, free, 20)
    ended = together(
        house, lambda outside, number: sources.upsert(outside, who(free), Wanted(f"https://{number}.example/"), NOW)
    )
    assert ended == {"done": 5, "QuotaExceeded": 11}
    assert active(house, free) == 25
    assert used(house, free) == 5, "what was refused is not counted as a mutation"


def test_switching_on_is_held_to_the_limit_like_adding(house: Deployment, free: Tenant) -> None:
    fill(house, free, 20)
    asleep = fill(house, free, 8, active=False)

    def call(outside: Outside, number: int) -> None:
        if number % 2:
            sources.set_active(outside, who(free), asleep[number // 2], True, NOW)
        else:
            sources.upsert(outside, who(free), Wanted(f"https://{number}.example/"), NOW)

    assert together(house, call) == {"done": 5, "QuotaExceeded": 11}
    assert active(house, free) == 25


def test_the_refusal_tells_metric_limit_and_use(house: Deployment, free: Tenant) -> None:
    fill(house, free, 25)
    with pytest.raises(QuotaExceeded) as refused:
        add(house, free, "one-more")
    assert refused.value.status == 402
    assert refused.value.extra == {"metric": "kb_sources", "limit": 25, "used": 25}


def test_at_the_limit_known_sources_are_updated_and_switched_off(house: Deployment, free: Tenant) -> None:
    known = add(house, free, "known")
    (asleep,) = fill(house, free, 1, active=False)
    fill(house, free, 24)
    done, _ = sources.upsert(house.outside, who(free), Wanted("https://known.example/", name="New"), NOW)
    assert (done.created, done.source.name) == (False, "New")
    assert sources.set_active(house.outside, who(free), known, True, NOW)[0].active is True
    with pytest.raises(QuotaExceeded):
        sources.set_active(house.outside, who(free), asleep, None, NOW)
    sources.set_active(house.outside, who(free), known, False, NOW)
    assert sources.set_active(house.outside, who(free), asleep, None, NOW)[0].active is True


def test_a_batch_takes_what_still_fits(house: Deployment, free: Tenant) -> None:
    fill(house, free, 20)
    wanted = [Wanted(f"https://{number}.example/") for number in range(10)]
    results, _ = sources.upsert_many(house.outside, who(free), wanted, NOW)
    assert [isinstance(result, QuotaExceeded) for result in results] == [False] * 5 + [True] * 5
    assert active(house, free) == 25


def test_two_batches_at_once_stop_exactly_at_the_limit_too(house: Deployment, free: Tenant) -> None:
    def call(outside: Outside, number: int) -> None:
        wanted = [Wanted(f"https://{number}-{item}.example/") for item in range(10)]
        sources.upsert_many(outside, who(free), wanted, NOW)

    assert together(house, call, 4) == {"done": 4}
    assert active(house, free) == 25


def test_a_tenant_above_a_smaller_plan_keeps_what_it_has_and_adds_nothing(house: Deployment, free: Tenant) -> None:
    fill(house, free, 30)
    with pytest.raises(QuotaExceeded) as refused:
        add(house, free, "one-more")
    assert refused.value.extra["used"] == 30
    assert active(house, free) == 30


@pytest.mark.parametrize(("plan", "limit"), [("free", 25), ("team", 500), ("scale", 10_000)])
def test_each_plan_has_its_limit(plan: str, limit: int, house: Deployment) -> None:
    tenant = house.tenant(f"{plan}-{uuid4()}", plan=plan)
    fill(house, tenant, limit - 1)
    add(house, tenant, "last")
    with pytest.raises(QuotaExceeded) as refused:
        add(house, tenant, "one-more")
    assert refused.value.extra == {"metric": "kb_sources", "limit": limit, "used": limit}


def test_another_tenants_sources_are_not_counted(house: Deployment, free: Tenant, busy: Tenant) -> None:
    fill(house, busy, 40)
    add(house, free, "first")


def test_a_quota_that_cannot_be_read_lets_nothing_through(house: Deployment, free: Tenant) -> None:
    (asleep,) = fill(house, free, 1, active=False)
    execute(house, "revoke select on plans from larder_app")
    try:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            add(house, free, "unchecked")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            sources.set_active(house.outside, who(free), asleep, True, NOW)
    finally:
        execute(house, "grant select on plans to larder_app")
    assert (active(house, free), used(house, free)) == (0, 0)


# --- Mutations an hour ---


def test_sixteen_mutations_at_once_stop_exactly_at_the_limit(house: Deployment, busy: Tenant) -> None:
    ended = together(
        house, lambda outside, number: sources.upsert(outside, who(busy), Wanted(f"https://{number}.example/"), NOW)
    )
    assert ended == {"done": 10, "RateLimited": 6}
    assert (active(house, busy), used(house, busy)) == (10, 10)


def test_every_kind_of_mutation_shares_the_limit(house: Deployment, busy: Tenant) -> None:
    source = add(house, busy, "a")
    event, _ = approvals.queue(house.outside, who(busy), source, "now", correlation_id=None, now=NOW)
    work.cancel(house.outside, who(busy), event.event.id, NOW)
    for number in range(6):
        tenant_settings.update(house.outside, who(busy), tenant_settings.Changes(nightly_job_cap=number + 1), NOW)
    _, last = sources.set_active(house.outside, who(busy), source, False, NOW)
    assert last.remaining == 0
    for refused in (
        lambda: tenant_settings.update(house.outside, who(busy), tenant_settings.Changes(), NOW),
        lambda: sources.set_active(house.outside, who(busy), source, True, NOW),
        lambda: sources.upsert_many(house.outside, who(busy), [Wanted("https://b.example/")], NOW),
    ):
        with pytest.raises(RateLimited):
            refused()


def test_what_is_refused_for_another_reason_is_not_counted(house: Deployment, busy: Tenant) -> None:
    source = add(house, busy, "a")
    sources.set_active(house.outside, who(busy), source, False, NOW)

    def call(outside: Outside, number: int) -> None:
        match number % 4:
            case 0:
                sources.upsert(outside, who(busy), Wanted(f"https://{number}.example/"), NOW)
            case 1:
                approvals.queue(outside, who(busy), source, "now", correlation_id=None, now=NOW)
            case 2:
                sources.set_active(outside, who(busy), uuid4(), True, NOW)
            case 3:
                sources.upsert(outside, who(busy), Wanted("http://127.0.0.1/"), NOW)

    ended = together(house, call, 32)
    # Eight adds fit beside the two before: a refusal that held a place for a moment gave it back.
    assert (ended["done"], ended["Invalid"]) == (8, 8)
    assert ended["Conflict"] + ended["NotFound"] + ended["RateLimited"] == 16
    assert used(house, busy) == 10


def test_a_refusal_by_the_limit_is_not_counted_either(house: Deployment, busy: Tenant) -> None:
    for number in range(10):
        add(house, busy, number)
    for _ in range(5):
        with pytest.raises(RateLimited):
            add(house, busy, "more")
    assert used(house, busy) == 10


def test_the_window_begins_with_the_first_mutation_and_ends_an_hour_later(house: Deployment, busy: Tenant) -> None:
    begin = NOW.replace(minute=47, second=11, microsecond=5)
    for number in range(10):
        add(house, busy, number, begin + timedelta(minutes=number))
    with pytest.raises(RateLimited) as refused:
        add(house, busy, "more", begin + HOUR - timedelta(microseconds=1))
    assert refused.value.extra["retry_after"] == 1
    for number in range(10, 20):
        add(house, busy, number, begin + HOUR)
    with pytest.raises(RateLimited):
        add(house, busy, "more", begin + HOUR)


def test_a_window_that_a_fast_clock_began_tomorrow_is_over(house: Deployment, busy: Tenant) -> None:
    for number in range(10):
        add(house, busy, number, NOW + timedelta(days=1))
    for number in range(10, 20):
        add(house, busy, number, NOW)
    with pytest.raises(RateLimited) as refused:
        add(house, busy, "more", NOW)
    assert refused.value.extra["retry_after"] == 3600


@pytest.mark.parametrize(
    ("after", "wait"),
    [
        (timedelta(0), 3600),
        (timedelta(seconds=0.1), 3600),
        (timedelta(seconds=1), 3599),
        (timedelta(seconds=3599.5), 1),
    ],
)
def test_retry_after_reaches_the_end_of_the_window(
    after: timedelta, wait: int, house: Deployment, busy: Tenant
) -> None:
    for number in range(10):
        add(house, busy, number)
    with pytest.raises(RateLimited) as refused:
        add(house, busy, "more", NOW + after)
    assert refused.value.headers["Retry-After"] == str(wait)
    assert refused.value.extra["limit"] == 10
    assert NOW + after + timedelta(seconds=wait) >= NOW + HOUR, "who waits that long is served"
    add(house, busy, "later", NOW + after + timedelta(seconds=wait))


def test_sixteen_callers_in_a_new_hour_share_one_new_window(house: Deployment, busy: Tenant) -> None:
    for number in range(10):
        add(house, busy, number)
    later = NOW + HOUR
    ended = together(
        house, lambda outside, number: sources.upsert(outside, who(busy), Wanted(f"https://x{number}.example/"), later)
    )
    assert ended == {"done": 10, "RateLimited": 6}


def test_a_tenant_may_have_a_limit_of_its_own(house: Deployment, busy: Tenant) -> None:
    execute(house, "update tenants set mutations_per_hour = 2 where id = %s", busy.id)
    add(house, busy, "a")
    add(house, busy, "b")
    with pytest.raises(RateLimited) as refused:
        add(house, busy, "c")
    assert refused.value.extra["limit"] == 2


def test_tenants_do_not_share_a_window(house: Deployment, busy: Tenant) -> None:
    for number in range(10):
        add(house, busy, number)
    add(house, house.tenant(f"calm-{uuid4()}"), "a")


def test_the_headers_follow_the_draft(house: Deployment) -> None:
    assert quotas.Allowance(10, 3, 1800).headers() == {
        "RateLimit-Policy": '"mutations";q=10;w=3600',
        "RateLimit": '"mutations";r=3;t=1800',
    }
