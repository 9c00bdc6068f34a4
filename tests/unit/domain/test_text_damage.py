import pytest

from chalicelib.domain.text_damage import Damage, find_damage, find_damage_in_page, marked


@pytest.mark.parametrize(
    ("document", "damage"),
    [
        pytest.param(b"caf\xe9 au lait", Damage("invalid_utf8", 3), id="Latin-1 byte"),
        pytest.param(b"ab\xe2\x82", Damage("invalid_utf8", 2), id="cut inside a character"),
        pytest.param(b"a\xc0\xaf", Damage("invalid_utf8", 1), id="overlong form"),
        pytest.param(b"a\xed\xa0\x80", Damage("invalid_utf8", 1), id="surrogate half"),
        pytest.param(b"a\xf4\x90\x80\x80", Damage("invalid_utf8", 1), id="above U+10FFFF"),
        pytest.param("ab".encode("utf-16-le"), Damage("control_character", 1), id="UTF-16 has NULs"),
        pytest.param(b"\xc3\xa9\x07", Damage("control_character", 2), id="offset in bytes"),
        pytest.param("é\x07", Damage("control_character", 1), id="offset in characters"),
        pytest.param("a\ud83d", Damage("lone_surrogate", 1), id="lone surrogate"),
        pytest.param(b"\x1b[0m", Damage("control_character", 0), id="terminal escape"),
    ],
)
def test_damage_is_found_where_it_starts(document: bytes | str, damage: Damage) -> None:
    assert find_damage(document) == damage


@pytest.mark.parametrize("text", ["", "tab\tlf\ncr\rff\x0c", "del\x7f", "c1\x85", "one \ufffd", "line\u2028separator"])
def test_what_is_text_is_not_refused(text: str) -> None:
    assert find_damage(text) is None
    assert find_damage(text.encode()) is None


def test_every_other_control_character_is_refused() -> None:
    refused = {code for code in range(32) if find_damage(f"a{chr(code)}b")}
    assert refused == set(range(32)) - {9, 10, 12, 13}


def test_a_page_may_hold_one_repaired_character_in_a_hundred() -> None:
    assert find_damage_in_page("a" * 100, replaced=1) is None
    assert find_damage_in_page("a" * 99, replaced=1, first_bad_offset=7) == Damage("replacement_characters", 7)


def doubled(text: str) -> str:
    """What a publisher makes of UTF-8 that it reads as Windows-1252, its holes passed through."""
    return "".join(
        bytes([byte]).decode("cp1252") if byte not in b"\x81\x8d\x8f\x90\x9d" else chr(byte) for byte in text.encode()
    )


@pytest.mark.parametrize(
    "text",
    [
        "Café – guide",
        "It’s the reader’s choice",
        "Größe und Maß",
        "Привет, как дела",
        "日本語の説明",
        "Ελληνικά κείμενα",
        "Łódź, Kraków",
        "مرحبا بالعالم",
    ],
)
def test_utf8_decoded_twice_is_damage(text: str) -> None:
    assert find_damage_in_page(text) is None
    damage = find_damage_in_page(doubled(text))
    assert damage is not None
    assert damage.kind == "double_decoded_utf8"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("MANHÃ” e «café…» é’… ß“", id="accents before quotation marks"),
        pytest.param("„Spaß“ und „Größe“, AMANHû", id="German and Portuguese quotations"),
        pytest.param("word " * 200 + "Â© 2026", id="one pair in a footer"),
        pytest.param("word " * 500 + "you see Ã© instead of é", id="an article on encodings"),
        pytest.param("São Paulo, Ángel, château, Âge, être " * 20 + "Ã©", id="one pair among real accents"),
    ],
)
def test_real_accents_and_lone_pairs_are_not_damage(text: str) -> None:
    assert find_damage_in_page(text) is None


ORIGINALS = [
    "Привет, это страница о ценах",
    "价格表：每月十欧元，欢迎使用",
    "مرحبا بكم في صفحة الأسعار",
    "Καλώς ήρθατε στη σελίδα",
]


@pytest.mark.parametrize("codec", ["cp1251", "koi8-r", "cp1256", "iso8859-7", "gb18030"])
@pytest.mark.parametrize("original", ORIGINALS)
def test_utf8_read_as_another_encoding_is_damage(original: str, codec: str) -> None:
    damaged = original.encode().decode(codec, "replace").replace("\xa0", " ")
    assert find_damage_in_page(f"Seite 1: {damaged}") == Damage("double_decoded_utf8", 9)


@pytest.mark.parametrize(
    "text",
    [
        *ORIGINALS,
        "Рівне, Сіль, Рік, Сім, Річ, Сіно",
        "联通联通联通联通联通联通",
        "漢字かな交じり文、説明",
        "한국어 문장입니다",
        "„Größe“ – «café» © ® ° ± µ € № §",
        "ΕΛΛΗΝΙΚΆ ΚΕΊΜΕΝΑ, Ώρα",
        "فارسی: اگر چه کار پاک است",
        "An article on encodings " * 40 + "РџСЂРёРІРµС‚",
    ],
)
def test_text_of_other_scripts_is_no_damage(text: str) -> None:
    assert find_damage_in_page(text) is None


def test_a_marked_text_is_as_long_and_undamaged() -> None:
    text = "a\x00b\x1f\ud800\udc00 c\t\n\x7f\x85é"
    assert marked(text) == "a\ufffdb\ufffd\ufffd\ufffd c\t\n\x7f\x85é"
    assert find_damage(marked(text)) is None
