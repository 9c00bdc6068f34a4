"""The worker: what each kind of answer does to a source, its versions, its event and its suggestions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.fetching.errors import FetchError, Reason
from chalicelib.fetching.ssrf import FetchResult
from chalicelib.services import enforcement, refresh, reviews, scheduling, suggestions, work
from chalicelib.services.clock import ClockAhead
from chalicelib.storage.sources import Source
from chalicelib.storage.suggestions import Suggestion
from chalicelib.workers import refresh as worker
from tests.integration import rows
from tests.integration.cycle import Cycle
from tests.tenants import Deployment, Tenant, result

DAY = rows.instant("2026-11-29T12:00:00")
URL = "http://docs.example.com/page"
LONG = "\n".join(
    f"Paragraph {number} says that the pump number {number} is to be checked every {number + 3} weeks by two people, "
    "who write down what they saw, when they saw it, and what they did about it before they went home."
    for number in range(20)
)


@pytest.fixture
def cycle(deployment: Deployment) -> Cycle:
    return Cycle(deployment, DAY)


def test_the_first_fetch_makes_a_version_and_later_text_supersedes_it(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG, etag='"1"')
    assert cycle.refresh(acme, source) == "new_version"
    first = cycle.now
    cycle.later(hours=1)
    cycle.web.page(URL, LONG.replace("pump number 7", "valve number 7"), etag='"2"')
    assert cycle.refresh(acme, source) == "new_version"
    assert "valve number 7" in cycle.text(acme, source)
    assert cycle.text(acme, source, first) == LONG
    assert cycle.text(acme, source, cycle.now - timedelta(microseconds=1)) == LONG
    row = cycle.source(source)
    assert (row["etag"], row["last_status"], row["current_version"]) == ('"2"', "new_version", 2)
    assert row["last_changed_at"] == row["last_checked_at"] == cycle.now


def test_an_unchanged_page_embeds_nothing_and_writes_no_chunk_row(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG, etag='"1"')
    cycle.refresh(acme, source)
    before = rows.sql(cycle.deployment, "select xmin, * from kb_chunks order by row_id")
    embedded = len(cycle.deployment.embedder.embedded)
    for answer in ("304", "same bytes", "other bytes, same text"):
        cycle.later(hours=1)
        if answer == "304":
            cycle.web.not_modified(URL, etag='"1b"')
        elif answer == "same bytes":
            cycle.web.page(URL, LONG, etag='"3"')
        else:
            cycle.web.page(URL, LONG + "<!-- rendered just now -->", etag='"4"')
        assert cycle.refresh(acme, source) == "unchanged", answer
        assert cycle.source(source)["last_checked_at"] == cycle.now
    assert rows.sql(cycle.deployment, "select xmin, * from kb_chunks order by row_id") == before
    assert len(cycle.deployment.embedder.embedded) == embedded
    assert len(cycle.versions(source)) == 1
    assert cycle.source(source)["etag"] == '"4"'


def test_a_changed_paragraph_embeds_few_chunks_and_the_others_keep_their_identity(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)
    cycle.refresh(acme, source)
    before = {row["chunk_id"] for row in rows.sql(cycle.deployment, "select chunk_id from kb_chunks")}
    embedded = len(cycle.deployment.embedder.embedded)
    cycle.later(hours=1)
    cycle.web.page(URL, LONG.replace("pump number 18", "turbine number 18"))
    cycle.refresh(acme, source)
    after = {
        row["chunk_id"]
        for row in rows.sql(cycle.deployment, "select chunk_id from kb_chunks where upper_inf(system_time)")
    }
    assert len(before) >= 4
    assert len(before - after) <= 2
    assert len(cycle.deployment.embedder.embedded) - embedded <= 2


def test_a_b_a_are_three_versions_and_each_text_is_embedded_once(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    for text in (LONG, LONG.upper(), LONG):
        cycle.web.page(URL, text)
        assert cycle.refresh(acme, source) == "new_version"
        cycle.later(hours=1)
    assert len(cycle.versions(source)) == 3
    embedded = cycle.deployment.embedder.embedded
    assert len(embedded) == len(set(embedded))


def test_validators_go_back_byte_for_byte_and_a_check_a_week_goes_without(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG, etag='W/"odd"', last_modified="Mon, 02 Nov 2026 10:00:00 GMT")
    cycle.refresh(acme, source)
    cycle.later(days=1)
    cycle.refresh(acme, source)
    cycle.later(days=7)
    cycle.refresh(acme, source)
    sent = [validators for _, validators in cycle.web.requests]
    assert sent[0] is None
    assert sent[1] is not None
    assert (sent[1].etag, sent[1].last_modified) == ('W/"odd"', "Mon, 02 Nov 2026 10:00:00 GMT")
    assert sent[2] is None


@pytest.mark.parametrize(
    ("reason", "word", "attempts"),
    [(Reason.CONNECT, "unreachable", 5), (Reason.TIMEOUT, "timeout", 5), (Reason.HTTP_5XX, "http_5xx", 5),
     (Reason.HTTP_429, "http_429", 5), (Reason.HTTP_403, "http_403", 2), (Reason.ADDRESS, "refused", 1),
     (Reason.TYPE, "unsupported_type", 1), (Reason.TOO_LARGE, "too_large", 1)],
)  # fmt: skip
def test_a_failure_keeps_the_version_and_is_retried_as_the_table_says(
    cycle: Cycle, reason: Reason, word: str, attempts: int
) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now, refresh_ttl_seconds=300)
    cycle.web.page(URL, LONG, etag='"1"')
    cycle.refresh(acme, source)
    checked = cycle.now
    cycle.later(hours=1)
    cycle.web.fails(URL, reason)
    rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    for _ in range(attempts):
        assert cycle.deliver() == word
        cycle.later(minutes=10)
    assert cycle.deliver() == "no_message"
    row = cycle.source(source)
    assert (row["last_status"], row["last_checked_at"], row["etag"], row["current_version"]) == (
        word, checked, '"1"', 1,
    )  # fmt: skip
    assert row["last_attempt_at"] == cycle.now - timedelta(minutes=10)
    event = rows.sql(cycle.deployment, "select * from kb_events order by created_at desc limit 1")[0]
    assert (event["state"], event["outcome"], event["attempts"]) == ("failed", word, attempts)
    page = suggestions.list_page(cycle.deployment.outside, rows.principal(acme), after=None, limit=10, now=cycle.now)
    assert [(one.kind, one.reason) for one in page] == [("refresh", "last_refresh_failed")]


def test_retry_after_holds_for_the_host_and_not_for_the_source_alone(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    other = rows.add(cycle.deployment, acme, "http://docs.example.com/other", cycle.now)
    cycle.web.fails(URL, Reason.HTTP_5XX, retry_after="3600")
    cycle.web.page("http://docs.example.com/other", LONG)
    assert cycle.refresh(acme, source) == "http_5xx"
    assert cycle.refresh(acme, other) == "postponed"
    for one in (source, other):
        event = cycle.open_event(one)
        assert event is not None
        assert event["available_at"] == DAY + timedelta(hours=1)
    cycle.later(hours=1)
    cycle.web.page(URL, LONG + "\nMore.")
    assert cycle.deliver() == "new_version"
    assert len(cycle.versions(source)) == len(cycle.versions(other)) == 1


def test_gone_waits_for_the_next_night_and_the_third_in_a_row_becomes_a_suggestion(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)
    cycle.refresh(acme, source)
    cycle.later(hours=11)  # 23:00, in the night
    cycle.web.fails(URL, Reason.HTTP_404)
    assert cycle.refresh(acme, source) == "http_404"
    for _ in range(2):
        event = cycle.open_event(source)
        assert event is not None
        assert event["available_at"].hour == 22
        cycle.now = event["available_at"]
        assert cycle.deliver() == "http_404"
    assert cycle.open_event(source) is None
    page = suggestions.list_page(cycle.deployment.outside, rows.principal(acme), after=None, limit=10, now=cycle.now)
    assert [one.kind for one in page] == ["gone"]
    suggestions.approve(cycle.deployment.outside, rows.principal(acme), page[0].id, correlation_id=None, now=cycle.now)
    assert cycle.source(source)["active"] is False
    assert cycle.text(acme, source) == LONG


def test_no_address_that_is_kept_with_a_version_holds_a_secret(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5wX7yZ9bC2dF4hJ6"
    link = f"<link rel=canonical href='https://docs.example.com/p?access_token={token}'>"
    cycle.web.pages[URL] = result(URL, f"<html><head>{link}</head><body><p>{LONG}</p></body></html>".encode())
    assert cycle.refresh(acme, source) == "new_version"
    [version] = cycle.versions(source)
    assert version["canonical_url"] == "https://docs.example.com/p?access_token=[REDACTED:github_token]"


def test_an_open_question_about_a_refresh_gives_way_to_a_review(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now, refresh_ttl_seconds=300)
    cycle.web.page(URL, LONG)
    cycle.refresh(acme, source)
    cycle.later(hours=1)
    assert [one.kind for one in asked(cycle, acme)] == ["refresh"]
    cycle.web.page(URL, "This page has been shortened to a single sentence that says next to nothing about pumps.")
    assert cycle.refresh(acme, source) == "needs_review"
    assert [one.kind for one in asked(cycle, acme)] == ["review_change"]


def test_an_open_question_tells_that_the_refresh_was_tried_and_failed(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    assert [one.reason for one in asked(cycle, acme)] == ["never_fetched"]
    cycle.web.fails(URL, Reason.TOO_LARGE)
    assert cycle.refresh(acme, source) == "too_large"
    assert [(one.reason, one.detail) for one in asked(cycle, acme)] == [
        ("last_refresh_failed", {"last_status": "too_large"})
    ]


def asked(cycle: Cycle, tenant: Tenant) -> list[Suggestion]:
    who = rows.principal(tenant)
    return suggestions.list_page(cycle.deployment.outside, who, after=None, limit=10, now=cycle.now)


def test_a_doubtful_text_asks_a_person_and_approval_publishes_what_was_reviewed(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    who = rows.principal(acme)
    source = rows.add(cycle.deployment, acme, URL, cycle.now, refresh_ttl_seconds=300)
    cycle.web.page(URL, LONG)
    cycle.refresh(acme, source)
    cycle.later(hours=1)
    short = "This page has been shortened to a single sentence that says next to nothing about pumps."
    cycle.web.page(URL, short, etag='"short"')
    assert cycle.refresh(acme, source) == "needs_review"
    assert cycle.text(acme, source) == LONG
    assert cycle.source(source)["etag"] is None
    page = suggestions.list_page(cycle.deployment.outside, who, after=None, limit=10, now=cycle.now)
    assert [one.kind for one in page] == ["review_change"]
    outside = cycle.deployment.outside
    reading = enforcement.reading(outside, who, role=None, purpose=None, trace_id="test")
    review = reviews.show(outside, who, reading, page[0].id, cycle.now)
    assert (review.held.text, review.held.reason, review.held.base_version) == (short, "shrunk", 1)
    assert review.current is not None
    assert (review.current.text, review.withheld) == (LONG, 0)
    assert f"+{short}" in review.difference.unified()
    cycle.web.page(URL, "What the page says by now, after the review, must not be published at all by this approval.")
    suggestions.approve(cycle.deployment.outside, who, page[0].id, correlation_id=None, now=cycle.now)
    requests = len(cycle.web.requests)
    assert cycle.deliver() == "new_version"
    assert cycle.text(acme, source) == short
    assert len(cycle.web.requests) == requests, "a review fetches nothing"
    cycle.later(hours=1)
    cycle.web.page(URL, short)
    cycle.refresh(acme, source)
    assert cycle.web.requests[-1][1] is None, "no validators are kept of a text that was reviewed"


def test_a_source_switched_off_while_queued_is_not_fetched(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)
    rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    message_before_toggle(cycle)
    rows.sql(cycle.deployment, "update kb_sources set active = false")
    assert cycle.deliver() == "nothing_to_do"
    assert cycle.web.requests == []
    assert rows.sql(cycle.deployment, "select state, outcome from kb_events") == [
        {"state": "skipped", "outcome": "skipped_inactive"}
    ]


def message_before_toggle(cycle: Cycle) -> None:
    scheduling.tick(cycle.deployment.worker, now=cycle.now)
    assert cycle.deployment.queue.messages


@pytest.mark.parametrize(
    ("what", "statement", "result"),
    [("switched off", "update kb_sources set active = false", "skipped_inactive"),
     ("uri edited", "update kb_sources set generation = generation + 1", "source_changed"),
     ("tenant off", "update tenants set enabled = false", "tenant_disabled"),
     ("cancelled", "update kb_events set state = 'cancelled', lease_token = null", "lost_lease"),
     ("tenant deleted", "delete from tenants", "lost_lease")],
)  # fmt: skip
def test_what_changes_during_the_fetch_is_seen_at_the_commit(
    cycle: Cycle, what: str, statement: str, result: str
) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)

    def fetch(url: str, **more: object) -> object:
        rows.sql(cycle.deployment, statement)
        return cycle.web(url, validators=None, no_cache=True)

    rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    assert cycle.deliver(replace(cycle.outside, fetch=fetch)) == result
    assert cycle.versions(source) == []
    assert rows.sql(cycle.deployment, "select * from kb_chunks") == []


@pytest.mark.parametrize("answer", ["new text", "the same text", "304", "doubtful", "failure"])
def test_an_edit_of_what_is_read_of_a_page_during_its_refresh_has_the_page_read_again(
    cycle: Cycle, answer: str
) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    hidden = b'<p hidden style="display:none">A line that only some are to read.</p>'

    def page(text: str) -> None:
        cycle.web.page(URL, text, etag='"1"')
        shown = cycle.web.pages[URL]
        assert not isinstance(shown, Exception)
        cycle.web.pages[URL] = replace(shown, body=shown.body + hidden)

    page(LONG)
    cycle.refresh(acme, source)
    cycle.later(hours=1)
    match answer:
        case "new text":
            page(LONG.replace("pump number 7", "valve number 7"))
        case "304":
            cycle.web.not_modified(URL, etag='"1"')
        case "doubtful":
            page("Please log in")
        case "failure":
            cycle.web.fails(URL, Reason.TIMEOUT)
    edits = iter([True])

    def fetch(url: str, **more: Any) -> FetchResult:
        if next(edits, False):
            rows.add(cycle.deployment, acme, URL, cycle.now, keep_hidden_text=True)
        return cycle.web(url, **more)

    rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    before = cycle.versions(source)
    assert cycle.deliver(replace(cycle.outside, fetch=fetch)) == "settings_changed"
    assert cycle.versions(source) == before
    assert cycle.source(source)["etag"] is None
    waiting = cycle.open_event(source)
    assert waiting is not None
    assert (waiting["state"], waiting["attempts"], waiting["leases"]) == ("pending", 0, 0)
    page(LONG)
    assert cycle.deliver() == "new_version"
    assert cycle.web.requests[-1][1] is None, "no validator of what was read before the edit"
    assert "only some are to read" in cycle.text(acme, source)


def test_an_embedding_that_fails_half_way_leaves_the_old_version_whole(cycle: Cycle) -> None:
    from chalicelib.embedding.model import EmbeddingFailed

    class Failing:
        model_id, dimension = "test-words", 384

        def embed(self, texts: list[str]) -> list[list[float]]:
            if any("turbine" in text for text in texts):
                raise EmbeddingFailed("out of memory")
            return cycle.deployment.embedder.embed(texts)

        def fits(self, text: str) -> bool:
            return True

    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)
    cycle.refresh(acme, source)
    cycle.web.page(URL, LONG.replace("pump", "turbine"))
    rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    assert cycle.deliver(replace(cycle.outside, embedder=Failing())) == "embedding_failed"
    assert cycle.text(acme, source) == LONG
    cycle.later(minutes=10)
    assert cycle.deliver() == "new_version"


def test_a_secret_is_redacted_before_the_text_is_cut(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    cycle.web.page(URL, "x " * 593 + token + " y" * 200)
    assert cycle.refresh(acme, source) == "new_version"
    stored = " ".join(row["text"] for row in rows.sql(cycle.deployment, "select text from kb_chunks"))
    assert "ghp_" not in stored
    assert "[REDACTED:github_token]" in cycle.text(acme, source)
    assert cycle.versions(source)[0]["secrets_redacted"] == 1


@pytest.mark.parametrize("move", ["lease", "commit"])
def test_a_worker_whose_clock_is_ahead_writes_nothing_and_another_does_its_work(
    deployment: Deployment, move: str
) -> None:
    cycle = Cycle(deployment, datetime.now(UTC) - timedelta(minutes=1))
    acme = deployment.tenant()
    source = rows.add(deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)
    event = rows.queue(deployment, acme, source, "now", cycle.now)
    scheduling.tick(deployment.worker, now=cycle.now)
    wary = replace(cycle.outside, clock_lead=timedelta(minutes=1))
    ahead = datetime.now(UTC) + timedelta(minutes=2)
    readings = iter([ahead] if move == "lease" else [cycle.now] * 3)
    with pytest.raises(ClockAhead):
        worker.run(wary, event.id, clock=lambda: next(readings, ahead))
    assert cycle.versions(source) == []
    assert cycle.source(source)["last_attempt_at"] is None
    left = rows.event(deployment, event.id)
    assert (left["state"], left["attempts"], left["leases"], left["lease_until"]) == (
        "dispatched" if move == "lease" else "pending",
        0,
        0,
        None,
    )
    deployment.queue.messages.clear()
    cycle.later(minutes=16)
    assert cycle.deliver() == "new_version"


def test_a_tick_whose_clock_is_ahead_takes_nobodys_work(deployment: Deployment) -> None:
    now = datetime.now(UTC)
    acme = deployment.tenant()
    source = rows.add(deployment, acme, URL, now)
    rows.queue(deployment, acme, source, "night", now)
    wary = replace(deployment.worker, clock_lead=timedelta(minutes=1))
    with pytest.raises(ClockAhead):
        scheduling.tick(wary, now=now + timedelta(days=1))
    assert deployment.queue.messages == []
    assert rows.sql(deployment, "select * from scheduler_state") == []
    scheduling.tick(wary, now=now + timedelta(seconds=30))


def test_a_duplicate_message_finds_nothing_to_do(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)
    event = rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    assert cycle.deliver() == "new_version"
    for _ in range(3):
        assert worker.run(cycle.outside, event.id, clock=lambda: cycle.now) == "nothing_to_do"
    assert len(cycle.web.requests) == 1


def test_an_unexpected_error_ends_as_failed_after_five_leases(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    event = rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    message_before_toggle(cycle)
    for _ in range(5):
        with pytest.raises(KeyError):
            worker.run(cycle.outside, event.id, clock=lambda: cycle.now)
    assert worker.run(cycle.outside, event.id, clock=lambda: cycle.now) == "nothing_to_do"
    ended = rows.event(cycle.deployment, event.id)
    assert (ended["state"], ended["outcome"]) == ("failed", "internal_error")


def test_a_source_tells_of_an_unexpected_error_and_is_suggested_for_that_reason(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    assert [one.reason for one in asked(cycle, acme)] == ["never_fetched"]
    event = rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    message_before_toggle(cycle)
    for lease in range(1, 6):
        cycle.later(minutes=1)
        with pytest.raises(KeyError):
            worker.run(cycle.outside, event.id, clock=lambda: cycle.now)
        row = cycle.source(source)
        assert (row["last_status"], row["last_attempt_at"], row["last_checked_at"]) == (
            "internal_error",
            cycle.now,
            None,
        ), lease
        assert "unexpected error" in row["last_error"]
    (again,) = asked(cycle, acme)
    assert (again.reason, again.detail) == ("last_refresh_failed", {"last_status": "internal_error"})


def test_a_source_tells_of_an_event_that_killed_its_workers(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    assert [one.reason for one in asked(cycle, acme)] == ["never_fetched"]
    event = rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    for _ in range(5):
        scheduling.tick(cycle.deployment.worker, now=cycle.now)
        (message,) = cycle.deployment.queue.messages
        cycle.deployment.queue.messages.clear()
        assert refresh.begin(cycle.deployment.worker, message.event_id, now=cycle.now) is not None
        cycle.later(minutes=10)
    # The message comes once more before the sweep: nothing is done, and the trace is left all the same.
    assert worker.run(cycle.outside, event.id, clock=lambda: cycle.now) == "nothing_to_do"
    assert scheduling.tick(cycle.deployment.worker, now=cycle.now).leases_swept == 1
    ended = rows.event(cycle.deployment, event.id)
    assert (ended["state"], ended["error"]) == ("failed", "5 leases ended without an outcome")
    row = cycle.source(source)
    assert (row["last_status"], row["last_error"]) == ("internal_error", ended["error"])
    assert (row["last_attempt_at"], row["last_checked_at"]) == (cycle.now, None)
    (again,) = asked(cycle, acme)
    assert (again.reason, again.detail) == ("last_refresh_failed", {"last_status": "internal_error"})
    assert scheduling.tick(cycle.deployment.worker, now=cycle.now).leases_swept == 0


def test_a_night_event_does_not_start_outside_its_window(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)
    event = rows.queue(cycle.deployment, acme, source, "night", cycle.now)
    cycle.now = event.available_at
    message_before_toggle(cycle)
    cycle.later(hours=8)  # the message was slow: it is morning
    message = cycle.deployment.queue.messages.pop()
    assert worker.run(cycle.outside, message.event_id, clock=lambda: cycle.now) == "nothing_to_do"
    assert cycle.web.requests == []
    waiting = rows.event(cycle.deployment, event.id)
    assert (waiting["state"], waiting["available_at"]) == ("pending", event.available_at + timedelta(days=1))


def test_a_permanent_redirect_becomes_a_suggestion_after_seven_days(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)
    cycle.web.pages[URL] = replace(cycle.web.pages[URL], permanent_redirect_to="http://docs.example.com/new")
    who = rows.principal(acme)
    for day in (0, 4, 7):
        cycle.now = DAY + timedelta(days=day)
        cycle.refresh(acme, source)
        page = suggestions.list_page(cycle.deployment.outside, who, after=None, limit=10, now=cycle.now)
        assert [one.kind for one in page] == (["change_uri"] if day == 7 else [])
    suggestions.approve(cycle.deployment.outside, who, page[0].id, correlation_id=None, now=cycle.now)
    row = cycle.source(source)
    assert (row["uri"], row["generation"], row["etag"]) == ("http://docs.example.com/new", 2, None)
    assert (
        len(work.list_page(cycle.deployment.outside, who, state="pending", source_id=source.id, before=None, limit=5))
        == 1
    )


def test_a_redirect_to_another_sources_uri_becomes_a_suggestion_to_merge(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    rows.add(cycle.deployment, acme, "http://docs.example.com/new", cycle.now)
    cycle.web.page(URL, LONG)
    cycle.web.pages[URL] = replace(cycle.web.pages[URL], permanent_redirect_to="http://docs.example.com/new")
    cycle.refresh(acme, source)
    kinds = rows.sql(cycle.deployment, "select kind from kb_suggestions where kind <> 'refresh'")
    assert kinds == [{"kind": "merge"}]


def about_redirects(cycle: Cycle, source: Source) -> list[tuple[str, str]]:
    """Kind and target of the questions about a redirect that wait for an answer."""
    found = rows.sql(
        cycle.deployment,
        "select kind, detail->>'uri' as uri from kb_suggestions "
        "where source_id = %s and state in ('open', 'snoozed') and kind in ('change_uri', 'merge') order by created_at",
        source.id,
    )
    return [(row["kind"], row["uri"]) for row in found]


def redirect(cycle: Cycle, target: str | None) -> None:
    page = cycle.web.pages[URL]
    assert isinstance(page, FetchResult)
    cycle.web.pages[URL] = replace(page, permanent_redirect_to=target)


def test_a_question_about_a_redirect_ends_with_it_and_makes_way_for_the_right_one(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    cycle.web.page(URL, LONG)
    secure, elsewhere = URL.replace("http:", "https:"), "http://elsewhere.example.com/page"

    def check(target: str | None, days: int) -> list[tuple[str, str]]:
        redirect(cycle, target)
        cycle.later(days=days)
        assert cycle.refresh(acme, source) in ("new_version", "unchanged")
        return about_redirects(cycle, source)

    assert check(secure, 0) == [("change_uri", secure)]
    assert check(None, 8) == [], "the redirect is gone"
    assert check(secure, 8) == [("change_uri", secure)]
    assert check(elsewhere, 8) == [], "it leads elsewhere, since today"
    assert check(elsewhere, 8) == [("change_uri", elsewhere)]
    rows.add(cycle.deployment, acme, elsewhere, cycle.now)
    assert check(elsewhere, 8) == [("merge", elsewhere)], "there is a source at its end by now"
    assert check(elsewhere + "?token=" + "a1B2c3D4e5F6g7H8i9J0", 8) == [], "no address to keep"
    assert check(secure, 8) == [("change_uri", secure)]
    cycle.web.fails(URL, Reason.TIMEOUT)
    cycle.later(days=8)
    assert cycle.refresh(acme, source) == "timeout"
    assert about_redirects(cycle, source) == [("change_uri", secure)], "a check that failed has seen nothing"


@pytest.mark.parametrize("kind", ["change_uri", "merge"])
def test_a_dismissed_question_about_a_redirect_is_asked_again_after_the_next_check(cycle: Cycle, kind: str) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    target = URL.replace("http:", "https:")
    if kind == "merge":
        rows.add(cycle.deployment, acme, target, cycle.now)
    cycle.web.page(URL, LONG)
    redirect(cycle, target)
    cycle.refresh(acme, source)
    who = rows.principal(acme)
    for _ in range(2):
        page = suggestions.list_page(cycle.deployment.outside, who, after=None, limit=10, now=cycle.now)
        (question,) = [one for one in page if one.kind == kind]
        suggestions.dismiss(cycle.deployment.outside, who, question.id, cycle.now)
        cycle.later(days=6)
        listed = suggestions.list_page(cycle.deployment.outside, who, after=None, limit=10, now=cycle.now)
        assert kind not in [one.kind for one in listed]
        cycle.refresh(acme, source)
        assert about_redirects(cycle, source) == [(kind, target)]


def test_robots_txt_is_asked_where_the_operator_wants_it(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    polite = replace(cycle.outside, settings=replace(cycle.outside.settings, respect_robots=True))
    address = "http://docs.example.com/robots.txt"
    cycle.web.page(URL, LONG)
    cycle.web.pages[address] = result(address, b"User-agent: Larder\nDisallow: /page\n", content_type="text/plain")
    rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    assert cycle.deliver(polite) == "refused"
    assert [url for url, _ in cycle.web.requests] == [address]
    cycle.web.fails(address, Reason.HTTP_404)
    rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    assert cycle.deliver(polite) == "new_version"
    cycle.web.fails(address, Reason.HTTP_5XX)
    rows.queue(cycle.deployment, acme, source, "now", cycle.now)
    assert cycle.deliver(polite) == "http_5xx"


def test_a_retry_after_behind_a_redirect_closes_the_host_that_asked_and_no_other(cycle: Cycle) -> None:
    acme = cycle.deployment.tenant()
    source = rows.add(cycle.deployment, acme, URL, cycle.now)
    other = rows.add(cycle.deployment, acme, "http://docs.example.com/other", cycle.now)
    third = rows.add(cycle.deployment, acme, "http://busy.example.com/", cycle.now)
    cycle.web.fails(URL, Reason.HTTP_429, retry_after="86400")
    failure = cycle.web.pages[URL]
    assert isinstance(failure, FetchError)
    failure.host, failure.hop = "busy.example.com", 1
    cycle.web.page("http://docs.example.com/other", LONG)
    assert cycle.refresh(acme, source) == "http_429"
    assert cycle.refresh(acme, other) == "new_version"
    assert cycle.refresh(acme, third) == "postponed"
