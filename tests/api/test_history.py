"""What a source said, and when, over HTTP; and that search finds the caller's own words alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest

from tests.api.furniture import TEXTS, furnish, write_version
from tests.tenants import Answer, Tenant

DAY = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)


@pytest.fixture
def source(ours: Tenant) -> UUID:
    return furnish(ours, alike=False)["source_id"]


def text_at(tenant: Tenant, source: UUID, instant: datetime) -> Answer:
    return tenant.get(f"/v1/kb/sources/{source}/text?at={quote(instant.isoformat())}")


def test_versions_are_listed_newest_first_without_gap_or_overlap(ours: Tenant, source: UUID) -> None:
    newest, first = ours.get(f"/v1/kb/sources/{source}/versions").json["items"]
    assert (newest["version"], newest["valid_to"]) == (2, None)
    assert (first["version"], first["valid_to"]) == (1, newest["valid_from"])
    assert ours.get(f"/v1/kb/sources/{source}").json["current_version"] == 2


def test_pages_of_versions_go_on_below_the_cursor(ours: Tenant, source: UUID) -> None:
    page = ours.get(f"/v1/kb/sources/{source}/versions?limit=1").json
    assert ([item["version"] for item in page["items"]], page["next_cursor"]) == ([2], 2)
    page = ours.get(f"/v1/kb/sources/{source}/versions?limit=1&cursor=2").json
    assert ([item["version"] for item in page["items"]], page["next_cursor"]) == ([1], None)
    assert ours.get(f"/v1/kb/sources/{source}/versions?cursor=1").json == {"items": [], "next_cursor": None}


def test_the_text_is_that_of_the_instant_and_the_switch_belongs_to_the_new_version(ours: Tenant, source: UUID) -> None:
    newest, first = ours.get(f"/v1/kb/sources/{source}/versions").json["items"]
    begin, switch = (datetime.fromisoformat(version["valid_from"]) for version in (first, newest))
    assert text_at(ours, source, begin).json["text"] == TEXTS[0]
    assert text_at(ours, source, switch - MICROSECOND).json["text"] == TEXTS[0]
    assert text_at(ours, source, switch).json["text"] == TEXTS[1]
    assert text_at(ours, source, switch.astimezone(UTC) + 1000 * DAY).json["version"]["version"] == 2
    assert ours.get(f"/v1/kb/sources/{source}/text").json["text"] == TEXTS[1]


def test_one_instant_may_be_written_with_any_offset(ours: Tenant, source: UUID) -> None:
    switch = datetime.fromisoformat(ours.get(f"/v1/kb/sources/{source}/versions").json["items"][0]["valid_from"])
    local = (switch + timedelta(hours=5, minutes=45)).replace(tzinfo=None).isoformat()
    answer = ours.get(f"/v1/kb/sources/{source}/text?at={local}%2B05:45")
    assert answer.json["text"] == TEXTS[1]
    assert datetime.fromisoformat(answer.json["at"]) == switch


@pytest.mark.parametrize("instant", ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z"])
def test_before_the_first_version_there_was_none(instant: str, ours: Tenant, source: UUID) -> None:
    answer = ours.get(f"/v1/kb/sources/{source}/text?at={instant}")
    assert (answer.status, answer.json["code"]) == (404, "no_version")


def test_a_source_never_fetched_has_no_text_and_no_diff(ours: Tenant) -> None:
    path = f"/v1/kb/sources/{ours.add('https://never.example')['id']}"
    assert ours.get(f"{path}/versions").json["items"] == []
    for part in ("text", "diff"):
        answer = ours.get(f"{path}/{part}")
        assert (answer.status, answer.json["code"]) == (404, "no_version")


def test_the_diff_is_by_default_the_last_change(ours: Tenant, source: UUID) -> None:
    path = f"/v1/kb/sources/{source}/diff"
    found = ours.get(path).json
    assert (found["from_version"]["version"], found["to_version"]["version"]) == (1, 2)
    assert (found["inserted"], found["deleted"], found["coarse"]) == (1, 1, False)
    assert "-The kettle is blue." in found["unified"]
    assert "+The kettle is red." in found["unified"]
    assert ours.get(f"{path}?from=1&to=2").json == found
    assert ours.get(f"{path}?to=2").json == found


def test_a_diff_may_go_backwards_or_nowhere(ours: Tenant, source: UUID) -> None:
    path = f"/v1/kb/sources/{source}/diff"
    assert "+The kettle is blue." in ours.get(f"{path}?from=2&to=1").json["unified"]
    same = ours.get(f"{path}?from=2&to=2").json
    assert (same["hunks"], same["unified"], same["inserted"], same["deleted"]) == ([], "", 0, 0)


@pytest.mark.parametrize("query", ["to=1", "from=3", "to=3", "from=2147483647", "from=1&to=99"])
def test_a_diff_with_a_version_that_is_not_there_is_404(query: str, ours: Tenant, source: UUID) -> None:
    answer = ours.get(f"/v1/kb/sources/{source}/diff?{query}")
    assert (answer.status, answer.json["code"]) == (404, "no_version")


def test_search_finds_the_callers_own_words_alone(ours: Tenant, source: UUID, theirs: Tenant) -> None:
    foreign = furnish(theirs, alike=False)["source_id"]
    for mode in ("hybrid", "vector", "keyword"):
        hits = ours.post("/v1/kb/search", {"query": "red kettle", "mode": mode}).json["hits"]
        assert [(hit["source_id"], hit["text"]) for hit in hits] == [(str(source), TEXTS[1])], mode
        nothing = ours.post("/v1/kb/search", {"query": "red kettle", "mode": mode, "source_ids": [str(foreign)]})
        assert nothing.json["hits"] == [], mode


def test_search_as_of_an_instant_finds_what_was_said_then(ours: Tenant, source: UUID) -> None:
    switch = datetime.fromisoformat(ours.get(f"/v1/kb/sources/{source}/versions").json["items"][0]["valid_from"])
    for at, text in [(switch - MICROSECOND, TEXTS[0]), (switch, TEXTS[1])]:
        hits = ours.post("/v1/kb/search", {"query": "kettle", "at": at.isoformat()}).json["hits"]
        assert [hit["text"] for hit in hits] == [text]
    early = ours.post("/v1/kb/search", {"query": "kettle", "at": "2001-01-01T00:00:00Z"})
    assert early.json["hits"] == []


def test_a_hit_says_whether_its_source_is_stale(ours: Tenant) -> None:
    fresh = UUID(ours.add("https://fresh.example")["id"])
    write_version(ours, fresh, 1, "A lamp.", datetime.now(UTC) - timedelta(hours=1), None)
    old = UUID(ours.add("https://old.example")["id"])
    write_version(ours, old, 1, "A lamp too.", datetime.now(UTC) - 30 * DAY, None)
    hits = ours.post("/v1/kb/search", {"query": "lamp"}).json["hits"]
    assert {hit["source_id"]: hit["stale"] for hit in hits} == {str(fresh): False, str(old): True}


def test_a_source_that_is_off_is_not_searched_and_stays_readable(ours: Tenant, source: UUID) -> None:
    ours.post(f"/v1/kb/sources/{source}/toggle", {"active": False})
    assert ours.post("/v1/kb/search", {"query": "kettle"}).json["hits"] == []
    assert ours.get(f"/v1/kb/sources/{source}/text").json["text"] == TEXTS[1]


NO_LANGUAGE = ["'; drop table kb_chunks; --", "\\", "a & | ! ( :*", '"', "%s %(x)s {}", "-", "🫙", "NULL", "a" * 1024,
               "-" * 33, "hello " + "-" * 80, "- " * 500, "-a " * 300, "| --- " * 100, "or " * 300]  # fmt: skip


@pytest.mark.parametrize("query", NO_LANGUAGE)
def test_no_query_is_read_as_a_language(query: str, ours: Tenant, source: UUID) -> None:
    for mode in ("hybrid", "keyword"):
        assert ours.post("/v1/kb/search", {"query": query, "mode": mode}).status == 200
    assert ours.post("/v1/kb/search", {"query": query, "at": "2030-01-01T00:00:00Z"}).status == 200
    assert [hit["source_id"] for hit in ours.post("/v1/kb/search", {"query": "kettle"}).json["hits"]] == [str(source)]


@pytest.mark.parametrize("at", [{}, {"at": "2100-01-01T00:00:00Z"}])
def test_any_of_the_words_will_do_where_all_of_them_find_nothing(
    at: dict[str, str], ours: Tenant, source: UUID
) -> None:
    def found(query: str) -> int:
        return len(ours.post("/v1/kb/search", {"query": query, "mode": "keyword", **at}).json["hits"])

    assert (found("kettle whistles"), found("kettle bananas"), found("bananas")) == (1, 1, 0)
    assert (found("-kettle"), found("whistles -kettle"), found("whistles -bananas")) == (0, 0, 1)


def test_sources_that_are_not_the_callers_narrow_a_search_to_nothing(ours: Tenant, source: UUID) -> None:
    for idents in ([str(uuid4())], [str(uuid4()) for _ in range(200)]):
        assert ours.post("/v1/kb/search", {"query": "kettle", "source_ids": idents}).json["hits"] == []
