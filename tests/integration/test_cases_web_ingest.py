"""The web library's cases that need the database, the worker and a site; and how the player reads their words."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.chunking import chunk
from tests.cases.generator_words import Unreadable
from tests.cases.report import Case, read_cases
from tests.cases.web_ingest_player import play
from tests.cases.web_outcomes import meant_by
from tests.cases.web_responses import each_run, response_of
from tests.cases.web_texts import chunked_text, edited, html_of, text_of
from tests.cases.web_values import duration

CASES = {case["id"]: case for case in read_cases(Path(__file__).parents[1] / "cases" / "web_ingest.jsonl")}
PURE = {"page", "page_generator", "first_fetch", "text", "text_pair", "identity", None}


def is_stateful(case: Case) -> bool:
    given = case["input"]
    is_pure = given.get("kind") in PURE or isinstance(given.get("page"), dict) or given.get("kind") == "text_generator"
    return not is_pure or "stored_chunks" in case["expected"]


@pytest.mark.parametrize("ident", [ident for ident, case in CASES.items() if is_stateful(case)])
def test_web_case(ident: str) -> None:
    verdict = play(CASES[ident])
    assert verdict.status == "PASS", f"{verdict.why} ({CASES[ident]['why']})"


@pytest.mark.parametrize(
    ("ident", "wrong"),
    [
        ("web-067", {"stored_chunks": 500}),
        ("web-069", {"new_version": True}),
        ("web-069", {"status": "failed:503"}),
        ("web-069", {"retry": "none"}),
        ("web-078", {"versions": 2}),
        ("web-078", {"last_run": "new_version"}),
        ("web-081", {"embedding_calls_run2_max": 0}),
        ("web-083", {"stored_etag": '"v1"'}),
        ("web-083", {"last_checked": "not moved"}),
        ("web-085", {"last_checked": "moved"}),
        ("web-089", {"request_header": 'If-None-Match: "abc"'}),
        ("web-093", {"next_request_must_not_have": "If-None-Match"}),
        ("web-101", {"request_headers_include": {"Cache-Control": "no-cache"}}),
        ("web-102", {"after_n": "suggest: merge"}),
        ("web-102", {"retry": "ten minutes"}),
        ("web-105", {"next_try_not_before": "2026-11-30T02:30:01Z"}),
        ("web-111", {"last_success": "run 2"}),
        ("web-111", {"fields": ["last_pondered_at"]}),
        ("web-112", {"stored_url": "http://src.example.com/new"}),
        ("web-114", {"current_version": "new"}),
        ("web-148", {"versions_added": 2}),
        ("web-150", {"current": "job1 content"}),
        ("web-150", {"job1": "stored"}),
        ("web-152", {"versions_added": 2}),
        ("web-153", {"status": "failed:timeout"}),
        ("web-154", {"fetches": 1}),
        ("web-155", {"new_version": True}),
        ("web-157", {"rows_written": 1}),
        ("web-160", {"decision": "accept"}),
        ("web-161", {"decision": "refused"}),
        ("web-167", {"returns": "v1 only"}),
        ("web-169", {"as_of_before": "B"}),
        ("web-169", {"chunks_of_A": "in search results"}),
    ],
)
def test_the_player_fails_a_case_that_asks_for_something_else(ident: str, wrong: dict[str, Any]) -> None:
    assert play({**CASES[ident], "expected": wrong}).status == "FAIL"


def test_what_is_not_understood_is_skipped_with_its_words() -> None:
    verdict = play({**CASES["web-084"], "expected": {"rule": "the moon is full"}})
    assert (verdict.status, "the moon is full" in verdict.why) == ("SKIP", True)
    verdict = play({**CASES["web-150"], "input": {"kind": "race", "order": ["the moon rises"]}})
    assert (verdict.status, "the moon rises" in verdict.why) == ("SKIP", True)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("sequence", {"runs": ["200 text A", "500"]}, {"current_version": "kept"}),
        ("sequence", {"runs": ["200 text A", "200 text B", "500"]}, {"current_version": "kept"}),
        ("edit", {"stored": {"etag": '"v1"'}, "change": "source url"}, {"request_must_not_have": "If-None-Match"}),
        ("deploy", {"change": "extractor 1 -> 2"}, {"next_request": "unconditional", "new_version": True}),
        ("deploy", {"change": "chunker 1 -> 2, same text"}, {"next_request": "unconditional", "new_version": False}),
        ("clock", {"now_sequence": ["2026-11-30T01:00:00Z", "2026-11-30T00:30:00Z"]}, {"versions": 2}),
        ("metadata", {"before": "<title>A</title><p>x y", "after": "<title>B</title><p>x y"}, {"new_version": False}),
        ("api", {"call": "GET /v1/kb/sources/{id}/text?at=yesterday"}, {"status": 422}),
        ("schedule", {"cap": 3, "approved": 5}, {"dispatched": 3, "next_night": 2, "dispatched_early": 0}),
        ("fairness", {"tenants": {"big": 1000, "small": 1}}, {"starved": 0}),
        ("quota", {"limit": 3, "used": 2, "concurrent": 4}, {"created": 1, "refused": 3}),
        ("property", {"statement": "any sequence"}, {"invariant": "exactly one version is current"}),
        ("queue", {"sources": 3, "deliveries": 3, "workers": 3}, {"versions_added": 3, "fetches": 3}),
        ("race", {"order": ["two admins approve at once"]}, {"answers": [202, 409], "events": 1}),
        ("crash", {"at": "between marking and sending"}, {"versions_added": 1, "lost": 0}),
        ("crash", {"at": "every time, while embedding"}, {"status": "failed", "current_version": "kept"}),
    ],
)
def test_kinds_that_the_library_at_hand_has_no_case_of(kind: str, given: Any, expected: Any) -> None:
    verdict = play({"id": "x", "area": "x", "input": {"kind": kind, **given}, "expected": expected})
    assert verdict.status == "PASS", verdict.why


# --- words


def test_a_run_is_a_status_a_text_a_redirect_or_a_fault() -> None:
    assert response_of("200 text A").body.decode() == html_of(text_of("A"))
    assert response_of("text A").body == response_of({"text": "A"}).body == response_of("200 text A").body
    assert response_of("HTTP 503 (Retry-After: 60)").headers == (("Retry-After", "60"),)
    assert response_of("301 -> /new").headers == (("Location", "/new"),)
    assert response_of("<p>x").body == b"<p>x"
    assert response_of({"status": 304, "etag": '"2"'}).header("etag") == '"2"'
    assert [response_of(words).fault for words in ("timeout", "connection reset", "DNS failure")] == [
        "timeout", "reset", "dns",
    ]  # fmt: skip
    assert response_of("same", "<p>last").body == b"<p>last"
    for words in ("20 chunks, 1 changed", "100 chunks", "text about time out of mind"):
        assert (response_of(words).status, response_of(words).fault) == (200, None), words


def test_runs_may_be_counted() -> None:
    assert list(each_run(["404 x 3", "A", {"status": 500, "times": 2}, "2 times 429"])) == [
        *["404"] * 3, "A", *[{"status": 500, "times": 2}] * 2, "429", "429",
    ]  # fmt: skip
    assert list(each_run("A -> B -> A")) == ["A", "B", "A"]


@pytest.mark.parametrize("count", [1, 20, 501])
def test_a_text_has_as_many_chunks_as_were_asked_for(count: int) -> None:
    assert len(chunk(chunked_text(count))) == count


def test_an_edit_is_where_its_words_say() -> None:
    before = chunked_text(20).split("\n")
    after = edited("\n".join(before), "1 changed near the end").split("\n")
    assert [old == new for old, new in zip(before, after, strict=True)].index(False) == 18
    assert len(edited("\n".join(before), "two inserted at the start").split("\n")) == 22
    with pytest.raises(Unreadable):
        edited("a", "painted blue")


@pytest.mark.parametrize(
    ("words", "status"),
    [("failed:blocked", "http_403"), ("suspicious", "needs_review"), ("failed:503", "http_5xx"), ("gone", "http_404"),
     ("failed:embedding", "embedding_failed"), ("not modified", "unchanged"), ("discarded", "lost_lease")],
)  # fmt: skip
def test_words_for_an_outcome_mean_ours(words: str, status: str) -> None:
    assert status in meant_by(words)
    assert meant_by(words) != meant_by("failed")


def test_durations_are_read() -> None:
    assert [duration(spoken) for spoken in (90, "ten minutes", "a week", "26 h")] == [
        timedelta(seconds=90), timedelta(minutes=10), timedelta(days=7), timedelta(hours=26),
    ]  # fmt: skip
