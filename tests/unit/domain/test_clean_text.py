import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chalicelib.domain.clean_text import LONGEST_BLANK, Cleaned, clean_text, nfc
from chalicelib.domain.text_damage import find_damage

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"

# Characters that take part in some rule, so that random strings meet the rules and each other.
TRICKY = st.text(
    st.sampled_from(
        "ab \t\n\r\x00\x07\x0b\x0c\x1f\x7f\x85\x9f\u00a0\u00ad\u0301\u0316\u0344\u034f\u05d0\u0645\u0915\u061c"
        "\u064e\u06e3\u1780\u17b4\u180e\u1820\u108d"
        "\u1100\u1161\u1160\u200b\u200c\u200d\u200e\u200f\u2028\u202e\u2060\u2067\u3000\u845b\ufe0f"
        "\ufe00\ufeff\ufffd\uffff\ud83d\udc68\U0001f468\U0001f3fd\U0001f3f4\U000e0067\U000e007f\U000e0100"
    ),
    max_size=40,
)


@settings(max_examples=120, deadline=None)
@given(TRICKY | st.text(max_size=40))
@example("a" + "\n" * 30 + " \n" * 10 + "b")
@example("\u061c\u200c")  # a joiner behind what goes itself
@example("\u1780\u180e\ufe00\u17b4\u200d")
@example("\u0645\u0301\u06e3\u200c")  # marks that normalising sorts
@example("\u05d0 a\u200e\u200eb e\u0301\u200fb")
def test_cleaning_a_clean_text_changes_nothing(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once.text) == Cleaned(once.text, 0)


@settings(max_examples=120, deadline=None)
@given(TRICKY)
def test_a_clean_text_can_be_stored_and_is_nfc(text: str) -> None:
    cleaned = clean_text(text).text
    assert find_damage(cleaned) is None
    assert cleaned.encode().decode() == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not set(cleaned) & set("\r\x0b\x0c\x7f\x85\u2028\u200b\u202e")


@pytest.mark.parametrize(
    ("text", "cleaned", "removed"),
    [
        pytest.param("pay \u202egnp.exe\u202c \U000e0069\U000e0067 now", "pay gnp.exe now", 4, id="override and tags"),
        pytest.param("ig\u200bno\u2060re\ufeff", "ignore", 3, id="zero-width splitters"),
        pytest.param("a\u2066b\u2069c", "abc", 2, id="isolates"),
        pytest.param("pass\u200cword\u200d", "password", 2, id="joiners between Latin letters"),
        pytest.param("x\U0001f600" + "".join(map(chr, range(0xFE00, 0xFE10))), "x\U0001f600\ufe00", 15, id="smuggling"),
        pytest.param("\u200b \u200b", "", 2, id="nothing but invisible"),
    ],
)
def test_what_hides_or_splits_is_removed_and_counted(text: str, cleaned: str, removed: int) -> None:
    assert clean_text(text) == Cleaned(cleaned, removed)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("می\u200cخواهم", id="ZWNJ in Persian"),
        pytest.param("کتاب\u0650\u200cها", id="ZWNJ behind a vowel sign"),
        pytest.param("क्\u200dष", id="ZWJ in Hindi"),
        pytest.param("\U0001f468\u200d\U0001f469\u200d\U0001f467", id="family"),
        pytest.param("\U0001f469\U0001f3fd\u200d\U0001f4bb", id="skin tone and ZWJ"),
        pytest.param("❤\ufe0f\u200d\U0001f525", id="VS16 and ZWJ"),
        pytest.param("1\ufe0f\u20e3", id="keycap"),
        pytest.param("葛\U000e0100飾区", id="ideographic variant"),
        pytest.param(ENGLAND, id="flag of England"),
        pytest.param("C++\u200e היא שפה", id="direction mark beside Hebrew"),
    ],
)
def test_what_carries_meaning_stays(text: str) -> None:
    assert clean_text(text) == Cleaned(text, 0)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        pytest.param("Donau\u00addampf", "Donaudampf", id="soft hyphen"),
        pytest.param("\ufeffstart", "start", id="byte order mark"),
        pytest.param("abc\u200e", "abc", id="direction mark in Latin text"),
        pytest.param("a\x7fb\x9dc\ufdd0d\uffff", "abcd", id="DEL, C1, noncharacters"),
        pytest.param("a\x00b", "ab", id="NUL"),
        pytest.param("a\r\nb\rc\u2028d\x85e\x0cf", "a\nb\nc\nd\ne\nf", id="line ends"),
        pytest.param("29\u00a0EUR\u3000x", "29 EUR x", id="blanks"),
        pytest.param("a \t\n  b  \n", "a\n  b", id="blanks at line ends"),
        pytest.param("a" + "\n" * 3000 + "b", "a\n\n\nb", id="empty lines"),
        pytest.param("a" + " " * 3000 + "b", "a" + " " * LONGEST_BLANK + "b", id="long blank"),
        pytest.param("cafe\u0301", "café", id="NFC"),
    ],
)
def test_what_says_nothing_is_made_uniform_without_a_count(text: str, cleaned: str) -> None:
    assert clean_text(text) == Cleaned(cleaned, 0)


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert clean_text("a\ud83db") == Cleaned("a\ufffdb", 0)


def test_texts_that_differ_in_damage_alone_are_equal_after_cleaning() -> None:
    assert clean_text("a\x00") == clean_text("a")


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from("a\u0301\u0316\u0345\u0344\u0f73\u0f71"), min_size=33, max_size=200))
def test_long_runs_of_marks_normalise_like_short_ones(text: str) -> None:
    assert nfc(text) == unicodedata.normalize("NFC", text)


def test_many_marks_on_one_letter_end() -> None:
    assert len(nfc("a" + "\u0301\u0316" * 200_000)) == 400_000
