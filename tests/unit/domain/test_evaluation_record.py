from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID, uuid4

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.evaluation_record import CONTEXT, Recorder
from chalicelib.domain.policy import instant

texts = st.text(st.characters(exclude_categories=["Cs"]))
contexts = st.fixed_dictionaries(dict.fromkeys(CONTEXT, texts))
moments = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]))
versions = st.none() | st.integers(0, 2**31 - 1)


@given(contexts, moments, st.uuids(), st.uuids(), versions, texts, texts, texts)
def test_the_record_is_the_canonical_json_that_the_library_makes(
    context: dict[str, str],
    moment: datetime,
    chunk: UUID,
    source: UUID,
    version: int | None,
    code: str,
    reason: str,
    digest: str,
) -> None:
    expected: dict[str, Any] = {
        **context,
        "chunk_id": str(chunk),
        "source_id": str(source),
        "version": version,
        "decision": code,
        "reason": reason,
        "policy_digest": digest,
        "evaluated_at": instant(moment),
    }
    form = Recorder(context, moment).form(code, reason)
    assert form.record(str(chunk), str(source), version, digest) == rfc8785.dumps(expected)


@given(contexts, moments, st.uuids(), texts, texts, texts)
def test_the_proof_is_the_canonical_json_that_the_library_makes(
    context: dict[str, str], moment: datetime, chunk: UUID, code: str, digest: str, key_id: str
) -> None:
    expected = {
        "chunk_id": str(chunk),
        "context": context,
        "decision": code,
        "evaluated_at": instant(moment),
        "key_id": key_id,
        "policy_digest": digest,
    }
    assert Recorder(context, moment, key_id).form(code, "").proof(str(chunk), digest) == rfc8785.dumps(expected)


def test_no_value_can_pass_for_another_name() -> None:
    """A column that was edited so as to spell the end of its string and the next names stays inside its string."""
    blank = dict.fromkeys(CONTEXT, "")
    moment, chunk = datetime(2026, 11, 30, tzinfo=UTC), str(uuid4())
    one = Recorder(blank | {"purpose": 'x","reason":"y'}, moment).form("allow", "z").record(chunk, chunk, 1, "d")
    other = Recorder(blank | {"purpose": "x"}, moment).form("allow", 'y","reason":"z').record(chunk, chunk, 1, "d")
    assert one != other


def test_a_text_that_is_no_unicode_is_refused() -> None:
    recorder = Recorder(dict.fromkeys(CONTEXT, "\ud800"), datetime(2026, 11, 30, tzinfo=UTC))
    with pytest.raises(UnicodeEncodeError):
        recorder.form("allow", "").record(str(uuid4()), str(uuid4()), 1, "d")
