from __future__ import annotations

import pytest

from chalicelib.domain.locale_match import is_fallback, is_tag, primary_language, shared_locale


@pytest.mark.parametrize(
    "tag",
    [
        "de",
        "de-DE",
        "zh-Hant-TW",
        "x-private",
        "i-klingon",
        "sl-rozaj-biske-1994",
        "DE-de",
        "es-419",
        "zh-min-nan",
        "art-lojban",
        "zh-cmn-Hans-CN",
        "de-CH-1901",
        "en-GB-oed",
        "SGN-be-fr",
        "en-u-ca-buddhist-x-a-b",
        "en-a-bbb-b-ccc",
        "de-x-y",
        "Qaaa",
        "abcdefgh",
    ],
)
def test_a_language_tag_is_one(tag: str) -> None:
    assert is_tag(tag)


@pytest.mark.parametrize(
    "text",
    [
        *("", "de_DE", "de-", "-de", "de--DE", "german language", "ä", "de-" + "a" * 9, "a-" * 60),
        *(
            "a",
            "a-DE",
            "x",
            "de-x",
            "de-a",
            "i-nonsense",
            "de-DE-DE",
            "de-Latn-Latn",
            "de-419-DE",
            "de-abc1",
            "abcdefghi",
        ),
        *("1de", "de-abc-def-ghi-jkl", "abcd-efg", "de-DE-Latn", "de\n", "de-a-b", "de-" + "abcde-" * 20 + "abcde"),
    ],
)
def test_what_is_no_language_tag_is_none(text: str) -> None:
    assert not is_tag(text)


@pytest.mark.parametrize(
    ("asked", "found", "fallback"),
    [
        ("de-DE", "de-DE", False),
        ("de-DE", "de-AT", False),
        ("de-AT", "de", False),
        ("de-de", "DE-DE", False),
        ("zh-Hant", "zh-Hans", False),
        ("he", "iw-IL", False),
        ("de-DE", "en-US", True),
        ("de", "den", True),
        ("x-one", "x-two", True),
    ],
)
def test_only_another_primary_language_is_a_fallback(asked: str, found: str, fallback: bool) -> None:
    assert is_fallback(asked, found, declares_locale=True) is fallback
    assert is_fallback(asked, found, declares_locale=False) is fallback


def test_absence_is_no_match_where_the_provider_knows_locales() -> None:
    assert is_fallback("de", None, declares_locale=True)
    assert not is_fallback("de", None, declares_locale=False)


@pytest.mark.parametrize("found", ["en", None])
def test_without_an_asked_locale_nothing_falls_back(found: str | None) -> None:
    assert not is_fallback(None, found, declares_locale=True)


@pytest.mark.parametrize(
    ("locales", "shared"),
    [
        ([], None),
        ([None], None),
        (["de"], "de"),
        (["de-DE", "de-de"], "de-DE"),
        (["de", "de-DE"], None),
        (["de", None], None),
        (["de", "en"], None),
    ],
)
def test_the_shared_locale_is_the_one_that_all_have(locales: list[str | None], shared: str | None) -> None:
    assert shared_locale(locales) == shared


def test_a_private_tag_is_compared_as_a_whole() -> None:
    assert primary_language("X-Whale") == "x-whale"
