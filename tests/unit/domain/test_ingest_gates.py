import unicodedata

import pytest

from chalicelib.domain.clean_text import clean_text
from chalicelib.domain.ingest_gates import (
    MAX_DENY_PATTERN_CHARACTERS,
    Deposit,
    Gate,
    below_floor,
    check_deny_pattern,
    damaged,
    denied_by,
    on_damage,
    screen,
)

GITHUB = "ghp" + "_" + "a1B2" * 9
TEXT = "The gateway keeps a pool of twelve connections and the limit is raised each December."


def test_a_good_text_is_admitted_as_it_is() -> None:
    screening = screen(TEXT, Deposit.DOCUMENT, ["Nightjar"])
    assert (screening.outcome, screening.text, screening.gate, screening.findings) == ("admit", TEXT, None, ())


def test_a_secret_is_redacted_and_the_rest_admitted() -> None:
    screening = screen(f"{TEXT} {GITHUB}", Deposit.DOCUMENT)
    assert (screening.outcome, screening.text) == ("admit", f"{TEXT} [REDACTED:github_token]")
    assert [finding.kind for finding in screening.findings] == ["github_token"]


def test_mostly_secret_is_refused_and_keeps_nothing() -> None:
    screening = screen(f"key: {GITHUB}", Deposit.NOTE)
    assert (screening.outcome, screening.gate, screening.reason) == ("refuse", Gate.SECRET_SCAN, "mostly_secret")
    assert screening.text == ""


def test_exactly_half_is_not_mostly() -> None:
    padding = " words" * 6 + " key"
    assert len(padding) == len(GITHUB)
    assert screen(GITHUB + padding, Deposit.NOTE).outcome == "admit"
    assert screen(GITHUB + padding[:-1], Deposit.NOTE).reason == "mostly_secret"


def test_a_denied_text_is_quarantined_redacted() -> None:
    screening = screen(f"{TEXT} {GITHUB} Project Nightjar", Deposit.DOCUMENT, ["Falcon", "Project Nightjar"])
    assert (screening.outcome, screening.gate) == ("quarantine", Gate.DENY_PATTERNS)
    assert screening.matched == "Project Nightjar"
    assert GITHUB not in screening.text


def test_the_gates_speak_in_order() -> None:
    assert screen(f"Nightjar {GITHUB}", Deposit.DOCUMENT, ["Nightjar"]).gate is Gate.SECRET_SCAN
    assert screen("Nightjar", Deposit.DOCUMENT, ["Nightjar"]).gate is Gate.DENY_PATTERNS
    assert screen("Nightjar", Deposit.DOCUMENT).gate is Gate.LENGTH_FLOOR


def test_deny_patterns_are_compared_with_the_redacted_text() -> None:
    assert denied_by(f"x {GITHUB[:4]}", [GITHUB]) is None
    assert screen(f"{TEXT} {GITHUB}", Deposit.DOCUMENT, [GITHUB[4:14]]).outcome == "admit"
    assert screen(f"{TEXT} {GITHUB}", Deposit.DOCUMENT, ["[REDACTED:"]).outcome == "quarantine"


def test_deny_patterns_are_literal_and_case_sensitive() -> None:
    assert denied_by("a.b", ["a?b", "A.B", "a.b"]) == "a.b"
    assert denied_by("100% done", ["%"]) == "%"
    assert denied_by("anything", ["", "thing"]) == "thing"


def test_a_deny_pattern_in_another_normal_form_still_matches() -> None:
    assert denied_by("příští týden", [unicodedata.normalize("NFD", "příští")]) is not None
    assert check_deny_pattern(unicodedata.normalize("NFD", "é")) == "é"


@pytest.mark.parametrize(
    "pattern", ["Project\u00a0Heron", "Pro\u00adject Heron", "Project\u200b Heron", "Project Heron\r\nis secret"]
)
def test_a_deny_pattern_is_spelt_as_the_texts_are_that_it_is_looked_for_in(pattern: str) -> None:
    said = clean_text(f"It says: {pattern}, and more.").text
    assert denied_by(said, [pattern]) == pattern
    assert check_deny_pattern(pattern) in said
    assert check_deny_pattern(check_deny_pattern(pattern)) == check_deny_pattern(pattern)


def test_blanks_at_the_ends_of_a_deny_pattern_count() -> None:
    assert check_deny_pattern(" ham ") == " ham "
    assert denied_by("hamlet", ["ham "]) is None


@pytest.mark.parametrize("pattern", ["", " \n", "\u200b", "x" * (MAX_DENY_PATTERN_CHARACTERS + 1)])
def test_a_deny_pattern_that_would_stop_everything_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="deny pattern"):
        check_deny_pattern(pattern)


@pytest.mark.parametrize(
    ("text", "deposit", "below"),
    [
        ("abcd ef gh", Deposit.NOTE, False),
        ("abc de fg", Deposit.NOTE, True),
        ("abcdefg hi", Deposit.NOTE, True),
        ("   a b c   ", Deposit.NOTE, True),
        ("東京は日本の首都です", Deposit.NOTE, False),
        ("w" * 55 + " w" * 9, Deposit.DOCUMENT, False),
        ("w" * 56 + " w" * 8, Deposit.DOCUMENT, True),
        ("w" * 44 + " w" * 9, Deposit.AGENT_OUTPUT, True),
        ("", Deposit.PAGE, False),
    ],
)
def test_the_floor_counts_characters_and_words(text: str, deposit: Deposit, below: bool) -> None:
    assert below_floor(text, deposit) is below


def test_the_escape_hatch_leaves_the_text_unscanned_and_the_other_gates_on() -> None:
    assert screen(f"{TEXT} {GITHUB}", Deposit.DOCUMENT, scan=False).text == f"{TEXT} {GITHUB}"
    assert screen("short", Deposit.DOCUMENT, scan=False).gate is Gate.LENGTH_FLOOR


def test_damaged_deposits_are_kept_for_a_person_and_uploads_and_pages_refused() -> None:
    assert {deposit: on_damage(deposit) for deposit in Deposit} == {
        Deposit.NOTE: "quarantine",
        Deposit.DOCUMENT: "refuse",
        Deposit.AGENT_OUTPUT: "quarantine",
        Deposit.PAGE: "refuse",
        Deposit.CONSOLIDATED: "refuse",
    }


@pytest.mark.parametrize(
    ("text", "outcome"), [(TEXT, "quarantine"), (f"{TEXT} Heron", "quarantine"), ("too short", "refuse")]
)
def test_a_damaged_deposit_waits_unless_the_other_gates_would_never_let_it_in(text: str, outcome: str) -> None:
    found = damaged(screen(text, Deposit.NOTE, ["Heron"]))
    assert (found.outcome, found.gate, found.reason, found.matched) == (outcome, Gate.TEXT_DAMAGE, "damaged_text", None)
