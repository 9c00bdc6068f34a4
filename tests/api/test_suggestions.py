"""Suggestions: made by asking, one a source and kind, decided once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from chalicelib.domain.night_window import NightSettings, next_start
from chalicelib.services import bulk_approval, quotas, suggestions
from chalicelib.services.outside import Outside
from chalicelib.services.tokens import Principal
from chalicelib.storage import connection as connection_module
from chalicelib.storage.connection import Transaction
from chalicelib.storage.suggestions import Suggestion
from tests.api import tables
from tests.api.crowd import Crowd
from tests.api.furniture import hold_text, suggest, update
from tests.tenants import Answer, Tenant

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def listed(tenant: Tenant) -> list[dict[str, Any]]:
    return list(tenant.get("/v1/kb/suggestions").json["items"])


def listed_at(tenant: Tenant, now: datetime) -> list[Suggestion]:
    """What a list would show at another instant."""
    who = Principal(tenant.id, uuid4(), tenant_enabled=True)
    return suggestions.list_page(tenant.deployment.outside, who, after=None, limit=200, now=now)


def decide(tenant: Tenant, ident: str | UUID, decision: str, body: Any = None) -> Answer:
    return tenant.post(f"/v1/kb/suggestions/{ident}/{decision}", body)


def checked(tenant: Tenant, ident: str, when: datetime, **more: Any) -> None:
    """As if the source had been checked then."""
    more.setdefault("last_status", "unchanged")
    update(tenant, "kb_sources", ident, last_attempt_at=when, last_checked_at=when, **more)


def only(tenant: Tenant) -> dict[str, Any]:
    (item,) = listed(tenant)
    return item


def test_asking_makes_a_suggestion_for_each_stale_source(ours: Tenant) -> None:
    never, expired, failed, fresh, off = (ours.add(f"https://{n}.example")["id"] for n in "abcde")
    now = datetime.now(UTC)
    checked(ours, expired, now - 8 * DAY)
    checked(ours, failed, now - 9 * DAY)
    update(ours, "kb_sources", failed, last_status="http_5xx", last_attempt_at=now - HOUR)
    checked(ours, fresh, now - 6 * DAY)
    ours.post(f"/v1/kb/sources/{off}/toggle", {"active": False})
    items = {item["source_id"]: item for item in listed(ours)}
    assert {source: item["reason"] for source, item in items.items()} == {
        never: "never_fetched",
        expired: "ttl_expired",
        failed: "last_refresh_failed",
    }
    assert {(item["kind"], item["state"]) for item in items.values()} == {("refresh", "open")}
    assert items[failed]["detail"] == {"last_status": "http_5xx"}
    assert DAY.total_seconds() <= items[expired]["stale_for_seconds"] < DAY.total_seconds() + 600
    assert items[expired]["source_uri"] == "https://b.example/"


def test_asking_again_changes_nothing(ours: Tenant) -> None:
    ours.add("https://a.example")
    first = listed(ours)
    before = tables.dump(ours.deployment)
    assert [item["id"] for item in listed(ours)] == [item["id"] for item in first]
    assert tables.changed(before, tables.dump(ours.deployment)) == []


def test_sixteen_readers_at_once_make_one_row_a_source(crowd: Crowd, ours: Tenant) -> None:
    ours.post("/v1/kb/sources/batch", {"sources": [{"uri": f"https://e.example/{n}"} for n in range(20)]})
    answers = crowd.rush(lambda _: ours.get("/v1/kb/suggestions?limit=200"))
    assert [answer.status for answer in answers] == [200] * 16
    seen = {tuple(item["id"] for item in answer.json["items"]) for answer in answers}
    assert len(seen) == 1, "every reader sees the same list"
    (ids,) = seen
    assert len(set(ids)) == 20


def test_pages_of_suggestions_show_each_once(ours: Tenant) -> None:
    ours.post("/v1/kb/sources/batch", {"sources": [{"uri": f"https://e.example/{n}"} for n in range(7)]})
    seen, cursor = [], ""
    while True:
        page = ours.get(f"/v1/kb/suggestions?limit=3{cursor}").json
        seen += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert len(seen) == len(set(seen)) == 7


def test_a_source_refreshed_meanwhile_is_no_longer_asked_about(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    only(ours)
    checked(ours, source, datetime.now(UTC))
    assert listed(ours) == []


def test_a_source_switched_off_meanwhile_is_no_longer_asked_about(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    first = only(ours)["id"]
    ours.post(f"/v1/kb/sources/{source}/toggle", {"active": False})
    assert listed(ours) == []
    assert decide(ours, first, "approve").status == 409
    ours.post(f"/v1/kb/sources/{source}/toggle", {"active": True})
    assert only(ours)["id"] != first


def test_a_source_with_an_open_event_is_not_asked_about(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    event = ours.post(f"/v1/kb/sources/{source}/queue", {"when": "night"}).json["event_id"]
    assert listed(ours) == []
    ours.post(f"/v1/kb/events/{event}/cancel")
    assert only(ours)["source_id"] == source


def test_an_open_review_keeps_the_refresh_back(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    review = hold_text(ours, UUID(source), now=datetime.now(UTC))
    assert [(item["id"], item["kind"]) for item in listed(ours)] == [(str(review), "review_change")]
    assert decide(ours, review, "dismiss").status == 200
    assert [item["kind"] for item in listed(ours)] == ["refresh"]


@pytest.mark.parametrize("kind", ["review_change", "gone"])
def test_a_question_that_was_put_off_leaves_its_source_to_go_stale(kind: str, ours: Tenant) -> None:
    source = UUID(ours.add("https://a.example")["id"])
    asked = hold_text(ours, source, now=datetime.now(UTC)) if kind == "review_change" else suggest(ours, source, kind)
    assert [item["kind"] for item in listed(ours)] == [kind]
    until = datetime.fromisoformat(decide(ours, asked, "snooze", {"days": 365}).json["snoozed_until"])
    assert [item["kind"] for item in listed(ours)] == ["refresh"]
    assert decide(ours, only(ours)["id"], "dismiss").status == 200
    assert [one.kind for one in listed_at(ours, until - DAY)] == ["refresh"]
    # Open again, a review is what the source is asked about; both say that the page may be gone, or stale.
    again = [one.kind for one in listed_at(ours, until)]
    assert sorted(again) == (["review_change"] if kind == "review_change" else ["gone", "refresh"])


def test_a_refresh_that_was_put_off_is_not_closed_by_a_review(ours: Tenant) -> None:
    source = UUID(ours.add("https://a.example")["id"])
    refresh = only(ours)["id"]
    until = datetime.fromisoformat(decide(ours, refresh, "snooze", {"days": 3}).json["snoozed_until"])
    review = hold_text(ours, source, now=datetime.now(UTC))
    assert [item["id"] for item in listed(ours)] == [str(review)]
    decide(ours, review, "dismiss")
    assert listed(ours) == []
    assert [str(one.id) for one in listed_at(ours, until)] == [refresh]


def test_snoozing_hides_a_suggestion_until_the_day(ours: Tenant) -> None:
    ours.add("https://a.example")
    ident = only(ours)["id"]
    before = datetime.now(UTC)
    answer = decide(ours, ident, "snooze", {"days": 3})
    assert (answer.status, answer.json["state"]) == (200, "snoozed")
    until = datetime.fromisoformat(answer.json["snoozed_until"])
    assert before + 3 * DAY <= until <= datetime.now(UTC) + 3 * DAY
    assert listed(ours) == []
    assert listed_at(ours, until - timedelta(microseconds=1)) == []
    (again,) = listed_at(ours, until)
    assert (str(again.id), again.state, again.snoozed_until) == (ident, "open", None)


@pytest.mark.parametrize("days", [1, 365])
def test_the_ends_of_a_snooze_are_allowed(days: int, ours: Tenant) -> None:
    ours.add("https://a.example")
    assert decide(ours, only(ours)["id"], "snooze", {"days": days}).status == 200


def test_a_snoozed_suggestion_ends_when_its_source_is_refreshed(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    ident = only(ours)["id"]
    decide(ours, ident, "snooze", {"days": 1})
    later = datetime.now(UTC) + 2 * DAY
    checked(ours, source, later)
    assert listed_at(ours, later) == []
    (stale_again,) = listed_at(ours, later + 8 * DAY)
    assert str(stale_again.id) != ident


def test_a_dismissed_suggestion_stays_away_until_one_more_ttl_has_passed(ours: Tenant) -> None:
    ours.add("https://a.example", refresh_ttl_seconds=3600)
    ident = only(ours)["id"]
    answer = decide(ours, ident, "dismiss")
    assert (answer.status, answer.json["state"]) == (200, "dismissed")
    decided = datetime.fromisoformat(answer.json["decided_at"])
    assert listed(ours) == []
    assert listed_at(ours, decided + HOUR - timedelta(microseconds=1)) == []
    (again,) = listed_at(ours, decided + HOUR)
    assert str(again.id) != ident


def test_a_dismissed_suggestion_comes_back_once_the_source_was_checked_and_is_stale_again(ours: Tenant) -> None:
    source = ours.add("https://a.example", refresh_ttl_seconds=300)["id"]
    now = datetime.now(UTC)
    checked(ours, source, now - DAY, refresh_ttl_seconds=86_400)
    decided = datetime.fromisoformat(decide(ours, only(ours)["id"], "dismiss").json["decided_at"])
    # A shorter clock from here on: a check lies between the dismissal and the next staleness.
    checked(ours, source, decided + timedelta(seconds=1), refresh_ttl_seconds=300)
    assert listed_at(ours, decided + timedelta(seconds=200)) == []
    assert len(listed_at(ours, decided + timedelta(seconds=301))) == 1


def test_a_failed_try_does_not_end_a_dismissal(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    decide(ours, only(ours)["id"], "dismiss")
    update(ours, "kb_sources", source, last_attempt_at=datetime.now(UTC), last_status="timeout")
    assert listed(ours) == []


def test_approving_schedules_for_the_start_of_the_next_night(ours: Tenant) -> None:
    night = {"night_start": "03:15", "night_end": "04:00", "timezone": "Pacific/Chatham"}
    ours.post("/v1/kb/settings", night)
    source = ours.add("https://a.example")["id"]
    ident = only(ours)["id"]
    before = datetime.now(UTC)
    answer = decide(ours, ident, "approve")
    assert (answer.status, answer.json["suggestion_id"]) == (202, ident)
    event = answer.json["event"]
    assert (event["source_id"], event["kind"], event["state"]) == (source, "KB_REFRESH_SOURCE", "pending")
    assert event["when"] == "night"
    start = next_start(NightSettings(time(3, 15), time(4, 0), "Pacific/Chatham"), before)
    assert datetime.fromisoformat(event["available_at"]) == start
    assert ours.get("/v1/kb/events").json["items"] == [event]
    assert listed(ours) == []
    assert ours.get("/v1/kb/status").json["suggestions"] == {"open": 0, "approved": 1}


def test_approving_joins_the_event_that_is_open_already(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    ident = only(ours)["id"]
    queued = ours.post(f"/v1/kb/sources/{source}/queue", {"when": "night"}).json
    assert decide(ours, ident, "approve").json["event"]["event_id"] == queued["event_id"]
    assert len(ours.get("/v1/kb/events").json["items"]) == 1


def test_cancelling_the_event_ends_the_approval_and_the_source_is_asked_about_again(ours: Tenant) -> None:
    ours.add("https://a.example")
    ident = only(ours)["id"]
    event = decide(ours, ident, "approve").json["event"]["event_id"]
    assert ours.post(f"/v1/kb/events/{event}/cancel").json["state"] == "cancelled"
    assert only(ours)["id"] != ident
    assert ours.get("/v1/kb/status").json["suggestions"] == {"open": 1, "approved": 0}


@pytest.mark.parametrize("first", ["approve", "snooze", "dismiss"])
@pytest.mark.parametrize("second", ["approve", "snooze", "dismiss"])
def test_what_is_decided_is_not_decided_again(first: str, second: str, ours: Tenant) -> None:
    ours.add("https://a.example")
    ident = only(ours)["id"]
    body = {"approve": None, "snooze": {"days": 1}, "dismiss": None}
    assert decide(ours, ident, first, body[first]).status in (200, 202)
    before = tables.dump(ours.deployment)
    answer = decide(ours, ident, second, body[second])
    assert (answer.status, answer.json["code"]) == (409, "suggestion_not_open")
    assert answer.json["state"] == {"approve": "approved", "snooze": "snoozed", "dismiss": "dismissed"}[first]
    assert tables.changed(before, tables.dump(ours.deployment)) == []


def test_sixteen_approvals_at_once_make_one_event(crowd: Crowd, ours: Tenant) -> None:
    ours.add("https://a.example")
    ident = only(ours)["id"]
    answers = crowd.rush(lambda _: decide(ours, ident, "approve"))
    assert sorted(answer.status for answer in answers) == [202] + [409] * 15
    assert len(ours.get("/v1/kb/events").json["items"]) == 1


def test_opposite_decisions_at_once_end_in_one_of_them(crowd: Crowd, ours: Tenant) -> None:
    ours.add("https://a.example")
    ident = only(ours)["id"]
    answers = crowd.rush(lambda number: decide(ours, ident, ("approve", "dismiss")[number % 2]))
    assert [answer.status for answer in answers if answer.status != 409] in ([202], [200])


def test_the_admin_token_that_decided_is_kept(ours: Tenant) -> None:
    ours.add("https://a.example")
    ident = only(ours)["id"]
    decide(ours, ident, "approve")
    with tables.superuser(ours.deployment) as connection:
        classes = connection.execute(
            "select t.class from kb_suggestions s join api_tokens t on t.id = s.decided_by where s.id = %s", (ident,)
        ).fetchall()
    assert classes == [("admin",)]


def test_approving_a_review_publishes_at_once(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    review = hold_text(ours, UUID(source), now=datetime.now(UTC))
    answer = decide(ours, review, "approve")
    assert (answer.status, answer.json["event"]["kind"], answer.json["event"]["when"]) == (
        202,
        "KB_PUBLISH_REVIEW",
        "now",
    )
    assert datetime.fromisoformat(answer.json["event"]["available_at"]) <= datetime.now(UTC)


def test_a_review_waits_while_a_refresh_is_under_way(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    event = ours.post(f"/v1/kb/sources/{source}/queue", {"when": "now"}).json["event_id"]
    review = hold_text(ours, UUID(source), now=datetime.now(UTC))
    answer = decide(ours, review, "approve")
    assert (answer.status, answer.json["code"], answer.json["event_id"]) == (409, "event_open", event)
    assert only(ours)["id"] == str(review)


def test_a_review_shows_the_text_that_was_kept_and_what_it_would_change(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    review = hold_text(ours, UUID(source), now=datetime.now(UTC))
    shown = ours.get(f"/v1/kb/suggestions/{review}/review")
    assert shown.status == 200
    expected = {
        "text": "A doubtful text.",
        "reason": "shrunk",
        "current_version": None,
        "inserted": 1,
        "deleted": 0,
        "withheld": 0,
    }
    assert {name: shown.json[name] for name in expected} == expected
    assert shown.json["unified"].splitlines()[:2] == ["--- nothing", "+++ for review"]


def test_a_review_withholds_what_publishing_would_class_as_credentials(ours: Tenant) -> None:
    ours.post("/v1/memory/firewall/mode", {"mode": "enforce"})
    review = hold_text(ours, UUID(ours.add("https://a.example")["id"]), now=datetime.now(UTC))
    with tables.superuser(ours.deployment) as connection:
        connection.execute("update kb_held_texts set text = 'mail [REDACTED:password], safe next to the stove'")
    shown = ours.get(f"/v1/kb/suggestions/{review}/review").json
    assert (shown["withheld"], "stove" in shown["text"], "stove" in shown["unified"]) == (1, False, False)


def test_a_review_is_for_admins_of_the_tenant(ours: Tenant, theirs: Tenant) -> None:
    review = hold_text(ours, UUID(ours.add("https://a.example")["id"]), now=datetime.now(UTC))
    path = f"/v1/kb/suggestions/{review}/review"
    assert ((refused := ours.read_only("GET", path)).status, refused.json["code"]) == (403, "admin_token_required")
    assert theirs.get(path).status == 404


def test_only_an_undecided_review_has_something_to_show(ours: Tenant) -> None:
    stale = ours.add("https://a.example")["id"]
    ident = only(ours)["id"]
    answer = ours.get(f"/v1/kb/suggestions/{ident}/review")
    assert (answer.status, answer.json["code"], answer.json["kind"]) == (404, "no_held_text", "refresh")
    review = hold_text(ours, UUID(stale), now=datetime.now(UTC))
    decide(ours, review, "dismiss")
    answer = ours.get(f"/v1/kb/suggestions/{review}/review")
    assert (answer.status, answer.json["code"], answer.json["state"]) == (409, "suggestion_not_open", "dismissed")


def test_approving_that_it_is_gone_switches_the_source_off(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    answer = decide(ours, suggest(ours, UUID(source), "gone"), "approve")
    assert (answer.status, answer.json["event"]) == (200, None)
    assert ours.get(f"/v1/kb/sources/{source}").json["active"] is False
    assert listed(ours) == []


def test_approving_a_merge_switches_the_duplicate_off_and_leaves_the_other(ours: Tenant) -> None:
    duplicate, other = (ours.add(f"https://{n}.example")["id"] for n in "ab")
    detail = json.dumps({"uri": "https://b.example/", "other_source_id": other})
    assert decide(ours, suggest(ours, UUID(duplicate), "merge", detail), "approve").status == 200
    assert {s["id"]: s["active"] for s in ours.get("/v1/kb/sources").json["items"]} == {duplicate: False, other: True}


def test_merging_into_a_source_that_is_off_switches_that_one_on(ours: Tenant) -> None:
    duplicate, other = (ours.add(f"https://{n}.example")["id"] for n in "ab")
    ours.post(f"/v1/kb/sources/{other}/toggle", {"active": False})
    detail = json.dumps({"uri": "https://b.example/", "other_source_id": other})
    assert decide(ours, suggest(ours, UUID(duplicate), "merge", detail), "approve").status == 200
    assert {s["id"]: s["active"] for s in ours.get("/v1/kb/sources").json["items"]} == {duplicate: False, other: True}


def test_approving_a_new_uri_moves_the_source_forgets_its_validators_and_schedules(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    update(ours, "kb_sources", source, etag='"x"', last_modified="Sat, 28 Nov 2026 10:00:00 GMT")
    waiting = ours.post(f"/v1/kb/sources/{source}/queue", {"when": "night"}).json["event_id"]
    moved = suggest(ours, UUID(source), "change_uri", json.dumps({"uri": "https://new.example/"}))
    answer = decide(ours, moved, "approve")
    assert answer.status == 202
    assert answer.json["event"]["event_id"] != waiting, (
        "what was approved for the old address does not go to the new one"
    )
    after = ours.get(f"/v1/kb/sources/{source}").json
    assert (after["uri"], after["etag"], after["last_modified"]) == ("https://new.example/", None, None)
    states = {event["event_id"]: event["state"] for event in ours.get("/v1/kb/events").json["items"]}
    assert states == {waiting: "cancelled", answer.json["event"]["event_id"]: "pending"}


def test_a_new_uri_that_another_source_has_meanwhile_is_refused(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    moved = suggest(ours, UUID(source), "change_uri", json.dumps({"uri": "https://b.example/"}))
    ours.add("https://b.example")
    before = tables.dump(ours.deployment)
    answer = decide(ours, moved, "approve")
    assert (answer.status, answer.json["code"]) == (409, "uri_taken")
    assert tables.changed(before, tables.dump(ours.deployment)) == []


def test_approving_for_a_source_that_is_off_is_refused(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    ident = only(ours)["id"]
    ours.post(f"/v1/kb/sources/{source}/toggle", {"active": False})
    answer = decide(ours, ident, "approve")
    assert (answer.status, answer.json["code"]) == (409, "source_inactive")


def _used(tenant: Tenant) -> int:
    with tables.superuser(tenant.deployment) as connection:
        row = connection.execute("select used from mutation_windows where tenant_id = %s", (tenant.id,)).fetchone()
        return int(row[0]) if row else 0


def test_approving_many_by_id_gives_each_its_own_result_and_counts_once(ours: Tenant, theirs: Tenant) -> None:
    for name in "abcd":
        ours.add(f"https://{name}.example")
    by_uri = {item["source_uri"][8]: item for item in listed(ours)}
    decide(ours, by_uri["b"]["id"], "dismiss")
    ours.post(f"/v1/kb/sources/{by_uri['c']['source_id']}/toggle", {"active": False})
    theirs.add("https://a.example")
    foreign, unknown = only(theirs)["id"], str(uuid4())
    ids = [
        by_uri["a"]["id"],
        by_uri["b"]["id"],
        by_uri["c"]["id"],
        foreign,
        unknown,
        by_uri["d"]["id"],
        by_uri["a"]["id"],
    ]
    used = _used(ours)
    answer = ours.post("/v1/kb/suggestions/approve", {"ids": ids})
    results = answer.json["results"]
    assert [result["suggestion_id"] for result in results] == ids[:-1], "what is named twice is decided once"
    assert [result["status"] for result in results] == [202, 409, 409, 404, 404, 202]
    codes = [result["problem"]["code"] for result in results if result["problem"]]
    assert codes == ["suggestion_not_open", "source_inactive", "not_found", "not_found"]
    assert _used(ours) == used + 1
    assert {event["source_id"] for event in ours.get("/v1/kb/events").json["items"]} == {
        by_uri["a"]["source_id"],
        by_uri["d"]["source_id"],
    }
    assert only(theirs)["id"] == foreign


def test_approving_all_decides_what_is_open_and_makes_it_current_first(ours: Tenant) -> None:
    sources = [ours.add(f"https://{name}.example")["id"] for name in "abcd"]
    hold_text(ours, UUID(sources[0]), now=datetime.now(UTC))
    ours.post(f"/v1/kb/sources/{sources[0]}/queue", {"when": "now"})  # so the review of it has to wait
    gone = suggest(ours, UUID(sources[1]), "gone")
    used = _used(ours)
    results = ours.post("/v1/kb/suggestions/approve", {"all": True}).json["results"]  # nobody has listed them yet
    assert sorted(result["status"] for result in results) == [200, 202, 202, 409]
    (switched_off,) = [result for result in results if result["status"] == 200]
    assert (switched_off["suggestion_id"], switched_off["event"], switched_off["problem"]) == (str(gone), None, None)
    assert _used(ours) == used + 1
    again = ours.post("/v1/kb/suggestions/approve", {"all": True}).json["results"]
    assert [result["status"] for result in again] == [409]


def test_what_a_part_has_approved_stands_before_the_next_part_is_done(
    ours: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_approval, "PART", 4)
    ours.post("/v1/kb/sources/batch", {"sources": [{"uri": f"https://e.example/{n}"} for n in range(10)]})
    seen: list[int] = []
    turn = quotas.turn

    @contextmanager
    def watched(outside: Outside, who: Principal) -> Iterator[Transaction]:
        with tables.superuser(ours.deployment) as connection:
            row = connection.execute("select count(*) from kb_events where tenant_id = %s", (ours.id,)).fetchone()
            seen.append(row[0] if row else 0)
        with turn(outside, who) as tx:
            yield tx

    monkeypatch.setattr(quotas, "turn", watched)
    used = _used(ours)
    results = ours.post("/v1/kb/suggestions/approve", {"all": True}).json["results"]
    assert [result["status"] for result in results] == [202] * 10
    assert seen == [0, 4, 8]
    assert _used(ours) == used + 1
    assert {result["event"]["state"] for result in results} == {"pending"}
    assert ours.get("/v1/kb/status").json["suggestions"] == {"open": 0, "approved": 10}


def test_refreshes_are_approved_together_and_not_one_by_one(ours: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    ours.post("/v1/kb/sources/batch", {"sources": [{"uri": f"https://e.example/{n}"} for n in range(100)]})
    statements: list[str] = []
    named = connection_module.query
    monkeypatch.setattr(connection_module, "query", lambda name: statements.append(name) or named(name))
    results = ours.post("/v1/kb/suggestions/approve", {"all": True}).json["results"]
    assert [result["status"] for result in results] == [202] * 100
    assert len(statements) < 40, statements


def test_what_is_decided_twice_in_one_bulk_goes_by_the_order_of_the_questions(ours: Tenant) -> None:
    source = ours.add("https://a.example")["id"]
    refresh = only(ours)["id"]
    gone = str(suggest(ours, UUID(source), "gone"))
    results = ours.post("/v1/kb/suggestions/approve", {"ids": [gone, refresh]}).json["results"]
    assert [result["status"] for result in results] == [200, 409]
    assert results[1]["problem"]["code"] == "source_inactive"


def test_approving_all_of_nothing_is_an_empty_list(ours: Tenant) -> None:
    assert ours.post("/v1/kb/suggestions/approve", {"all": True}).json == {"results": []}


def test_sixteen_approvals_of_all_at_once_approve_each_once(crowd: Crowd, ours: Tenant) -> None:
    ours.post("/v1/kb/sources/batch", {"sources": [{"uri": f"https://e.example/{n}"} for n in range(10)]})
    answers = crowd.rush(lambda _: ours.post("/v1/kb/suggestions/approve", {"all": True}))
    assert [answer.status for answer in answers] == [200] * 16
    statuses = [result["status"] for answer in answers for result in answer.json["results"]]
    assert statuses == [202] * 10
    assert len(ours.get("/v1/kb/events?limit=200").json["items"]) == 10


def test_a_tenant_with_thousands_of_stale_sources_is_asked_about_all_of_them(ours: Tenant) -> None:
    with tables.superuser(ours.deployment) as connection:
        connection.execute(
            "insert into kb_sources (tenant_id, uri, name, created_at, updated_at) "
            "select %s, 'https://e.example/' || n, n, now(), now() from generate_series(1, 5000) n",
            (ours.id,),
        )
    assert len(ours.get("/v1/kb/suggestions?limit=200").json["items"]) == 200
    assert ours.get("/v1/kb/status").json["suggestions"]["open"] == 5000
    # Right after so many rows the planner knows of none: a join would look through them all once for each source.
    assert len(ours.get("/v1/kb/suggestions?limit=200").json["items"]) == 200
