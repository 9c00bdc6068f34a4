"""Near-duplicates: what is proposed, and what an operator's answer does (spec 2.6)."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from chalicelib.domain.chunking import content_hash
from chalicelib.domain.evaluation import Request
from chalicelib.domain.firewall_mode import Mode
from chalicelib.services import consolidation as service
from chalicelib.services import enforcement, near_duplicates, scheduling, search, tokens
from chalicelib.storage.reach import Reach, Within
from tests.api import twins
from tests.api.crowd import Crowd
from tests.api.twins import close, decide, found, page, proposals, scan, state_of, text, write
from tests.integration import rows
from tests.security import marked
from tests.tenants import Deployment, Tenant


@pytest.fixture
def acme(deployment: Deployment) -> Tenant:
    return deployment.tenant("acme").as_operator()


@pytest.fixture
def pair(acme: Tenant) -> tuple[UUID, UUID]:
    """Two pages of which each has a text that the other has nearly; the newer one's is kept."""
    unlike = "Nothing of this is like the rest: zebras graze where rivers bend.\n"
    return page(acme, "older", [text("alpha"), unlike], days_ago=20), page(acme, "newer", [text("bravo")])


def one_proposal(tenant: Tenant) -> dict[str, Any]:
    scan(tenant)
    [proposal] = proposals(tenant)
    return proposal


def accepted(tenant: Tenant) -> dict[str, Any]:
    proposal = one_proposal(tenant)
    answer = decide(tenant, proposal, "accept")
    assert (answer.status, answer.json["state"]) == (200, "accepted"), answer.json
    return dict(answer.json)


# --- What is proposed


def test_texts_that_say_nearly_the_same_are_proposed_and_nothing_else_happens(
    acme: Tenant, pair: tuple[UUID, UUID]
) -> None:
    proposal = one_proposal(acme)
    assert (proposal["kind"], proposal["kept_source_name"], proposal["other_source_name"]) == (
        "extractive",
        "newer",
        "older",
    )
    assert 0.97 <= proposal["similarity"] < 1
    assert found(acme) >= {"alpha", "bravo"}
    assert scan(acme) == 0, "a pair is asked about once"
    assert not [value for value in proposal.values() if isinstance(value, str) and "Delft" in value]


def test_what_differs_more_or_is_under_another_policy_is_not_proposed(acme: Tenant) -> None:
    page(acme, "one", [text("alpha")])
    page(acme, "unlike", [text("bravo charlie delta echo foxtrot golf hotel india")])
    confined = page(acme, "confined", [text("juliet")])
    marked.set_policy(acme, confined, text("juliet"), sensitivity="confidential")
    assert scan(acme) == 0


@pytest.mark.parametrize(
    "said",
    [
        {"content_class": "credentials"},
        {"validation_status": "refuted"},
        {"expires_at": datetime(2026, 1, 1, tzinfo=UTC)},
    ],
)
def test_credentials_refuted_and_ended_texts_are_not_proposed(acme: Tenant, said: dict[str, Any]) -> None:
    for name in ("one", "two"):
        marked.set_policy(acme, page(acme, name, [text(name)]), text(name), **said)
    assert scan(acme) == 0


def test_only_what_is_current_and_of_sources_that_are_on_is_proposed(acme: Tenant) -> None:
    page(acme, "one", [text("alpha")])
    off = page(acme, "off", [text("bravo")])
    rows.sql(acme.deployment, "update kb_sources set active = false where id = %s", off)
    gone = page(acme, "gone", [text("charlie")])
    close(acme, gone, text("charlie"), twins.NOW - timedelta(days=1))
    forgotten = page(acme, "forgotten", [text("delta")])
    rows.sql(acme.deployment, "select erase_chunk_v1(%s, %s)", forgotten, content_hash(text("delta")))
    rows.sql(acme.deployment, "update kb_chunks set forgotten = true where source_id = %s", forgotten)
    assert scan(acme) == 0


def test_another_tenants_text_is_no_neighbour(acme: Tenant, other: Tenant) -> None:
    page(acme, "ours", [text("alpha")])
    page(other, "theirs", [text("alpha"), text("bravo")])
    assert scan(acme) == 0
    assert scan(other) == 1


def test_within_a_source_two_wordings_are_a_pair_and_one_that_stands_twice_is_none(acme: Tenant) -> None:
    page(acme, "one", [text("alpha"), text("alpha"), text("bravo")])
    proposal = one_proposal(acme)
    assert proposal["kept_source_id"] == proposal["other_source_id"]


def test_a_text_makes_way_for_one_other_at_a_time(acme: Tenant) -> None:
    for name in ("alpha", "bravo", "charlie"):
        page(acme, name, [text(name)])
    scan(acme)
    others = [one["other_chunk_id"] for one in proposals(acme)]
    assert len(others) == len(set(others)) == 2


def test_a_page_of_chunks_is_looked_at_a_call(acme: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "PAGE", 2)
    for name in ("alpha", "bravo"):
        page(acme, name, [text(name), f"Filler of {name}, and of nothing else at all.\n", text(f"{name}{name}")])
    places, after = [], None
    while True:
        answer = acme.post("/v1/memory/consolidation", {"after": after})
        after = answer.json["next_after"]
        places.append((answer.json["examined"], after))
        if after is None:
            break
    assert [count for count, _ in places] == [2, 2, 2, 0]
    assert len({str(place) for _, place in places}) == 4
    assert len(proposals(acme)) == 3


def test_there_is_a_bound_on_what_waits_for_an_answer(acme: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "MOST_OPEN", 2)
    page(acme, "one", [text(name) for name in ("alpha", "bravo", "charlie", "delta")])
    first = acme.post("/v1/memory/consolidation").json
    assert (first["proposed"], first["full"], first["next_after"]) == (2, True, None)
    assert acme.post("/v1/memory/consolidation").json["proposed"] == 0
    decide(acme, proposals(acme)[0], "reject")
    assert acme.post("/v1/memory/consolidation").json["proposed"] == 1


def test_a_page_that_proposes_nothing_is_no_mutation(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    used = "select used from mutation_windows where tenant_id = %s"
    scan(acme)
    before = rows.sql(acme.deployment, used, acme.id)
    scan(acme)
    assert rows.sql(acme.deployment, used, acme.id) == before
    rows.sql(acme.deployment, "update tenants set mutations_per_hour = 1")
    assert scan(acme) == 0, "and needs none"


def test_no_tick_proposes_or_accepts_anything(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    minute = datetime.now(UTC).replace(minute=scheduling.HOUSEKEEPING_MINUTE)
    scheduling.tick(acme.deployment.worker, now=minute)
    assert proposals(acme) == []
    scan(acme)
    scheduling.tick(acme.deployment.worker, now=minute + timedelta(hours=1))
    assert len(proposals(acme)) == 1
    assert found(acme) >= {"alpha", "bravo"}


# --- What accepting does


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_an_accepted_text_makes_way_in_searches_and_stays_everywhere_else(
    acme: Tenant, pair: tuple[UUID, UUID], mode: str
) -> None:
    proposal = one_proposal(acme)
    before = datetime.now(UTC)
    time.sleep(0.01)
    assert decide(acme, proposal, "accept").status == 200
    assert found(acme, mode) & {"alpha", "bravo"} == {"bravo"}
    assert found(acme, mode, at=before.isoformat()) >= {"alpha", "bravo"}
    assert found(acme, mode, at=datetime.now(UTC).isoformat()) & {"alpha", "bravo"} == {"bravo"}
    assert text("alpha") in acme.get(f"/v1/kb/sources/{pair[0]}/text").json["text"]


def test_whoever_asks_the_one_source_alone_finds_its_text(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    accepted(acme)
    for mode in ("vector", "keyword"):
        assert "alpha" in found(acme, mode, source_ids=[str(pair[0])])
        assert "alpha" in found(acme, mode, source_ids=[str(pair[0])], at=datetime.now(UTC).isoformat())
        assert "alpha" not in found(acme, mode, source_ids=[str(one) for one in pair])


def test_customers_lose_nothing_to_a_text_that_is_not_published(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    rows.sql(acme.deployment, "update kb_sources set published = true where id = %s", pair[0])
    accepted(acme)
    assert found_by_customers(acme, [pair[0]]) == {"alpha"}
    rows.sql(acme.deployment, "update kb_sources set published = true")
    assert found_by_customers(acme, list(pair)) == {"bravo"}


def found_by_customers(tenant: Tenant, published: list[UUID]) -> set[str]:
    return found_within(tenant, "public", published)


def found_within(tenant: Tenant, reach: Reach, sources: list[UUID], mode: search.Mode = "hybrid") -> set[str]:
    """As Larder's own provider searches: with fewer rights, in the sources that these let it see."""
    outside = tenant.deployment.outside
    inside = replace(outside, database=Within(outside.database, reach))
    request = Request(tenant_id=str(tenant.id), role="", purpose="operational", operator="")
    reading = enforcement.Reading(request, Mode.ENFORCE, "t", always_enforce=True)
    question = search.Question(twins.WORDS[:100], 50, mode, source_ids=sources)
    who = rows.principal(tenant)
    hits = search.search(inside, who, reading, question, datetime.now(UTC)).hits
    endings = {hit.candidate.text.strip().rstrip(".").rpartition(" ")[2] for hit in hits}
    return endings & {"alpha", "bravo"}


@pytest.mark.parametrize("mode", ["vector", "keyword"])
@pytest.mark.parametrize("reach", ["public", "internal"])
def test_with_fewer_rights_a_text_makes_way_for_what_these_let_one_see(
    acme: Tenant, pair: tuple[UUID, UUID], reach: Reach, mode: search.Mode
) -> None:
    proposal = accepted(acme)
    reached = {"public": "published = true, sensitivity = 'public'", "internal": "published = false"}[reach]
    rows.sql(acme.deployment, f"update kb_sources set {reached}")
    assert found_within(acme, reach, list(pair), mode) == {"bravo"}
    beyond = {"public": "sensitivity = 'internal'", "internal": "published = true, sensitivity = 'public'"}[reach]
    rows.sql(acme.deployment, f"update kb_sources set {beyond} where id = %s", UUID(proposal["kept_source_id"]))
    assert found_within(acme, reach, list(pair), mode) == {"alpha"}


TIGHTENED = {
    "refuted": {"validation_status": "refuted"},
    "at its end": {"expires_at": datetime(2026, 1, 1, tzinfo=UTC)},
    "of a role": {"permitted_roles": ["boss"]},
    "of a purpose": {"allowed_purposes": ["audit_review"]},
    "of a tier": {"sensitivity": "restricted"},
    "credentials": {"content_class": "credentials"},
}


@pytest.mark.parametrize("said", TIGHTENED.values(), ids=TIGHTENED)
def test_no_reader_loses_a_text_because_its_stand_in_is_under_other_rules(
    acme: Tenant, pair: tuple[UUID, UUID], said: dict[str, Any]
) -> None:
    accepted(acme)
    marked.set_policy(acme, pair[1], text("bravo"), **said)
    acme.post("/v1/memory/firewall/mode", {"mode": "enforce"})
    for more in ({}, {"at": datetime.now(UTC).isoformat()}):
        for mode in ("vector", "keyword"):
            assert "alpha" in found(acme, mode, **more)
    marked.set_policy(acme, pair[0], text("alpha"), **said)
    marked.set_policy(acme, pair[1], text("bravo"), **said)
    acme.post("/v1/memory/firewall/mode", {"mode": "off"})
    assert "alpha" not in found(acme), "under the same rules again it makes way"


def test_a_text_that_comes_back_is_still_superseded_and_a_changed_one_is_another(
    acme: Tenant, pair: tuple[UUID, UUID]
) -> None:
    accepted(acme)
    now = datetime.now(UTC)
    close(acme, pair[0], text("alpha"), now)
    write(acme, pair[0], 0, text("alpha"), now)
    assert found(acme) & {"alpha", "bravo"} == {"bravo"}
    close(acme, pair[0], text("alpha"), now + timedelta(microseconds=1))
    write(acme, pair[0], 0, text("changed"), now + timedelta(microseconds=1))
    assert found(acme) & {"alpha", "bravo", "changed"} == {"bravo", "changed"}


@pytest.mark.parametrize("gone", ["changed", "off", "forgotten"])
def test_when_the_kept_text_goes_the_other_is_found_again(acme: Tenant, pair: tuple[UUID, UUID], gone: str) -> None:
    proposal = accepted(acme)
    if gone == "changed":
        close(acme, pair[1], text("bravo"), datetime.now(UTC))
    elif gone == "off":
        rows.sql(acme.deployment, "update kb_sources set active = false where id = %s", pair[1])
    else:
        assert acme.post(f"/v1/memory/chunks/{proposal['kept_chunk_id']}/forget", {}).json["erased"] == 1
    for mode in ("vector", "keyword"):
        assert found(acme, mode) & {"alpha", "bravo"} == {"alpha"}


def test_an_acceptance_can_be_taken_back_and_is_not_proposed_again(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    proposal = accepted(acme)
    time.sleep(0.01)
    between = datetime.now(UTC)
    time.sleep(0.01)
    assert decide(acme, proposal, "undo").json["state"] == "undone"
    assert found(acme) >= {"alpha", "bravo"}
    assert found(acme, at=between.isoformat()) & {"alpha", "bravo"} == {"bravo"}, "what was found then is found then"
    assert scan(acme) == 0
    again = decide(acme, proposal, "undo")
    assert (again.status, again.json["code"]) == (409, "proposal_decided")


def test_a_rejected_pair_stays_as_it_is_and_is_not_proposed_again(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    proposal = one_proposal(acme)
    assert decide(acme, proposal, "reject").json["state"] == "rejected"
    assert found(acme) >= {"alpha", "bravo"}
    assert scan(acme) == 0
    assert decide(acme, proposal, "accept").json["code"] == "proposal_decided"


def _between(tenant: Tenant, names: set[str], state: str = "open") -> list[dict[str, Any]]:
    """The proposals about two pages."""
    return [one for one in proposals(tenant, state) if {one["kept_source_name"], one["other_source_name"]} == names]


def test_an_accepted_pair_is_not_asked_about_again_while_its_kept_text_was_gone(acme: Tenant) -> None:
    sources = {name: page(acme, name, [text(name * 3)]) for name in ("bb", "a")}
    first = accepted(acme)
    assert first["kept_source_name"] == "bb"
    rows.sql(acme.deployment, "update kb_sources set active = false where id = %s", sources["bb"])
    page(acme, "c", [text("c")])
    scan(acme)
    [second] = _between(acme, {"a", "c"})
    assert decide(acme, second, "accept").json["kept_source_name"] == "a"
    rows.sql(acme.deployment, "update kb_sources set active = true where id = %s", sources["bb"])
    for mode in ("vector", "keyword"):
        assert found(acme, mode) & {"bbbbbb", "aaa", "c"} == {"bbbbbb"}, "its acceptance holds again"
    assert (scan(acme), _between(acme, {"a", "bb"})) == (0, [])
    for proposal in (first, second):
        assert decide(acme, proposal, "undo").json["state"] == "undone"
    assert found(acme) >= {"bbbbbb", "aaa", "c"}


def test_of_texts_that_would_wait_for_each_other_one_is_found(acme: Tenant) -> None:
    """bb stands for a, cc for bb, and, while both are gone in turn, a for cc: a ring, if nothing broke it."""
    sources = {name: page(acme, name, [text(name * 3)]) for name in ("a", "bb")}
    first = accepted(acme)
    sources["ccc"] = page(acme, "ccc", [text("ccccccccc")])
    second = accepted(acme)
    assert (second["kept_source_name"], second["other_source_name"]) == ("ccc", "bb")
    switch = "update kb_sources set active = %s, trust = %s where id = %s"
    rows.sql(acme.deployment, switch, False, 70, sources["bb"])
    rows.sql(acme.deployment, switch, True, 90, sources["a"])
    third = accepted(acme)
    assert (third["kept_source_name"], third["other_source_name"]) == ("a", "ccc")
    rows.sql(acme.deployment, switch, True, 70, sources["bb"])
    assert found(acme) & {"aaa", "bbbbbb", "ccccccccc"} == {"aaa"}
    assert (state_of(acme, first), state_of(acme, second)) == ("lapsed", "accepted")
    told = "select action from admin_audit where target = %s and action = 'consolidation.lapsed'"
    assert len(rows.sql(acme.deployment, told, first["id"])) == 1


def test_what_was_accepted_between_a_scans_look_and_its_question_is_not_asked_about(
    acme: Tenant, pair: tuple[UUID, UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    who = replace(rows.principal(acme), operator_name="Robin")
    proposal = one_proposal(acme)
    page(acme, "third", [text("c")])
    look = near_duplicates._pairs

    def and_then_accepted(*arguments: Any) -> Any:
        pairs = look(*arguments)
        now = datetime.now(UTC)
        service.accept(acme.deployment.outside, who, UUID(proposal["id"]), correlation_id=None, now=now)
        return pairs

    with monkeypatch.context() as patch:
        patch.setattr(near_duplicates, "_pairs", and_then_accepted)
        near_duplicates.scan(acme.deployment.outside, who, None, datetime.now(UTC))
    assert _between(acme, {"older", "newer"}) == []
    assert len(_between(acme, {"third", "newer"})) == 1
    assert _between(acme, {"third", "older"}) == [], "older makes way by now"
    assert decide(acme, proposal, "undo").status == 200


def test_a_text_that_stands_for_another_is_never_hidden_itself(acme: Tenant) -> None:
    """Three texts; whichever stands for the others goes for a moment, and they are decided about without it."""
    sources = {name: page(acme, name, [text(name)]) for name in ("alpha", "bravo", "charlie")}
    for _ in range(3):
        accept_everything(acme)
        [kept] = found(acme) & set(sources)
        close(acme, sources[kept], text(kept), datetime.now(UTC))
        accept_everything(acme)
        [stands_in] = found(acme) & set(sources)
        again = datetime.now(UTC)
        row = rows.sql(acme.deployment, "select chunk_id from kb_chunks where source_id = %s limit 1", sources[kept])
        write(acme, sources[kept], 0, text(kept), again)
        rows.sql(
            acme.deployment,
            "update kb_chunks set chunk_id = %s where source_id = %s",  # a text keeps its id
            row[0]["chunk_id"],
            sources[kept],
        )
        assert found(acme) & set(sources), f"{kept} came back, and {stands_in} stands in"


def accept_everything(tenant: Tenant) -> None:
    while scan(tenant):
        for proposal in proposals(tenant):
            decide(tenant, proposal, "accept")


# --- When the texts are no longer as they were


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (
            "update kb_chunks set system_time = tstzrange(lower(system_time), now()) where source_id = %s",
            "text_changed",
        ),
        ("update kb_sources set active = false where id = %s", "text_changed"),
        ("update kb_chunks set forgotten = true where source_id = %s", "text_changed"),
        ("update kb_sources set sensitivity = 'confidential' where id = %s", "policy_changed"),
        ("update kb_sources set permitted_roles = '{}' where id = %s", "policy_changed"),
        ("update kb_sources set expires_at = now() + interval '1 day' where id = %s", "policy_changed"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_a_proposal_lapses_when_a_text_or_a_policy_is_another(
    acme: Tenant, pair: tuple[UUID, UUID], statement: str, reason: str, place: int
) -> None:
    proposal = one_proposal(acme)
    rows.sql(acme.deployment, statement, pair[place])
    answer = decide(acme, proposal, "accept")
    assert (answer.status, answer.json["code"], answer.json["reason"]) == (409, "proposal_lapsed", reason)
    assert state_of(acme, proposal) == "lapsed"
    assert rows.sql(acme.deployment, "select * from superseded_chunks") == []


def test_texts_that_became_alike_and_strict_together_lapse_too(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    proposal = one_proposal(acme)
    rows.sql(acme.deployment, "update kb_sources set sensitivity = 'restricted'")
    assert decide(acme, proposal, "accept").json["reason"] == "policy_changed"
    assert scan(acme) == 1, "as they are now it may be asked anew"


def test_forgetting_a_text_ends_what_is_proposed_about_it(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    proposal = one_proposal(acme)
    acme.post(f"/v1/memory/chunks/{proposal['other_chunk_id']}/forget", {})
    [lapsed] = proposals(acme, "lapsed")
    assert (lapsed["id"], lapsed["reason"]) == (proposal["id"], "forgotten")
    told = rows.sql(acme.deployment, "select action, after from admin_audit where target = %s", proposal["id"])
    assert told == [{"action": "consolidation.lapsed", "after": {"reason": "forgotten"}}]


# --- Who may


def test_accepting_and_taking_back_are_an_operators(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    proposal = one_proposal(acme)
    admin = replace(acme, admin_token=_nobodys(acme))
    for word in ("accept", "undo", "write"):
        answer = decide(admin, proposal, word)
        assert (answer.status, answer.json["code"]) == (403, "operator_required")
    assert state_of(acme, proposal) == "open"
    assert decide(admin, proposal, "reject").status == 200


def _nobodys(tenant: Tenant) -> str:
    with tenant.deployment.owner.transaction() as tx:
        return tokens.mint(tx, tenant.id, tokens.Minted("admin"), datetime.now(UTC))


def test_another_tenants_proposal_is_not_there(acme: Tenant, other: Tenant, pair: tuple[UUID, UUID]) -> None:
    proposal, stranger = one_proposal(acme), other.as_operator()
    assert proposals(stranger) == []
    for ident in (proposal["id"], str(uuid4())):
        assert stranger.get(f"/v1/memory/consolidation/{ident}").status == 404
        for word in ("accept", "reject", "undo", "write"):
            assert stranger.post(f"/v1/memory/consolidation/{ident}/{word}").status == 404
    assert state_of(acme, proposal) == "open"


def test_of_two_operators_who_accept_at_once_one_wins(shared: Deployment, ours: Tenant, crowd: Crowd) -> None:
    tenant = ours.as_operator()
    page(tenant, "older", [text("alpha")], days_ago=20)
    page(tenant, "newer", [text("bravo")])
    proposal = one_proposal(tenant)
    answers = crowd.rush(lambda _: decide(tenant, proposal, "accept"), callers=4)
    assert sorted(answer.status for answer in answers) == [200, 409, 409, 409]
    assert {answer.json["code"] for answer in answers if answer.status == 409} == {"proposal_decided"}
    assert len(rows.sql(shared, "select * from superseded_chunks where tenant_id = %s", tenant.id)) == 1


def test_who_decided_what_is_in_the_admin_audit(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    proposal = accepted(acme)
    decide(acme, proposal, "undo")
    told = rows.sql(acme.deployment, "select action, operator, target from admin_audit order by at")
    assert [(row["action"], row["operator"]) for row in told if row["target"] == proposal["id"]] == [
        ("consolidation.accepted", "Robin"),
        ("consolidation.undone", "Robin"),
    ]


# --- What is shown


def test_a_proposal_is_shown_with_its_texts_through_the_firewall(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    proposal = one_proposal(acme)
    shown = acme.get(f"/v1/memory/consolidation/{proposal['id']}").json
    assert (shown["kept"]["text"], shown["other"]["text"], shown["written"]) == (text("bravo"), text("alpha"), None)
    recorded = rows.sql(acme.deployment, "select chunk_id, decision, operator from policy_evaluations")
    assert {(str(row["chunk_id"]), row["decision"], row["operator"]) for row in recorded} == {
        (proposal["kept_chunk_id"], "allow", "Robin"),
        (proposal["other_chunk_id"], "allow", "Robin"),
    }
    acme.post("/v1/memory/firewall/mode", {"mode": "enforce"})
    rows.sql(acme.deployment, "update kb_sources set permitted_roles = '{}' where id = %s", pair[0])
    shown = acme.get(f"/v1/memory/consolidation/{proposal['id']}").json
    assert (shown["kept"]["text"], shown["other"]) == (text("bravo"), None)


def test_with_a_search_cache_an_acceptance_counts_at_once(acme: Tenant, pair: tuple[UUID, UUID]) -> None:
    deployment = acme.deployment
    settings = replace(deployment.outside.settings, search_cache_seconds=60)
    deployment.outside = replace(deployment.outside, settings=settings)
    proposal = one_proposal(acme)
    assert found(acme) >= {"alpha", "bravo"}
    assert found(acme) >= {"alpha", "bravo"}
    decide(acme, proposal, "accept")
    assert found(acme) & {"alpha", "bravo"} == {"bravo"}
    decide(acme, proposal, "undo")
    assert found(acme) >= {"alpha", "bravo"}
