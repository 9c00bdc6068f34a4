"""The whole of what a case expects: which check holds which key, and the verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.cases import web_checks as checks
from tests.cases import web_checks_http as http
from tests.cases import web_checks_text as texts
from tests.cases import web_checks_time as times
from tests.cases.generator_words import Unreadable
from tests.cases.report import Verdict, failed, passed, skipped
from tests.cases.web_checks import Check
from tests.cases.web_invariants import broken
from tests.cases.web_outcomes import meant_by
from tests.cases.web_rules import hold
from tests.cases.web_story import Story

_PROSE = (
    "rule",
    "expected_rule",
    "note",
    "message",
    "alternative_rule",
    "invariant",
    "requirement",
    "why",
    "reason_text",
)
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "final": -1}


def judge_story(story: Story, expected: Any) -> Verdict:
    """Hold every key against the story. What nobody here understands is named, and alone it is a SKIP."""
    wanted: dict[str, Any] = expected if isinstance(expected, dict) else {"rule": str(expected)}
    mismatches, unread, compared = list(broken(story)), [], 0
    for key in sorted(wanted, key=_lateness):
        if key == "alternative":
            continue
        try:
            mismatches += [f"{key}: {what}" for what in _check(key)(story, wanted[key])]
            compared += 1
        except (Unreadable, ValueError, TypeError) as words:  # a value of another shape than its check reads
            unread.append((key, str(words)))
    if mismatches and _is_second_right_answer(story, wanted.get("alternative")):
        return passed(f"the second right answer: {wanted['alternative']}")
    if mismatches:
        return failed("; ".join(dict.fromkeys(mismatches)))
    serious = [f"{key}: {words}" for key, words in unread if key not in _PROSE or not compared]
    if serious or not compared:
        return skipped(f"not understood: {'; '.join(serious) or 'nothing to compare'}")
    return passed("; ".join(f"not an assertion: {words}" for _, words in unread))


def _is_second_right_answer(story: Story, alternative: Any) -> bool:
    if isinstance(alternative, dict):
        return judge_story(story, alternative).status == "PASS"
    if not isinstance(alternative, str):
        return False
    try:
        return checks.last_outcome(story) in meant_by(alternative)
    except Unreadable:
        return False


def _prose(story: Story, value: Any) -> Iterator[str]:
    for words in value if isinstance(value, list) else [value]:
        yield from hold(story, str(words))


def _lateness(key: str) -> int:
    """Checks that go on with the story come after those that look at it."""
    return _LATE.index(key) + 1 if key in _LATE else 0


_LATE = (
    "retry",
    "attempts",
    "attempts_max",
    "max_attempts",
    "stale_reason",
    "next_request",
    "next_request_must_not_have",
    "next_request_must_have",
    "rule",
    "expected_rule",
    "note",
    "suggestion_after",
    "https_upgrade",
)


def _check(key: str) -> Check:
    found = _CHECKS.get(key)
    if found is not None:
        return found
    for pattern, make in _PATTERNS:
        match = re.fullmatch(pattern, key)
        if match:
            check: Check = make(match)
            return check
    return checks.fact(key)


def _run_number(match: re.Match[str]) -> Check:
    word = match[1]
    return checks.run_status(_ORDINALS[word] if word in _ORDINALS else int(word) - 1)


def _embedded(match: re.Match[str]) -> Check:
    return checks.embedded(int(match[1]) if match[1] else None, match[2] or "")


_PATTERNS: tuple[tuple[str, Any], ...] = (
    (r"embedding(?:s|_calls)?(?:_in)?(?:_run_?(\d+))?(?:_(max|min))?", _embedded),
    (r"(?:job|worker|delivery)_?(\d+|a|b)", lambda match: checks.job({"a": "1", "b": "2"}.get(match[1], match[1]))),
    (r"run_?(\d+)(?:_status|_outcome|_result)?", _run_number),
    (r"(first|second|third|fourth|last|final)(?:_run|_status|_outcome|_result|_attempt)?", _run_number),
    (r"chunks_of_(\w+)", lambda match: texts.chunks_of(match[1])),
)

_HELD_BY: tuple[tuple[str, Check], ...] = (
    (" ".join(_PROSE), _prose),
    ("status outcome last_status result state http_status status_code code", checks.status),
    ("outcomes statuses run_results", checks.outcomes),
    ("new_version creates_version version_created", texts.new_version),
    ("versions versions_total version_count", texts.versions),
    ("versions_added new_versions versions_written", texts.versions_added),
    ("current_versions", texts.current_versions),
    ("current_version current current_text text content", texts.current),
    ("as_of_before", texts.as_of_before),
    ("as_of_switch", texts.as_of_switch),
    ("before_first", texts.text_at_first),
    ("returns", texts.returns),
    ("stored_chunks", texts.stored_chunks),
    ("atomic", texts.atomic),
    ("job jobs late_job duplicate event message_result", checks.job()),
    ("events events_created event_count open_events", checks.events),
    ("fetches requests outbound_requests http_requests fetch_count", checks.fetches),
    ("lost lost_jobs lost_events events_lost jobs_lost", checks.lost),
    ("failed_items batch_item_failures batchItemFailures redelivered", checks.failed_items),
    ("stale is_stale", checks.stale),
    ("rows_written", checks.rows_written),
    ("decision", checks.decision),
    ("answers responses http_statuses status_codes codes", checks.answers),
    ("must_not", checks.must_not),
    ("concurrent_insert concurrent concurrent_writes", checks.concurrent),
    # validators and requests
    ("stored_etag etag", http.stored("etag")),
    ("stored_last_modified last_modified", http.stored("last_modified")),
    ("validators stored_validators stored", http.validators),
    ("request_header request_headers request_header_exact", http.request_header),
    ("request_headers_include request_must_have headers_include", http.headers_include),
    (
        "request_must_not_have request_headers_exclude headers_exclude request_headers_must_not_include",
        http.headers_exclude,
    ),
    ("next_request_must_not_have", http.next_must_not_have),
    ("next_request next_request_must_have request", http.next_request),
    ("action", http.action),
    ("stored_url stored_uri source_url uri", http.stored_url),
    # clocks, retries, suggestions
    ("last_checked last_checked_at last_success last_success_at", times.moved("last_checked_at")),
    ("last_attempt last_attempt_at", times.moved("last_attempt_at")),
    ("last_changed last_changed_at last_new_version_at", times.moved("last_changed_at")),
    ("fields", times.fields),
    ("next_try_not_before not_before retry_not_before next_attempt_not_before", times.next_try("from")),
    ("next_try_not_after not_after next_try_max retry_not_after", times.next_try("until")),
    ("next_try next_try_at retry_at next_attempt next_attempt_at", times.next_try("")),
    ("retry_after_s retry_in_s delay_s wait_s retry_in delay wait", times.retry_delay),
    ("retry retries retried schedule", times.retry),
    ("attempts attempts_max max_attempts", times.attempts_are),
    ("suggestion suggestions suggestion_kind after_n user_action suggest", times.suggestion),
    ("suggestion_after", times.suggestion_after),
    ("https_upgrade", times.https_upgrade),
    ("available_at starts_at runs_at scheduled_for", times.available_at),
    ("stale_reason suggestion_reason", times.stale_reason),
)
_CHECKS = {key: check for keys, check in _HELD_BY for key in keys.split()}
"""Keys of ``expected`` and what holds them; any other key is a fact that the teller of its kind kept."""
