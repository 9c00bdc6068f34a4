import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.secret_formats import FORMATS
from chalicelib.domain.secrets import SECRET_RULES_VERSION, Finding, find, redact
from tests.unit.domain.secret_corpus import Example, lookalikes, secrets

SECRETS = list(secrets())
LOOKALIKES = list(lookalikes())
GITHUB = "ghp" + "_" + "a1B2" * 9
AWS = "AKIA" + "ABCDEFGHIJ234567"

examples = st.sampled_from(SECRETS + LOOKALIKES)


def _missed(example: Example) -> str:
    found = tuple((finding.start, finding.end) for finding in find(example.text))
    return "" if found == example.spans else f"{example.name}: {example.text!r} gave {found}, not {example.spans}"


def test_every_secret_of_the_corpus_is_found_to_the_character() -> None:
    assert len(SECRETS) > 900
    assert list(filter(None, map(_missed, SECRETS))) == []


def test_no_lookalike_of_the_corpus_is_touched() -> None:
    assert len(LOOKALIKES) > 400
    assert list(filter(None, map(_missed, LOOKALIKES))) == []


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        # Values that say of themselves that they are none, and defaults that everybody knows, stay.
        ("password: changeme", "password: changeme"),
        ("postgres://postgres:postgres@localhost/db", "postgres://postgres:postgres@localhost/db"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("token=xxxxxxxxxxxxxxxxxxxxxxxx", "token=xxxxxxxxxxxxxxxxxxxxxxxx"),
        # A format that can't be mistaken is believed, also where its letters look like a joke.
        ("key AKIA" + "EXAMPLEEXAMPLE12", "key [REDACTED:aws_access_key]"),
        ("ghp" + "_" + "a" * 36, "[REDACTED:github_token]"),
        # A weak password is one.
        ('password = "hunter2"', 'password = "[REDACTED:password]"'),
        ("DB_PASSWORD=abc123", "DB_PASSWORD=[REDACTED:password]"),
        # Of an address only the password goes.
        ("https://bob:s3cr3t9@h.test/", "https://bob:[REDACTED:url_credentials]@h.test/"),
        # Whoever has the name and no secret has nothing.
        ("password = os.environ['PASSWORD']", "password = os.environ['PASSWORD']"),
        ("", ""),
    ],
)
def test_what_is_decided(text: str, redacted: str) -> None:
    assert redact(text).text == redacted


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (f"password={GITHUB}", ["github_token"]),
        (f"https://x:{GITHUB}@h.test", ["github_token"]),
        (f"Authorization: Bearer {GITHUB}", ["github_token"]),
        (f"{GITHUB} {AWS}", ["github_token", "aws_access_key"]),
        ("aws_secret_access_key = " + "a1B2" * 9 + "x/Y+", ["aws_secret_key"]),
        ("AccountKey=" + "a1B2" * 21 + "cd==", ["azure_storage_key"]),
    ],
)
def test_the_most_telling_kind_is_named(text: str, kinds: list[str]) -> None:
    assert [finding.kind for finding in find(text)] == kinds


def test_offsets_are_code_points_whatever_stands_before() -> None:
    before = "🔑é\u0301 密钥 İ\u0130 👩‍👩‍👧 "
    assert find(before + GITHUB) == (Finding("github_token", len(before), len(before) + len(GITHUB)),)
    assert redact(f"{before}{GITHUB} 🔒").text == f"{before}[REDACTED:github_token] 🔒"


def test_the_covered_share_counts_characters_of_the_original() -> None:
    assert redact(GITHUB).covered_share == 1.0
    assert redact(GITHUB + "x" * 0 + " " * len(GITHUB)).covered_share == 0.5
    assert redact("").covered_share == redact("no secret here").covered_share == 0.0


@settings(max_examples=30, deadline=None)
@given(st.lists(examples, min_size=1, max_size=6))
def test_redacting_twice_changes_nothing_more(chosen: list[Example]) -> None:
    once = redact("\n\n".join(example.text for example in chosen)).text
    assert redact(once).text == once


@pytest.mark.parametrize("example", ["dsn", "url https", "env", "pem", "prose password", "docker config"])
def test_a_marker_is_no_secret(example: str) -> None:
    once = redact(next(secret.text for secret in SECRETS if secret.name == example))
    assert once.findings
    assert find(once.text) == ()


def test_a_secret_beside_or_dressed_as_a_marker_is_found() -> None:
    assert redact(f"[REDACTED:jwt]{GITHUB}").text == "[REDACTED:jwt][REDACTED:github_token]"
    assert GITHUB not in redact(f"[REDACTED:{GITHUB}]").text


@settings(max_examples=30, deadline=None)
@given(st.lists(examples, min_size=1, max_size=6))
def test_what_is_found_alone_is_found_among_other_texts(chosen: list[Example]) -> None:
    text, expected = "", []
    for example in chosen:
        expected += [(start + len(text), end + len(text)) for start, end in example.spans]
        text += example.text + "\n\n\n"
    found = [(finding.start, finding.end) for finding in find(text)]
    assert all(any(start <= low and high <= end for start, end in found) for low, high in expected)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_scanned_and_only_findings_change(text: str) -> None:
    redaction = redact(text)
    position, rebuilt = 0, ""
    for finding in redaction.findings:
        assert position <= finding.start < finding.end <= len(text)
        rebuilt += text[position : finding.start] + f"[REDACTED:{finding.kind}]"
        position = finding.end
    assert redaction.text == rebuilt + text[position:]


def test_no_kind_of_a_format_has_a_digit_or_a_capital() -> None:
    assert [row.kind for row in FORMATS if not re.fullmatch("[a-z_]{2,40}", row.kind)] == []


def test_the_version_of_the_rules_is_known() -> None:
    assert SECRET_RULES_VERSION >= 1


@pytest.mark.parametrize("prefix", ["glpat-", "glrt-", "gldt-"])
def test_a_routable_token_of_gitlab_is_redacted_whole(prefix: str) -> None:
    token = f"{prefix}H3M1XS0DRdJuPnBIKpi99lSi0tcL21pffWQJEeNa.01.0w1abcd12"
    assert redact(f"The key is {token} today").text == "The key is [REDACTED:gitlab_token] today"
