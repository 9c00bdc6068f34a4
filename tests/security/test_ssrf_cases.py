"""Every case of the guard's library, played over real sockets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases.report import Case, read_cases
from tests.cases.ssrf_player import play

LIBRARY = Path(__file__).parents[1] / "cases" / "ssrf.jsonl"


@pytest.mark.parametrize("case", list(read_cases(LIBRARY)), ids=lambda case: case["id"])
def test_the_guard_meets_the_case(case: Case) -> None:
    verdict = play(case)
    if verdict.status == "SKIP":
        pytest.skip(verdict.why)
    assert verdict.status == "PASS", f"{case['title']}: {verdict.why}"


OTHER_WORDS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"kind": "redirect", "start": "http://a.example.com/p", "hops": [{"at": "/p", "location": "/a b"}]},
        {"decision": "fetch", "final_url": "http://a.example.com/a%20b", "alternative": "reject"},
    ),
    (
        {
            "kind": "redirect",
            "start": "http://a.example.com/p",
            "hops": [{"at": "/p", "location": "/b"}],
            "final": {"status": 200, "headers": {"ETag": '"x"'}, "body": "ok"},
        },
        {"decision": "fetch", "final_url": "http://a.example.com/b"},
    ),
    ({"kind": "url", "urls": ["http://127.0.0.1/", "http://[::1]/"]}, {"decision": "reject", "contacted": []}),
    ({"kind": "url", "url": "http://Example.com/a/../b"}, {"stored_url": "http://example.com/b"}),
    (
        {"kind": "response", "url": "http://a.example.com/", "headers": {"Content-Type": "text/plain"}, "body_b64": ""},
        {"decision": "fail"},
    ),
    (
        {"kind": "tls", "url": "https://a.example.com/", "tls": "self signed certificate"},
        {"decision": "fail", "stage": "tls"},
    ),
]


@pytest.mark.parametrize(("given", "expected"), OTHER_WORDS)
def test_the_same_in_other_words_is_played_too(given: dict[str, Any], expected: dict[str, Any]) -> None:
    verdict = play({"id": "x", "area": "x", "input": given, "expected": expected})
    assert (verdict.status, verdict.why) == ("PASS", "")
