"""Errors as problem+json: a rule is told once, in our words, and nothing of ours leaks."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import psycopg
import pytest
from pydantic import Field, ValidationError

from chalicelib.api import problem
from chalicelib.api.fields import Instant, Name, PageCursor, PageLimit, QueryText, Uuid, VersionNumber
from chalicelib.api.resource import Input, Query
from chalicelib.api.settings import SettingsIn
from chalicelib.errors import Invalid, RateLimited


class Inner(Input):
    depth: int


class Everything(Input):
    text: Annotated[str, Field(min_length=2, max_length=4)] = "abc"
    number: Annotated[int, Field(ge=300, le=400)] = 300
    flag: bool = True
    word: Literal["now", "night"] = "now"
    items: Annotated[list[int], Field(min_length=1, max_length=2)] = [1]
    free: dict[str, object] = {}
    inner: Inner | None = None
    name: Name = "x"
    query: QueryText = "x"
    at: Instant | None = None
    ident: Uuid | None = None


class Page(Query):
    limit: PageLimit = 50
    cursor: PageCursor | None = None
    version: VersionNumber | None = None


def refusal(model: type[Any], value: dict[str, Any]) -> Invalid:
    with pytest.raises(ValidationError) as found:
        model.model_validate(value)
    return problem.invalid(found.value)


@pytest.mark.parametrize(
    ("value", "field", "rule"),
    [
        ({"text": 1}, "text", "must be text"),
        ({"text": "a"}, "text", "must have 2 or more characters"),
        ({"text": "abcde"}, "text", "must have at most 4 characters"),
        ({"number": "300"}, "number", "must be a whole number"),
        ({"number": 300.0}, "number", "must be a whole number"),
        ({"number": 300.5}, "number", "must be a whole number"),
        ({"number": True}, "number", "must be a whole number"),
        ({"number": None}, "number", "must be a whole number"),
        ({"number": 299}, "number", "must be 300 or more"),
        ({"number": 10**40}, "number", "must be 400 or less"),
        ({"number": -(10**40)}, "number", "must be 300 or more"),
        ({"flag": "true"}, "flag", "must be true or false"),
        ({"flag": 1}, "flag", "must be true or false"),
        ({"word": "Now"}, "word", "must be 'now' or 'night'"),
        ({"word": ["now"]}, "word", "must be 'now' or 'night'"),
        ({"items": {"0": 1}}, "items", "must be a list"),
        ({"items": []}, "items", "must have 1 or more items"),
        ({"items": [1, 2, 3]}, "items", "must have at most 2 items"),
        ({"items": [1, "2"]}, "items.1", "must be a whole number"),
        ({"free": []}, "free", "must be an object"),
        ({"inner": 3}, "inner", "must be an object"),
        ({"inner": {}}, "inner.depth", "must be given"),
        ({"inner": {"depth": 1, "x": 1}}, "inner.x", "must be left out: this request has no such field"),
        ({"x": 1}, "x", "must be left out: this request has no such field"),
        ({"name": " \t "}, "name", "must have 1 or more characters"),
        ({"name": "a\0b"}, "name", "must not hold control characters"),
        ({"query": " \n "}, "query", "must not be blank"),
        ({"query": "a\x1bb"}, "query", "must not hold control characters"),
        ({"ident": "urn:uuid:00000000-0000-0000-0000-000000000000"}, "ident", "must be a UUID"),
        ({"ident": "00000000000000000000000000000000"}, "ident", "must be a UUID"),
        ({"ident": 0}, "ident", "must be a UUID"),
    ],
)
def test_a_rule_is_told_in_our_words_and_names_its_field_once(value: dict[str, Any], field: str, rule: str) -> None:
    found = refusal(Everything, value)
    assert found.extra["field"] == field
    assert found.extra["rule"] == rule
    assert found.detail == f"{field}: {rule}"
    assert found.extra["errors"] == [{"field": field, "rule": rule}]


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ({"night_start": "7:00"}, "must be a time of day as HH:MM, 00:00 to 23:59"),
        ({"night_end": "٠٧:٠٠"}, "must be a time of day as HH:MM, 00:00 to 23:59"),
        ({"night_end": 700}, "must be a time of day as HH:MM, 00:00 to 23:59"),
        ({"timezone": "europe/berlin"}, "must be an IANA time zone name such as Europe/Berlin"),
    ],
)
def test_the_rules_of_the_night_name_their_field_once_too(value: dict[str, Any], rule: str) -> None:
    (field,) = value
    found = refusal(SettingsIn, value)
    assert (found.detail, found.extra["rule"]) == (f"{field}: {rule}", rule)


@pytest.mark.parametrize("text", ["1_0", "10.0", " 10", "10 ", "+10", "1e1", "١٠", "１０", "0x10", "", "9" * 30])
def test_a_number_in_a_query_is_written_in_plain_digits(text: str) -> None:
    assert refusal(Page, {"limit": text}).extra["rule"] == "must be a whole number"
    assert refusal(Page, {"version": text}).extra["rule"] == "must be a whole number"


@pytest.mark.parametrize(
    ("text", "rule"), [("0", "1 or more"), ("-1", "1 or more"), ("201", "200 or less"), ("9" * 10, "200 or less")]
)
def test_a_page_has_1_to_200_rows(text: str, rule: str) -> None:
    assert rule in refusal(Page, {"limit": text}).extra["rule"]


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-01T00:00:00",  # no offset
        "2026-01-01",
        "2026-01-01 00:00:00Z",
        "20260101T000000Z",
        "2026-W01-1T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-01-01T25:00:00Z",
        "2026-01-01T00:00:00+25:00",
        "2026-01-01T00:00:00 00:00",
        "٢٠٢٦-01-01T00:00:00Z",
        "9999-12-31T23:59:59-10:00",
        "0001-01-01T00:00:00+10:00",
        "now",
        "1767225600",
        "",
    ],
)
def test_an_instant_is_rfc_3339_with_its_offset(text: str) -> None:
    assert "RFC 3339" in refusal(Everything, {"at": text}).extra["rule"]


def test_all_faults_are_told_and_the_first_leads() -> None:
    found = refusal(Everything, {"text": 1, "flag": "no", "x": 1})
    assert [error["field"] for error in found.extra["errors"]] == ["text", "flag", "x"]
    assert found.detail.startswith("text: ")


def test_a_request_of_nothing_but_faults_gets_a_short_answer() -> None:
    found = refusal(Everything, {f"x{n}": n for n in range(5000)})
    assert len(found.extra["errors"]) == problem.MAX_ERRORS


def test_no_rule_repeats_the_value_that_broke_it() -> None:
    value = {name: "s3cr3t-value" for name in Everything.model_fields if name not in ("name", "query")}
    assert "s3cr3t" not in json.dumps(problem.document(refusal(Everything, value)))


def test_a_problem_carries_its_headers_and_members() -> None:
    answer = problem.response_of(RateLimited("slow", headers={"Retry-After": "7"}, limit=10))
    assert answer.status_code == 429
    assert answer.headers == {"Content-Type": "application/problem+json", "Retry-After": "7"}
    assert json.loads(answer.body) == {
        "type": "urn:larder:problem:rate_limited",
        "title": "Too many requests",
        "status": 429,
        "detail": "slow",
        "code": "rate_limited",
        "limit": 10,
    }


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (RuntimeError("password=hunter2 at 10.0.0.1"), 500, "internal_error"),
        (psycopg.OperationalError("connection to 10.0.0.1 failed, password=hunter2"), 503, "unavailable"),
        (psycopg.ProgrammingError("syntax error near hunter2 at 10.0.0.1"), 500, "internal_error"),
    ],
)
def test_a_fault_of_ours_tells_the_caller_nothing_of_itself(
    error: Exception, status: int, code: str, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = problem.response_of(error)
    assert (answer.status_code, json.loads(answer.body)["code"]) == (status, code)
    written = answer.body + capfd.readouterr().out
    assert "hunter2" not in written
    assert "10.0.0.1" not in written


def test_what_the_framework_refuses_is_a_problem_too() -> None:
    given = {
        "statusCode": 405,
        "headers": {"Content-Type": "application/json", "Allow": "GET"},
        "body": json.dumps({"Code": "MethodNotAllowedError", "Message": "Unsupported method: PUT"}),
    }
    answer = problem.of_framework(given)
    assert answer["headers"] == {"Content-Type": "application/problem+json", "Allow": "GET"}
    body = json.loads(answer["body"])
    assert (body["status"], body["code"], body["title"]) == (405, "method_not_allowed", "Method Not Allowed")


@pytest.mark.parametrize("body", [None, "", "<html>", "[]", "null", '"x"', '{"Code": "x"}', '{"code": "ours"}'])
def test_an_error_that_is_not_the_frameworks_passes_untouched(body: str | None) -> None:
    answer = {"statusCode": 404, "headers": {"Content-Type": "text/html"}, "body": body}
    assert problem.of_framework(answer) is answer


def test_what_is_no_error_passes_untouched() -> None:
    answer = {"statusCode": 200, "headers": {"Content-Type": "text/html"}, "body": "<p>"}
    assert problem.of_framework(answer) is answer
