import codecs
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.fetching.charset import Decoded, decode


def html(body: bytes, content_type: str | None = "text/html") -> Decoded:
    return decode(body, content_type, is_html=True)


def test_byte_order_mark_beats_header_and_is_no_text() -> None:
    assert html(codecs.BOM_UTF8 + "Привет".encode(), "text/html; charset=windows-1251").text == "Привет"
    assert html(codecs.BOM_UTF16_LE + "wide".encode("utf-16-le")) == Decoded("wide", "utf-16le")
    assert html(codecs.BOM_UTF16_BE + "wide".encode("utf-16-be")) == Decoded("wide", "utf-16be")


def test_header_beats_meta() -> None:
    assert html("<meta charset=windows-1251>é".encode(), "text/html; charset=utf-8").text.endswith("é")
    assert html("<meta charset=utf-8>д".encode("koi8-r"), "text/html; charset=koi8-r").text.endswith("д")


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html; charset=utf-8; charset=shift_jis",
        "text/html; charset=no-such-thing; charset=utf-8",
        'text/html; charset="UTF-8"',
        "text/html; charset = 'utf-8'",
        "text/html;CHARSET=utf8",
        "text/html; charset=utf-8, text/html; charset=koi8-r",
    ],
)
def test_first_valid_charset_of_the_header_counts(content_type: str) -> None:
    assert html("ж".encode(), content_type) == Decoded("ж", "utf-8")


@pytest.mark.parametrize(
    ("label", "text", "codec"),
    [
        ("gb2312", "价格𠀀", "gb18030"),
        ("gbk", "价格𠀀", "gb18030"),
        ("x-sjis", "日本①㈱", "cp932"),
        ("ks_c_5601-1987", "한국어 똠", "cp949"),
        ("big5", "繁體中文", "big5"),
        ("us-ascii", "“smart” – quotes", "cp1252"),
        ("iso-8859-1", "“smart” – quotes €", "cp1252"),
        ("iso-8859-9", "ığŞ", "cp1254"),
        ("tis-620", "ภาษาไทย", "cp874"),
        ("koi8-u", "Україна", "koi8-u"),
        ("x-mac-cyrillic", "Привет", "mac-cyrillic"),
        ("macintosh", "café", "mac-roman"),
        ("iso-2022-jp", "日本語", "iso2022_jp"),
        ("utf-16", "wide", "utf-16-le"),
    ],
)
def test_labels_mean_what_they_mean_on_the_web(label: str, text: str, codec: str) -> None:
    decoded = html(text.encode(codec), f"text/html; charset={label}")
    assert (decoded.text, decoded.replaced) == (text, 0)


def test_what_python_tables_leave_out_is_decoded_as_browsers_do() -> None:
    assert html(b"a\x81\x8d", "text/html; charset=windows-1252").text == "a\x81\x8d"
    assert html(b"5 \x80", "text/html; charset=gb2312").text == "5 €"
    assert html(b"\xad\xa1\xad\xea", "text/html; charset=euc-jp").text == "①㈱"


@pytest.mark.parametrize("label", ["utf-7", "cp37", "punycode", "rot13", "unicode_escape", "", "ütf-8"])
def test_labels_that_the_web_does_not_know_count_as_none(label: str) -> None:
    assert html("ж".encode(), f"text/html; charset={label}").encoding == "utf-8"


@pytest.mark.parametrize("label", ["iso-2022-kr", "hz-gb-2312", "iso-2022-cn"])
def test_encodings_that_the_web_refuses_give_nothing(label: str) -> None:
    assert html(b"<p>text", f"text/html; charset={label}") == Decoded("\ufffd", "replacement", 1, 0)


@pytest.mark.parametrize(
    "head",
    [
        b"<meta charset=Shift_JIS>",
        b"<META CHARSET='shift_jis' />",
        b'<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">',
        b"<meta content='text/html;charset=sjis' http-equiv=content-type>",
        b"<!-- <meta charset=koi8-r> --><meta charset=shift_jis>",
        b"<!-->" + b"<meta charset=shift_jis>",
        b"<meta name=viewport content=width><meta charset=nonsense><meta charset=shift_jis>",
        b"<!--" + b"x" * 5000 + b"--><meta charset=shift_jis>",
        b'<?xml version="1.0" encoding="Shift_JIS"?>',
    ],
)
def test_the_document_may_name_its_encoding(head: bytes) -> None:
    assert html(head + "日本語".encode("cp932")).text.endswith("日本語")


def test_a_document_that_says_utf16_in_ascii_is_utf8() -> None:
    assert html("<meta charset=utf-16>é".encode()).text.endswith("é")
    assert html("<p>é".encode(), "text/html; charset=utf-16").text.endswith("é")


def test_valid_utf8_beats_a_guess_and_a_western_default() -> None:
    assert html("<p>naïve".encode()).text == "<p>naïve"
    assert html("<p>naïve — “x”".encode(), "text/html; charset=iso-8859-1").text == "<p>naïve — “x”"


def test_valid_utf8_does_not_beat_a_label_of_two_byte_characters() -> None:
    assert html("模".encode("gb18030"), "text/html; charset=gb2312").text == "模"


def test_without_a_label_accents_are_western() -> None:
    assert html("<p>un café à Orléans".encode("cp1252")) == Decoded("<p>un café à Orléans", "windows-1252")


@pytest.mark.parametrize(
    ("language", "text", "codec"),
    [("zh-CN", "人民日报", "gb18030"), ("zh-TW", "繁體中文", "big5"), ("ja", "日本語の説明", "cp932"),
     ("ja-JP", "日本語の説明", "euc_jp"), ("ru", "Привет", "cp1251"), ("ko", "한국어", "cp949")],
)  # fmt: skip
def test_without_a_label_the_language_of_the_page_decides(language: str, text: str, codec: str) -> None:
    assert html(f'<html lang="{language}">{text}'.encode(codec)).text.endswith(text)


@pytest.mark.parametrize("body", ["人民日报".encode("gb18030"), "Привет".encode("cp1251"), "日本語".encode("cp932")])
def test_without_label_and_language_nothing_is_guessed(body: bytes) -> None:
    assert html(b"<p>" + body).replaced > 0


def test_bad_bytes_are_counted_and_the_authors_own_replacement_characters_are_not() -> None:
    assert html("\ufffd ok ".encode() + b"\xff\xc3", "text/html; charset=utf-8") == Decoded(
        "\ufffd ok \ufffd\ufffd", "utf-8", 2, 7
    )
    assert html("\ufffd".encode()) == Decoded("\ufffd", "utf-8")
    assert html(codecs.BOM_UTF8 + b"ab\xff").first_bad_offset == 5


def test_plain_text_without_a_label_is_utf8_and_nothing_else() -> None:
    assert decode(b"caf\xe9", "text/plain", is_html=False) == Decoded("caf\ufffd", "utf-8", 1, 3)
    assert decode(b"<meta charset=koi8-r>\xc1", "text/plain", is_html=False).replaced == 1
    assert decode(b"caf\xe9", "text/plain; charset=iso-8859-1", is_html=False).text == "café"


@settings(max_examples=80, deadline=None)
@given(
    st.binary(max_size=80),
    st.sampled_from(
        [
            "",
            "gb2312",
            "euc-jp",
            "shift_jis",
            "big5",
            "euc-kr",
            "utf-16",
            "windows-1253",
            "iso-2022-jp",
            "x-user-defined",
        ]
    ),
    st.booleans(),
)
def test_any_bytes_decode_to_characters(body: bytes, label: str, is_html: bool) -> None:
    decoded = decode(body, f"text/html; charset={label}", is_html=is_html)
    assert all(unicodedata.category(character) != "Cs" for character in decoded.text)
    assert decoded.replaced <= decoded.text.count("\ufffd")
    assert (decoded.first_bad_offset is None) == (decoded.replaced == 0)
    assert decoded.first_bad_offset is None or 0 <= decoded.first_bad_offset < len(body)


SAMPLES = {
    "gb2312": "价格表：每月十欧元，欢迎使用",
    "koi8-r": "Привет, это страница о ценах",
    "iso-8859-7": "Καλώς ήρθατε στη σελίδα",
    "windows-1256": "مرحبا بكم في صفحة الأسعار",
    "windows-1255": "ברוכים הבאים לדף",
    "big5": "價格表，歡迎使用",
}


@pytest.mark.parametrize("label", SAMPLES)
@pytest.mark.parametrize("text", SAMPLES.values())
def test_several_sequences_of_utf8_beat_any_label(label: str, text: str) -> None:
    assert html(f"<p>{text}".encode(), f"text/html; charset={label}") == Decoded(f"<p>{text}", "utf-8")


@pytest.mark.parametrize(("label", "text"), SAMPLES.items())
def test_a_right_label_is_kept(label: str, text: str) -> None:
    codec = label.replace("windows-", "cp")
    assert html(text.encode(codec), f"text/html; charset={label}").text == text


@pytest.mark.parametrize(("label", "body"), [("gbk", "脑脑".encode("gbk")), ("iso-8859-7", b"\xcf\xbf \xce\xb8")])
def test_a_few_bytes_that_could_be_utf8_by_chance_are_read_as_labelled(label: str, body: bytes) -> None:
    assert html(body, f"text/html; charset={label}").encoding != "utf-8"


def test_headers_that_contradict_each_other_name_no_encoding() -> None:
    both = "text/html; charset=koi8-r, text/html; charset=windows-1251"
    assert html(b"<meta charset=windows-1251>" + "Цены".encode("cp1251"), both).text.endswith("Цены")
    assert html("Цены".encode("koi8-r"), both.replace("windows-1251", "koi8-r")).text == "Цены"
    assert html("Цены".encode("koi8-r"), "text/html; charset=koi8-r, text/html").text == "Цены"
