"""What an admin changes while a provider is asked, and what may go wrong when its answer is counted (spec 3.4)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from chalicelib.knowledge.broker import Question
from chalicelib.services import knowledge_search, provider_checks
from chalicelib.services.outside import Outside
from tests.api import tables
from tests.knowledge import Household, deployment, household
from tests.postgres import TestServer
from tests.scripted_provider import Asked, Says, answer, result, serving, status
from tests.tenants import Deployment


@pytest.fixture(scope="module")
def made(server: TestServer) -> Iterator[Deployment]:
    with deployment(server, LARDER_KNOWLEDGE_CACHE_SECONDS="60", KB_MUTATIONS_PER_HOUR="100000") as one:
        yield one


@pytest.fixture
def house(made: Deployment, request: pytest.FixtureRequest) -> Household:
    return household(made, request.node.name)


@pytest.fixture
def asker(house: Household) -> Iterator[Outside]:
    """The deployment's parts on a connection of their own, for whoever asks while others change."""
    outside = replace(house.deployment.build("larder_app"), fetch_policy=house.deployment.outside.fetch_policy)
    yield outside
    outside.database.close()


def search(house: Household, asker: Outside, query: str = "kettle", *, principal: str | None = None) -> list[str]:
    """The words for the providers."""
    found = knowledge_search.search(asker, house.tenant.id, Question(query), now, principal=principal)
    return [one.status for one in found.consulted]


def now() -> datetime:
    return datetime.now(UTC)


def count(house: Household, table: str) -> int:
    with tables.superuser(house.deployment) as connection:
        row = connection.execute(f"select count(*) from {table} where tenant_id = %s", (house.tenant.id,)).fetchone()
    assert row is not None
    return int(row[0])


def while_asked(act: Callable[[], Any], says: Says) -> Callable[[Asked], Says]:
    """A provider during whose answer somebody acts."""

    def behave(asked: Asked) -> Says:
        act()
        return says

    return behave


def changes(house: Household, one: dict[str, Any], url: str) -> dict[str, Callable[[], Any]]:
    return {
        "address": lambda: [house.change(one, base_url=f"{url}/x"), house.change(one, base_url=url)],
        "secret": lambda: house.act(one, "rotate-secret", {"overlap_seconds": 0}),
        "status": lambda: [house.change(one, status=word) for word in ("disabled", "active")],
    }


@pytest.mark.parametrize("change", ["address", "secret", "status"])
@pytest.mark.parametrize("code", [401, 404, 500])
def test_what_failed_under_an_old_configuration_says_nothing_of_the_new_one(
    house: Household, asker: Outside, change: str, code: int
) -> None:
    with serving(None) as (provider,):
        one = house.register(provider)
        provider.behave = while_asked(changes(house, one, provider.url)[change], status(code))
        for _ in range(5):
            search(house, asker)
        assert len(provider.asked) == 5
        assert [(shown["status"], shown["health"]) for shown in house.providers()] == [("active", [])]


@pytest.mark.parametrize("change", ["address", "secret", "status"])
def test_what_worked_under_an_old_configuration_ends_no_row_of_the_new_one(
    house: Household, asker: Outside, change: str
) -> None:
    with serving(None) as (provider,):
        one = house.register(provider)

        def change_and_fail() -> None:
            changes(house, one, provider.url)[change]()
            provider.behave = status(401)
            house.ask()
            house.ask()

        provider.behave = while_asked(change_and_fail, answer(result()))
        search(house, asker)
        assert house.providers()[0]["health"][0]["hard_failures"] == 2


@pytest.mark.parametrize("change", ["address", "secret", "status"])
def test_no_answer_is_kept_that_came_under_an_old_configuration(house: Household, asker: Outside, change: str) -> None:
    with serving(None) as (provider,):
        one = house.register(provider)
        provider.behave = while_asked(changes(house, one, provider.url)[change], answer(result()))
        assert search(house, asker, principal="Ada") == ["ok"]
        assert count(house, "knowledge_cache") == 0


@pytest.mark.parametrize("change", ["address", "capabilities", "secret", "status"])
def test_what_an_old_address_declares_is_not_taken_for_the_new_one(
    house: Household, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    with serving(None) as (provider,):
        one = house.register(provider)
        acts = changes(house, one, provider.url) | {"capabilities": lambda: house.change(one, capabilities=["locale"])}

        def read(*_: object) -> list[str]:
            acts[change]()
            return ["scoring"]

        monkeypatch.setattr(provider_checks, "read_capabilities", read)
        refused = house.act(one, "refresh-capabilities")
        assert (refused.status, refused.json["code"]) == (409, "provider_changed")
        (shown,) = house.providers()
        assert shown["capabilities"] == (["locale"] if change == "capabilities" else [])
        monkeypatch.setattr(provider_checks, "read_capabilities", lambda *_: ["scoring"])
        assert house.act(one, "refresh-capabilities").json["capabilities"] == ["scoring"]


@pytest.mark.parametrize("who", ["agent", "assistant"])
def test_what_is_kept_goes_when_its_provider_is_disabled_for_its_failures(house: Household, who: str) -> None:
    with serving(None) as (provider,):
        house.register(provider)
        house.ask("kettle")
        assert count(house, "knowledge_cache") == 1
        provider.behave = status(401)
        for number in range(3):
            house.ask(f"{number}", token=getattr(house, who))
        assert house.providers()[0]["status"] == "auto_disabled"
        assert count(house, "knowledge_cache") == 0


def test_what_cannot_be_counted_or_kept_takes_nothing_from_the_answer(house: Household) -> None:
    with serving(answer(result("there")), status(500)) as providers:
        for one in providers:
            house.register(one)
        rights = "insert, update on knowledge_circuits, knowledge_cache"
        with tables.superuser(house.deployment) as connection:
            connection.execute(f"revoke {rights} from larder_app, larder_public")
            try:
                seen = house.ask()
                asked = house.ask(token=house.assistant)
            finally:
                connection.execute(f"grant {rights} to larder_app")
                connection.execute("grant insert, update on knowledge_circuits to larder_public")
    assert (seen.status, [one["status"] for one in seen.json["providers"]]) == (200, ["ok", "timeout"])
    assert [one["documentId"] for one in seen.json["results"]] == ["there"]
    assert (asked.status, len(asked.json["results"])) == (200, 1)


@pytest.mark.parametrize(
    "says", [answer(result("a", audience="internal")), status(401)], ids=["a label", "a third failure"]
)
def test_the_registration_is_locked_before_its_circuit(house: Household, asker: Outside, says: Says) -> None:
    """Whoever changes a registration holds it, and finds its circuits free of those who wait for it."""
    with serving(status(401)) as (provider,):
        one = house.register(provider)
        for _ in range(2):
            search(house, asker)
        provider.behave = says
        words: list[list[str]] = []
        # A connection of its own: within a transaction, what waits is looked at once.
        with psycopg.connect(house.deployment.server.url(house.deployment.database_name, "postgres")) as admin:
            admin.execute("select from knowledge_providers where id = %s for no key update", (one["id"],))
            thread = threading.Thread(target=lambda: words.append(search(house, asker)))
            thread.start()
            _until_somebody_waits(house)
            admin.execute("set local lock_timeout = '5s'")
            admin.execute("update knowledge_circuits set epoch = epoch where provider_id = %s", (one["id"],))
        thread.join()
    assert words == [["ok" if says.status == 200 else "config_error"]]
    shown = house.providers()[0]
    assert shown["label_warnings"] == int(says.status == 200)
    assert shown["status"] == ("active" if says.status == 200 else "auto_disabled")


def _until_somebody_waits(house: Household) -> None:
    query = (
        "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')"
    )
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with tables.superuser(house.deployment) as connection:
            if connection.execute(query).fetchone() == (True,):
                return
        time.sleep(0.02)
    raise AssertionError("nobody waits for the registration")


def test_a_wait_that_was_asked_for_begins_with_the_answer(house: Household, asker: Outside) -> None:
    start = now()
    with serving(status(429, Retry_After="120")) as (provider,):
        house.register(provider)
        eight_seconds_for_the_answer = lambda: start + timedelta(seconds=8 * len(provider.asked))  # noqa: E731
        knowledge_search.search(asker, house.tenant.id, Question("kettle"), eight_seconds_for_the_answer)
    until = datetime.fromisoformat(house.providers()[0]["health"][0]["open_until"])
    assert until == start + timedelta(seconds=128)


def test_each_wait_begins_with_its_own_answer(house: Household, asker: Outside) -> None:
    """Another provider that takes its time makes nobody's wait longer."""
    start, readings, late = now(), [0], threading.Event()

    def clock() -> datetime:
        readings[0] += 1
        return start + timedelta(seconds=8 if late.is_set() else 0)

    def takes_its_time(_: Asked) -> Says:
        deadline = time.monotonic() + 30
        while readings[0] < 4 and time.monotonic() < deadline:  # the question, two signatures, the hasty answer
            time.sleep(0.01)
        late.set()
        return answer(result())

    with serving(status(429, Retry_After="120"), takes_its_time) as (hasty, slow):
        one = house.register(hasty)
        house.register(slow)
        knowledge_search.search(asker, house.tenant.id, Question("kettle"), clock)
    shown = next(shown for shown in house.providers() if shown["id"] == one["id"])
    assert datetime.fromisoformat(shown["health"][0]["open_until"]) == start + timedelta(seconds=120)


@pytest.mark.parametrize("act", ["address", "secret", "capabilities"])
def test_a_provider_that_was_disabled_for_its_failures_begins_anew_with_what_its_admin_mends(
    house: Household, act: str
) -> None:
    with serving(status(401)) as (provider,):
        one = house.register(provider)
        for _ in range(3):
            house.ask()
        assert house.providers()[0]["status"] == "auto_disabled"
        assert house.change(one, priority=7).json["status"] == "auto_disabled", "nothing was mended"
        provider.behave, provider.capabilities = answer(result()), ["scoring"]
        mend = {
            "address": lambda: house.change(one, base_url=f"{provider.url}/v2"),
            "secret": lambda: house.act(one, "rotate-secret"),
            "capabilities": lambda: house.act(one, "refresh-capabilities"),
        }
        assert mend[act]().status == 200
        assert (house.providers()[0]["status"], house.providers()[0]["health"]) == ("active", [])
        assert house.ask().json["providers"][0]["status"] == "ok"


def test_what_its_admin_disabled_stays_so_whatever_else_is_changed(house: Household) -> None:
    one = house.register("https://kb.example.com")
    house.change(one, status="disabled")
    assert house.change(one, base_url="https://kb2.example.com").json["status"] == "disabled"
    assert house.act(one, "rotate-secret").json["status"] == "disabled"


@pytest.mark.parametrize("says", [status(500), status(429, Retry_After="86400")])
@pytest.mark.parametrize("lane", ["main", "widget"])
def test_an_admin_who_enables_it_has_it_asked_again_though_its_status_was_active(
    house: Household, says: Says, lane: str
) -> None:
    with serving(says) as (provider,):
        one = house.register(provider)
        ask = house.ask if lane == "main" else house.visit
        for number in range(6):
            ask(f"{number}")
        assert house.providers()[0]["status"] == "active"
        provider.behave, before = answer(result()), len(provider.questions)
        ask("kettle")
        assert len(provider.questions) == before, "it is let alone"
        enabled = house.change(one, status="active").json
        assert (enabled["status"], enabled["health"], enabled["config_generation"]) == ("active", [], 2)
        ask("kettle")
        assert len(provider.questions) == before + 1


def test_a_lane_of_pages_that_was_stopped_begins_anew_when_its_admin_enables_it(house: Household) -> None:
    with serving(status(404)) as (provider,):
        one = house.register(provider)
        for number in range(4):
            house.visit(f"{number}")
        assert len(provider.questions) == 3
        provider.behave = while_asked(lambda: house.change(one, status="active"), status(404))
        house.ask("kettle")
        assert (house.providers()[0]["status"], house.providers()[0]["health"]) == ("active", [])
        provider.behave = answer(result())
        assert len(house.visit("kettle").json["results"]) == 1


def test_enabling_what_is_asked_anyway_changes_nothing(house: Household) -> None:
    with serving(None) as (provider,):
        one = house.register(provider)
        house.ask("kettle")
        assert house.change(one, status="active").json["config_generation"] == 1
        assert count(house, "knowledge_cache") == 1
