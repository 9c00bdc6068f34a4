"""Sources: one a URL, updated by what is named, switched off without losing anything."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from tests.api import tables
from tests.api.crowd import Crowd
from tests.api.furniture import furnish, update
from tests.tenants import Tenant


def rows(tenant: Tenant) -> list[dict[str, object]]:
    return list(tenant.get("/v1/kb/sources?limit=200").json["items"])


SPELLINGS = [
    "https://example.com/guide?a=1&b=2",
    "HTTPS://EXAMPLE.com/guide?a=1&b=2",
    "https://example.com:443/guide?a=1&b=2",
    "https://example.com./guide?a=1&b=2",
    "https://example.com/guide?a=1&b=2#install",
    "https://example.com/./x/../guide?a=1&b=2",
    "https://example.com/%67uide?a=1&b=2",
    "https://example.com/guide?a=1&%62=2",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_two_spellings_of_one_url_are_one_source(spelling: str, ours: Tenant) -> None:
    first = ours.post("/v1/kb/sources", {"uri": SPELLINGS[0]})
    again = ours.post("/v1/kb/sources", {"uri": spelling})
    assert (first.status, again.status) == (201, 200)
    assert again.json["id"] == first.json["id"]
    assert again.json["uri"] == SPELLINGS[0]
    assert len(rows(ours)) == 1


def test_an_international_name_and_its_ascii_form_are_one_source(ours: Tenant) -> None:
    assert ours.post("/v1/kb/sources", {"uri": "https://Bücher.example/süß"}).status == 201
    again = ours.post("/v1/kb/sources", {"uri": "https://xn--bcher-kva.example/s%c3%bc%C3%9f"})
    assert again.status == 200
    assert again.json["uri"] == "https://xn--bcher-kva.example/s%C3%BC%C3%9F"


DIFFERENT = [
    "http://example.com/guide?a=1&b=2",
    "https://example.com/Guide?a=1&b=2",
    "https://example.com/guide/?a=1&b=2",
    "https://example.com/guide?b=2&a=1",
    "https://www.example.com/guide?a=1&b=2",
    "https://example.com/guide",
    "https://example.com:8443/guide?a=1&b=2",
    "https://example.com/guide?a=1&b=2&utm_source=x",
]


@pytest.mark.parametrize("different", DIFFERENT)
def test_what_only_the_server_could_know_to_be_equal_is_two_sources(different: str, ours: Tenant) -> None:
    assert ours.post("/v1/kb/sources", {"uri": SPELLINGS[0]}).status == 201
    assert ours.post("/v1/kb/sources", {"uri": different}).status == 201


def test_one_url_may_be_a_source_of_two_tenants(ours: Tenant, theirs: Tenant) -> None:
    mine, yours = (tenant.post("/v1/kb/sources", {"uri": "https://example.com/"}) for tenant in (ours, theirs))
    assert (mine.status, yours.status) == (201, 201)
    assert mine.json["id"] != yours.json["id"]


def test_a_new_source_has_the_defaults_and_is_stale_at_once(ours: Tenant) -> None:
    made = ours.add("https://example.com")
    assert made["uri"] == made["name"] == "https://example.com/"
    assert made["refresh_ttl_seconds"] == 604_800
    assert (made["active"], made["type"], made["published"], made["current_version"]) == (True, "url", False, None)
    assert (made["stale"], made["stale_reason"], made["stale_at"]) == (True, "never_fetched", None)
    assert ours.get(f"/v1/kb/sources/{made['id']}").json == made


@pytest.mark.parametrize("ttl", [300, 31_536_000])
def test_the_ends_of_the_ttl_are_allowed(ttl: int, ours: Tenant) -> None:
    assert ours.add("https://example.com", refresh_ttl_seconds=ttl)["refresh_ttl_seconds"] == ttl


def test_an_update_leaves_alone_what_it_does_not_name(ours: Tenant) -> None:
    named = {"name": "Guide", "refresh_ttl_seconds": 600, "keep_hidden_text": True}
    made = ours.add("https://example.com", **named)
    for field, value in [("name", "Handbook"), ("refresh_ttl_seconds", 900), ("keep_hidden_text", False)]:
        changed = ours.add("https://example.com", **{field: value})
        named[field] = value
        assert {**changed, "updated_at": None} == {**made, **named, "updated_at": None}
    assert ours.add("https://example.com", name=None)["name"] == "Handbook"


def test_an_update_keeps_a_source_switched_off(ours: Tenant) -> None:
    made = ours.add("https://example.com")
    ours.post(f"/v1/kb/sources/{made['id']}/toggle", {"active": False})
    assert ours.add("https://example.com", name="New")["active"] is False


def test_a_name_is_kept_as_people_write_it(ours: Tenant) -> None:
    name = "  Über-Größe 🫙 'quoted' <b> "
    assert ours.add("https://example.com", name=name)["name"] == name.strip()


def test_toggle_switches_over_or_the_way_it_is_told(ours: Tenant) -> None:
    path = f"/v1/kb/sources/{ours.add('https://example.com')['id']}/toggle"
    assert [ours.post(path).json["active"] for _ in range(3)] == [False, True, False]
    assert [ours.post(path, {"active": False}).json["active"] for _ in range(2)] == [False, False]
    assert [ours.post(path, {"active": True}).json["active"] for _ in range(2)] == [True, True]


def test_switching_off_deletes_nothing(ours: Tenant) -> None:
    source = furnish(ours)["source_id"]
    before = tables.dump(ours.deployment)
    assert ours.post(f"/v1/kb/sources/{source}/toggle", {"active": False}).json["active"] is False
    changed = tables.changed(before, tables.dump(ours.deployment))
    assert set(changed) == {"kb_sources", "mutation_windows", "search_writes"}
    assert ours.get(f"/v1/kb/sources/{source}/text").status == 200


def test_staleness_is_told_as_of_the_request(ours: Tenant) -> None:
    source = UUID(ours.add("https://example.com", refresh_ttl_seconds=3600)["id"])
    checked = datetime.now(UTC) - timedelta(minutes=59)
    update(ours, "kb_sources", source, last_checked_at=checked, last_status="unchanged")
    fresh = ours.get(f"/v1/kb/sources/{source}").json
    assert (fresh["stale"], fresh["stale_reason"], fresh["stale_for_seconds"]) == (False, None, 0)
    assert datetime.fromisoformat(fresh["stale_at"]) == checked + timedelta(hours=1)
    update(ours, "kb_sources", source, last_checked_at=checked - timedelta(minutes=2))
    stale = ours.get(f"/v1/kb/sources/{source}").json
    assert (stale["stale"], stale["stale_reason"]) == (True, "ttl_expired")
    assert 55 <= stale["stale_for_seconds"] < 300


def test_a_batch_has_its_own_result_for_each_and_counts_once(ours: Tenant) -> None:
    ours.add("https://known.example")
    used = _remaining(ours.post("/v1/kb/settings", {}).headers["ratelimit"])
    wanted = [
        {"uri": "https://new.example", "name": "New"},
        {"uri": "https://KNOWN.example/", "name": "Known"},
        {"uri": "http://127.0.0.1/"},
        {"uri": "https://new.example:443/#again"},
        {"uri": "https://short.example", "refresh_ttl_seconds": 299},
        {"name": "nothing"},
        {"uri": "https://odd.example", "colour": "blue"},
        {"uri": "https://last.example"},
    ]
    answer = ours.post("/v1/kb/sources/batch", {"sources": wanted})
    results = answer.json["results"]
    assert [result["index"] for result in results] == list(range(len(wanted)))
    assert [result["status"] for result in results] == [201, 200, 422, 200, 422, 422, 422, 201]
    assert results[3]["source"]["id"] == results[0]["source"]["id"]
    assert results[3]["source"]["name"] == "New"
    assert results[1]["source"]["name"] == "Known"
    assert [r["problem"]["field"] for r in results if r["problem"]] == ["uri", "refresh_ttl_seconds", "uri", "colour"]
    assert all((result["source"] is None) == (result["status"] == 422) for result in results)
    assert len(rows(ours)) == 3
    assert used - _remaining(answer.headers["ratelimit"]) == 1


def test_a_batch_of_a_hundred_is_served(ours: Tenant) -> None:
    answer = ours.post("/v1/kb/sources/batch", {"sources": [{"uri": f"https://e.example/{n}"} for n in range(100)]})
    assert {result["status"] for result in answer.json["results"]} == {201}


def test_pages_show_every_source_once_oldest_first(ours: Tenant) -> None:
    # A batch has one instant, so the pages must also tell apart what was added at the same time.
    ours.post("/v1/kb/sources/batch", {"sources": [{"uri": f"https://e.example/{n}"} for n in range(11)]})
    ours.add("https://later.example/")
    seen, cursor, sizes = [], "", []
    while True:
        page = ours.get(f"/v1/kb/sources?limit=5{cursor}").json
        sizes.append(len(page["items"]))
        seen += page["items"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert sizes == [5, 5, 2]
    assert [item["id"] for item in seen] == [item["id"] for item in rows(ours)]
    assert len({item["id"] for item in seen}) == 12
    assert seen[-1]["uri"] == "https://later.example/"


def test_a_page_that_is_exactly_full_is_the_last(ours: Tenant) -> None:
    for n in range(2):
        ours.add(f"https://e.example/{n}")
    assert ours.get("/v1/kb/sources?limit=2").json["next_cursor"] is None
    assert ours.get("/v1/kb/sources?limit=1").json["next_cursor"] is not None


def test_sixteen_callers_who_add_one_url_make_one_source(crowd: Crowd, ours: Tenant) -> None:
    answers = crowd.rush(lambda number: ours.post("/v1/kb/sources", {"uri": SPELLINGS[number % 8]}))
    assert sorted(answer.status for answer in answers) == [200] * 15 + [201]
    assert len({answer.json["id"] for answer in answers}) == 1
    assert len(rows(ours)) == 1


def _remaining(header: str) -> int:
    return int(header.partition("r=")[2].partition(";")[0])
