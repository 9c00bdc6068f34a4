"""Larder's own provider over HTTP, registered by the public route: it keeps the contract, and each to its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from chalicelib.knowledge.conformance import suite
from chalicelib.knowledge.conformance.checks import CHECKS
from chalicelib.knowledge.conformance.subject import Subject
from tests.any_row import make_row
from tests.api.furniture import write_version
from tests.api.tables import superuser
from tests.knowledge import Household, household, make, on_a_socket
from tests.postgres import TestServer

PUBLISHED, INSIDE, STRICTER = "The kettle is published.", "The kettle is for us alone.", "The kettle has a secret."
TEXTS = {PUBLISHED: "published", INSIDE: "inside", STRICTER: "stricter"}


@dataclass
class Own:
    """Both registrations of one tenant, by profile, as the route showed them."""

    house: Household
    registrations: dict[str, dict[str, Any]]
    sources: dict[str, UUID]

    def subject(self, profile: str, **more: Any) -> Subject:
        one = self.registrations[profile]
        return Subject(one["base_url"], one["secret"], profile=profile, query="kettle", **more)

    def snippets(self, profile: str, query: str = "kettle", limit: int = 50) -> list[str]:
        subject = self.subject(profile)
        answer = subject.ask(subject.question(query=query, limit=limit))
        assert answer.status == 200, answer.body
        return sorted(one["snippet"] for one in answer.json["results"])


@pytest.fixture(scope="module")
def own(server: TestServer) -> Iterator[Own]:
    deployment = make(server)
    with on_a_socket(deployment) as url:
        house = household(deployment)
        address = f"{url}/v1/provider/{{registration}}"
        registrations = {
            profile: house.register(address, profile, name=f"own {profile}", module="larder")
            for profile in ("customer_safe", "agent_only")
        }
        sources = {text: source(house, text) for text in (PUBLISHED, INSIDE)}
        sources[STRICTER] = source(house, STRICTER)
        with superuser(deployment) as connection:
            ids = [sources[PUBLISHED], sources[STRICTER]]
            connection.execute("update kb_sources set published = true where id = any (%s)", (ids,))
            ((content_hash,),) = connection.execute(
                "select content_hash from kb_chunks where source_id = %s", (sources[STRICTER],)
            ).fetchall()
            policy = {"source_id": sources[STRICTER], "content_hash": content_hash, "sensitivity": "internal"}
            make_row(connection, "chunk_policies", tenant_id=house.tenant.id, **policy)
        yield Own(house, registrations, sources)
    deployment.close()
    server.drop(deployment.database_name)


def source(house: Household, text: str) -> UUID:
    made = UUID(house.tenant.add(f"https://{TEXTS[text]}.example.com/page")["id"])
    write_version(house.tenant, made, 1, text, datetime.now(UTC) - timedelta(hours=1), None)
    return made


@pytest.mark.parametrize(
    ("profile", "more"), [("customer_safe", {}), ("agent_only", {"nonces": 20})], ids=["customer_safe", "agent_only"]
)
def test_it_keeps_the_contract(own: Own, profile: str, more: dict[str, Any]) -> None:
    """Both keep their nonces in one place; as many of them as the suite asks for by itself are asked of one."""
    found = {one.check: one for one in suite.run(own.subject(profile, **more))}
    unjudged = {"locale", *(["limit"] if profile == "customer_safe" else [])}  # one text is published: nothing to cut
    assert {name for name, one in found.items() if one.status == "passed"} == set(CHECKS) - unjudged, [
        (name, one.why) for name, one in found.items() if one.why
    ]


def test_one_reaches_what_is_published_and_public_the_other_the_rest(own: Own) -> None:
    assert own.snippets("customer_safe") == [PUBLISHED]
    assert own.snippets("agent_only") == sorted([INSIDE, STRICTER])


def test_a_result_says_what_the_knowledge_base_knows_of_it(own: Own) -> None:
    subject = own.subject("customer_safe")
    (result,) = subject.ask().json["results"]
    checked = datetime.fromisoformat(own.house.tenant.get(f"/v1/kb/sources/{result['documentId']}").json["stale_at"])
    assert result["documentId"] == str(own.sources[PUBLISHED])
    assert (result["audience"], result["revision"], result["freshness"]) == ("public", "1", "current")
    assert result["url"] == "https://published.example.com/page"
    assert datetime.fromisoformat(result["reviewDueAt"]) == checked
    assert result["score"] > 0
    assert UUID(result["chunkId"])


def test_what_is_past_its_ttl_is_told_to_be_stale(own: Own) -> None:
    with superuser(own.house.deployment) as connection:
        connection.execute(
            "update kb_sources set last_checked_at = now() - interval '1 year' where id = %s", (own.sources[PUBLISHED],)
        )
    assert own.subject("customer_safe").ask().json["results"][0]["freshness"] == "stale"


def test_everything_that_is_answered_was_decided_by_the_firewall_and_written_down(own: Own) -> None:
    with superuser(own.house.deployment) as connection:
        connection.execute("delete from policy_evaluations")
        connection.execute("delete from evaluation_segments")
        own.snippets("agent_only")
        rows = connection.execute("select decision, mode, purpose, role from policy_evaluations").fetchall()
    assert rows == [("allow", "enforce", "operational", "")] * 2


@pytest.mark.parametrize(
    "policy",
    [
        {"permitted_roles": ["board"]},
        {"permitted_roles": []},
        {"allowed_purposes": ["audit_review"]},
        {"sensitivity": "restricted"},
        {"expires_at": datetime(2020, 1, 1, tzinfo=UTC)},
    ],
)
def test_the_firewall_is_enforced_whatever_the_tenants_mode(own: Own, policy: dict[str, Any]) -> None:
    columns = ", ".join(f"{name} = %({name})s" for name in policy)
    keep = "sensitivity, expires_at, permitted_roles, allowed_purposes"
    with superuser(own.house.deployment) as connection:
        before = connection.execute(f"select {keep} from kb_sources where id = %s", (own.sources[INSIDE],)).fetchone()
        assert before is not None
        connection.execute("update tenants set firewall_mode = 'off'")
        connection.execute(f"update kb_sources set {columns} where id = %(id)s", {**policy, "id": own.sources[INSIDE]})
        assert own.snippets("agent_only") == [STRICTER]
        connection.execute(
            f"update kb_sources set ({keep}) = (%s, %s, %s, %s) where id = %s", (*before, own.sources[INSIDE])
        )
    assert own.snippets("agent_only") == sorted([INSIDE, STRICTER])


def test_unpublishing_counts_at_once(own: Own) -> None:
    with superuser(own.house.deployment) as connection:
        connection.execute("update kb_sources set published = false where id = %s", (own.sources[PUBLISHED],))
        assert own.snippets("customer_safe") == []
        assert PUBLISHED in own.snippets("agent_only")
        connection.execute("update kb_sources set published = true where id = %s", (own.sources[PUBLISHED],))
    assert own.snippets("customer_safe") == [PUBLISHED]


@pytest.mark.parametrize("query", ["\x00kettle\x00", "\n\t", "kettle' or true --", "&|!():*", "\u202e"])
def test_a_query_may_hold_anything(own: Own, query: str) -> None:
    own.snippets("customer_safe", query)
    own.snippets("agent_only", query)


def test_an_agent_gets_both_a_visitor_what_is_published(own: Own) -> None:
    agent = own.house.ask("kettle").json
    assert {one["snippet"] for one in agent["results"]} == {PUBLISHED, INSIDE, STRICTER}
    assert [one["status"] for one in agent["providers"]] == ["ok", "ok"]
    assert [one["snippet"] for one in own.house.visit("kettle").json["results"]] == [PUBLISHED]
    assert [one["snippet"] for one in own.house.ask("kettle", token=own.house.assistant).json["results"]] == [PUBLISHED]


def test_no_other_registration_is_served(own: Own) -> None:
    base = own.registrations["agent_only"]["base_url"].rpartition("/")[0]
    other = own.house.register("https://kb.example.com", name="external")
    for ident in (other["id"], "6c0f0e63-0000-4000-8000-000000000000", "nonsense"):
        for secret in (other["secret"], own.registrations["agent_only"]["secret"]):
            subject = Subject(f"{base}/{ident}", secret)
            answer = subject.ask()
            assert (answer.status, answer.json["code"]) == (401, "unauthorized")
            assert subject.capabilities().status == 401


def test_a_secret_of_one_registration_is_nothing_to_the_other(own: Own) -> None:
    one, other = (own.registrations[profile] for profile in ("customer_safe", "agent_only"))
    assert Subject(other["base_url"], one["secret"]).ask().status == 401


def test_one_that_its_admin_disabled_answers_like_one_that_is_not_there(own: Own) -> None:
    made = own.registrations["agent_only"]
    subject = Subject(made["base_url"], made["secret"])
    nobody = Subject(made["base_url"].replace(made["id"], str(uuid4())), made["secret"])
    own.house.change(made, status="disabled")
    try:
        refused, unknown = subject.ask(), nobody.ask()
        assert (refused.status, refused.body) == (unknown.status, unknown.body)
        assert refused.status == 401
    finally:
        own.house.change(made, status="active")
    assert subject.ask().status == 200


def test_both_secrets_count_during_a_rotation_and_one_afterwards(own: Own) -> None:
    one = own.house.register(
        own.registrations["agent_only"]["base_url"].rpartition("/")[0] + "/{registration}",
        name="rotated",
        module="larder",
    )
    new = own.house.act(one, "rotate-secret").json["secret"]
    assert [Subject(one["base_url"], secret).ask().status for secret in (one["secret"], new)] == [200, 200]
    newest = own.house.act(one, "rotate-secret", {"overlap_seconds": 0}).json["secret"]
    statuses = [Subject(one["base_url"], secret).ask().status for secret in (one["secret"], new, newest)]
    assert statuses == [401, 401, 200]


def test_a_tenant_that_is_switched_off_answers_nothing_and_says_so_to_its_broker_alone(own: Own) -> None:
    subject = own.subject("customer_safe")
    with superuser(own.house.deployment) as connection:
        connection.execute("update tenants set enabled = false")
        answer, wrong, unsigned = subject.ask(), subject.ask(keys=["another"]), subject.ask(signature=lambda _: None)
        connection.execute("update tenants set enabled = true")
    assert (answer.status, answer.json["code"]) == (503, "unavailable")
    assert [(one.status, one.json["code"]) for one in (wrong, unsigned)] == [(401, "unauthorized")] * 2


def test_a_registrations_id_has_one_spelling(own: Own) -> None:
    one = own.registrations["customer_safe"]
    base, _, ident = one["base_url"].rpartition("/")
    for other in (ident.upper(), ident.replace("-", ""), f"urn:uuid:{ident}", f"%7B{ident}%7D"):
        subject = Subject(f"{base}/{other}", one["secret"])
        assert [subject.ask().status, subject.capabilities().status] == [401, 401], other
