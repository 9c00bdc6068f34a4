from __future__ import annotations

import json
from typing import Any

import pytest

from chalicelib.knowledge import contract
from chalicelib.knowledge.contract import ContractFailure, parse_capabilities, parse_request, parse_response

JSON = "application/json; charset=utf-8"
RESULT = {"documentId": "d1", "title": "T", "snippet": "S", "audience": "public"}


def answer(*results: Any, **envelope: Any) -> bytes:
    return json.dumps({"contractVersion": 1, "results": list(results), **envelope}).encode()


def read(body: bytes, limit: int = 10, content_type: str | None = JSON) -> list[contract.WireResult]:
    return parse_response(body, content_type, limit=limit)


def field(name: str, value: Any) -> Any:
    """What is made of an optional field of the wire that says ``value``."""
    (result,) = read(answer({**RESULT, name: value}))
    return result.model_dump(by_alias=True)[name]


def test_the_minimum_answer_has_four_fields() -> None:
    (result,) = read(answer(RESULT))
    assert (result.document_id, result.title, result.snippet, result.audience) == ("d1", "T", "S", "public")


def test_nothing_found_is_an_answer() -> None:
    assert read(answer()) == []


def test_unknown_fields_are_ignored_and_not_kept() -> None:
    (result,) = read(answer({**RESULT, "_debug": "x", "acl": ["a"]}, total=99, returnedLocale="de"))
    assert "x" not in repr(result)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'"x"',
        b"{",
        b"[" * 100_000,
        b'{"contractVersion": 1}',
        b'{"contractVersion": 1, "results": null}',
        b'{"contractVersion": 1, "results": {}}',
        b'{"contractVersion": 1, "results": [1]}',
        b'{"results": []}',
        b'\xef\xbb\xbf{"contractVersion": 1, "results": []}',
        b'{"contractVersion": 1, "results": [], "x": "\xff"}',
        b'{"contractVersion": 1, "results": [], "x": NaN}',
        b'{"contractVersion": 1, "results": [], "results": []}',
        b'{"contractVersion": 1, "results": []} x',
        answer().decode().encode("utf-16"),
        *(answer(contractVersion=version) for version in (2, 0, True, 1.0, "1", None, [1])),
    ],
)
def test_a_broken_envelope_fails_the_whole(body: bytes) -> None:
    with pytest.raises(ContractFailure):
        read(body)


@pytest.mark.parametrize("name", ["documentId", "title", "snippet"])
@pytest.mark.parametrize("value", [..., None, "", 1, ["x"], "x" * 8_193])
def test_a_broken_required_field_fails_the_whole(name: str, value: Any) -> None:
    broken = {**RESULT, name: value}
    if value is ...:
        del broken[name]
    with pytest.raises(ContractFailure):
        read(answer(RESULT, broken))


@pytest.mark.parametrize(("name", "longest"), [("documentId", 256), ("title", 512), ("snippet", 8_192)])
def test_lengths_are_characters(name: str, longest: int) -> None:
    assert read(answer({**RESULT, name: "\U0001f36f" * longest}))
    with pytest.raises(ContractFailure):
        read(answer({**RESULT, name: "x" * (longest + 1)}))


@pytest.mark.parametrize("audience", ["internal", "Public", " public", "", None, 1, ["public"], {"public": True}])
def test_an_unknown_label_is_internal(audience: Any) -> None:
    assert read(answer({**RESULT, "audience": audience}))[0].audience == "internal"


def test_a_missing_label_is_internal() -> None:
    assert read(answer({key: value for key, value in RESULT.items() if key != "audience"}))[0].audience == "internal"


def test_a_label_given_twice_is_no_label() -> None:
    twice = answer(RESULT).replace(b'"audience": "public"', b'"audience": "internal", "audience": "public"')
    with pytest.raises(ContractFailure):
        read(twice)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("revision", "r" * 256),
        ("chunkId", "c"),
        ("url", "https://example.com/" + "u" * 2_028),
        ("locale", "de-DE"),
        ("score", 0.5),
        ("score", 1),
        ("score", -3.5),
        ("freshness", "stale"),
        ("reviewDueAt", "2026-11-30T02:00:00.5+01:00"),
        ("reviewDueAt", "2026-11-30T02:00:00-23:59"),
        ("reviewDueAt", "2016-12-31T23:59:60Z"),
        ("reviewDueAt", "2016-12-31T15:59:60.25-08:00"),
        ("reviewDueAt", "9999-12-31T23:59:60Z"),
        ("reviewDueAt", f"2026-11-30T02:00:00.{'1' * 38}+01:00"),
        ("translationGroupId", "g"),
    ],
)
def test_a_right_optional_field_is_kept(name: str, good: Any) -> None:
    assert field(name, good) == good


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("reviewDueAt", f"2026-11-30T02:00:00.{'1' * 39}+01:00"),
        ("revision", 7),
        ("revision", "r" * 257),
        ("chunkId", ["c"]),
        ("url", "https://example.com/" + "u" * 2_029),
        ("url", 1),
        ("locale", "de_DE"),
        ("locale", ""),
        ("score", "0.5"),
        ("score", True),
        ("score", 10**400),
        ("score", [0.5]),
        ("freshness", "fresh"),
        ("freshness", None),
        ("reviewDueAt", "tomorrow"),
        ("reviewDueAt", "2026-13-01T00:00:00Z"),
        ("reviewDueAt", "2026-11-30"),
        ("reviewDueAt", "2026-11-30T02:00:00+24:00"),
        ("reviewDueAt", "2026-11-30T02:00:00+23:60"),
        ("reviewDueAt", "2026-11-30T02:00:00+99:99"),
        ("reviewDueAt", "2016-12-31T22:59:60Z"),
        ("reviewDueAt", "2016-12-31T23:59:60+01:00"),
        ("reviewDueAt", "2016-12-31T23:59:61Z"),
        ("locale", "a-DE"),
        ("locale", "de-DE-DE"),
        ("reviewDueAt", 1_796_000_000),
        ("translationGroupId", {}),
    ],
)
def test_a_malformed_optional_field_counts_as_absent(name: str, bad: Any) -> None:
    assert field(name, bad) is None


OPTIONAL = ("revision", "chunkId", "url", "locale", "score", "freshness", "reviewDueAt", "translationGroupId")


@pytest.mark.parametrize("name", OPTIONAL)
@pytest.mark.parametrize("odd", ["x\ud800", "x\x00", "\x00"])
def test_an_optional_field_with_what_is_no_character_counts_as_absent(name: str, odd: str) -> None:
    assert field(name, odd) is None


@pytest.mark.parametrize("name", ["documentId", "title", "snippet"])
@pytest.mark.parametrize("odd", ["x\udfff", "x\x00", "\x00y"])
def test_a_required_field_with_what_is_no_character_fails_the_whole(name: str, odd: str) -> None:
    with pytest.raises(ContractFailure):
        read(answer({**RESULT, name: odd}))


@pytest.mark.parametrize("name", ["documentId", "title", "snippet"])
def test_other_characters_may_stand_in_a_text(name: str) -> None:
    for text in ("a\nb", "a\tb\n", "\x1b[0m", "\x7f\x85", "\u202e", "\ufffe", "\U0010ffff"):
        (result,) = read(answer({**RESULT, name: text}))
        assert result.model_dump(by_alias=True)[name] == text


@pytest.mark.parametrize("odd", ["public\ud800", "public\x00"])
def test_a_label_with_what_is_no_character_is_internal(odd: str) -> None:
    assert read(answer({**RESULT, "audience": odd}))[0].audience == "internal"


@pytest.mark.parametrize("odd", ['"\\ud800"', "9" * 5_000, "-" + "9" * 400, "1e999", "0." + "1" * 5_000])
def test_whatever_an_unknown_field_says_is_ignored(odd: str) -> None:
    body = answer({**RESULT, "odd": 0}, odd=0, **{"\ud800": 1, "\x00": "\x00"})
    body = body.replace(b'"odd": 0', f'"odd": {odd}'.encode())
    assert read(body)[0].title == "T"
    assert parse_request(f'{{"query": "x", "odd": {odd}}}'.encode(), JSON).query == "x"


@pytest.mark.parametrize("digits", ["9" * 309, "9" * 5_000])
def test_a_number_too_large_is_no_score_and_no_version(digits: str) -> None:
    assert read(answer({**RESULT, "score": 1}).replace(b'"score": 1', f'"score": {digits}'.encode()))[0].score is None
    with pytest.raises(ContractFailure):
        read(answer().replace(b'"contractVersion": 1', f'"contractVersion": {digits}'.encode()))


def test_a_score_too_large_for_a_number_counts_as_absent() -> None:
    body = answer({**RESULT, "score": 1}).replace(b'"score": 1', b'"score": 1e999')
    assert read(body)[0].score is None


def test_more_results_than_asked_for_fail_the_whole() -> None:
    assert len(read(answer(RESULT, RESULT), limit=2)) == 2
    with pytest.raises(ContractFailure):
        read(answer(RESULT, RESULT, RESULT), limit=2)


@pytest.mark.parametrize(
    "content_type", [JSON, "application/json", "Application/JSON;charset=UTF-8", 'application/json; charset="utf-8"']
)
def test_json_may_be_called_so_in_several_ways(content_type: str) -> None:
    assert read(answer(RESULT), content_type=content_type)


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/html",
        "text/json",
        "application/json; charset=latin-1",
        'application/json; charset="utf-8',
        'application/json; charset=utf-8"',
        "application/problem+json",
        "application/jsonp",
    ],
)
def test_another_content_type_fails_the_whole(content_type: str | None) -> None:
    with pytest.raises(ContractFailure):
        read(answer(RESULT), content_type=content_type)


def test_a_failure_quotes_nothing() -> None:
    with pytest.raises(ContractFailure) as error:
        read(answer({**RESULT, "title": ["a secret plan"]}))
    assert "secret" not in str(error.value)
    assert str(error.value) == "results.0.title breaks its rule"


@pytest.mark.parametrize(
    "question",
    [
        {"query": "x"},
        {"query": "\U0001f36f" * 1_024, "limit": 50},
        {"query": "x", "locale": "de-DE", "localeFallback": True, "context": {"conversationId": "c"}},
        {"query": "x", "colour": "blue", "context": {"conversationId": "c", "colour": "blue"}},
    ],
)
def test_a_right_question_is_read(question: dict[str, Any]) -> None:
    assert parse_request(json.dumps(question).encode(), JSON).query == question["query"]


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"query": ""},
        {"query": 1},
        {"query": None},
        {"query": "x" * 1_025},
        *({"query": "x", "limit": limit} for limit in (0, 51, -1, "10", 10.0, True, None)),
        {"query": "x", "locale": "de_DE"},
        {"query": "x\ud800"},
        {"query": "x", "context": {"conversationId": "\ud800"}},
        {"query": "x", "localeFallback": "yes"},
        {"query": "x", "context": "c"},
        {"query": "x", "context": {"conversationId": "c" * 257}},
    ],
)
def test_a_wrong_question_is_not(question: dict[str, Any]) -> None:
    with pytest.raises(ContractFailure):
        parse_request(json.dumps(question).encode(), JSON)


def test_capabilities_of_another_time_are_passed_over() -> None:
    body = b'{"contractVersion": 1, "capabilities": ["teleport", "scoring", "locale", "scoring"]}'
    assert parse_capabilities(body, JSON).known == ["locale", "scoring"]


def test_every_text_of_a_result_has_an_end() -> None:
    """What a provider says is passed on, so an answer could otherwise be as long as a provider likes."""
    for name, field in contract.WireResult.model_json_schema(by_alias=True)["properties"].items():
        for rule in field.get("anyOf", [field]):
            assert rule["type"] != "string" or "maxLength" in rule or "enum" in rule, name
