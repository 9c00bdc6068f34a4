"""A body is one JSON object in UTF-8, or the rule that it breaks is told."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.api import request_body
from chalicelib.errors import BadRequest, PayloadTooLarge

LIMIT = 1000


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"[]", "a JSON object"),
        (b"null", "a JSON object"),
        (b'"text"', "a JSON object"),
        (b"0", "a JSON object"),
        (b"false", "a JSON object"),
        (b"{", "must be JSON, and is not at line 1, column 2"),
        (b"{}{}", "must be JSON"),
        (b"{'a': 1}", "must be JSON"),
        (b'{"a": 1,}', "must be JSON"),
        (b'{"a": 01}', "must be JSON"),
        (b'{"a": "\x01"}', "must be JSON"),
        (b'\xef\xbb\xbf{"a": 1}', "must be JSON"),
        (b'{\n"a"\n=1}', "line 3, column 1"),
        (b'{"a": NaN}', "no NaN"),
        (b'{"a": [-Infinity]}', "no -Infinity"),
        (b'{"a": Infinity}', "no Infinity"),
        (b'{"a": 1, "a": 1}', "a key twice"),
        (b'{"x": {"a": 1, "\\u0061": 2}}', "a key twice"),
        (b'{"a": "\xff"}', "UTF-8"),
        (b'{"a": "\xc0\xaf"}', "UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "UTF-8"),
        (b'{"a": "\\ud800"}', "lone surrogate"),
        (b'{"\\udfff": 1}', "lone surrogate"),
    ],
)
def test_what_is_no_json_object_is_refused_with_its_rule(raw: bytes, rule: str) -> None:
    with pytest.raises(BadRequest) as refused:
        request_body.read(raw, limit=LIMIT)
    assert rule in refused.value.extra["rule"]
    assert refused.value.detail == f"body: {refused.value.extra['rule']}"


@pytest.mark.parametrize("deep", [b"[" * 200_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000])
def test_nesting_ends_in_a_refusal_and_not_in_the_stack(deep: bytes) -> None:
    with pytest.raises(BadRequest):
        request_body.read(deep, limit=10**6)


def test_a_number_of_more_digits_than_python_reads_is_refused() -> None:
    with pytest.raises(BadRequest, match="a number that long"):
        request_body.read(b'{"a": ' + b"9" * 5000 + b"}", limit=10**6)


@pytest.mark.parametrize("raw", [b"", b" ", b"\r\n\t ", b"{}", b" {} "])
def test_no_body_is_an_empty_object(raw: bytes) -> None:
    assert request_body.read(raw, limit=LIMIT) == {}


def test_the_limit_counts_bytes_and_is_told() -> None:
    text = json.dumps({"a": "ü" * 100}, ensure_ascii=False)
    assert request_body.read(text.encode(), limit=len(text.encode())) == {"a": "ü" * 100}
    with pytest.raises(PayloadTooLarge) as refused:
        request_body.read(text.encode(), limit=len(text.encode()) - 1)
    assert refused.value.extra == {"field": "body", "limit": len(text.encode()) - 1}


def test_text_beyond_the_basic_plane_comes_through() -> None:
    assert request_body.read(rb'{"a": "\ud83e\uded9 \u0000"}', limit=LIMIT) == {"a": "\U0001fad9 \0"}


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), _json, max_size=5))
@settings(max_examples=50, deadline=None)
def test_every_json_object_is_read_as_it_was_written(value: dict[str, object]) -> None:
    assert request_body.read(json.dumps(value).encode(), limit=10**6) == value


@given(st.binary(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_bytes_end_in_an_object_or_a_problem(raw: bytes) -> None:
    with suppress(BadRequest):
        assert isinstance(request_body.read(raw, limit=LIMIT), dict)
