import time
from itertools import accumulate, pairwise
from uuid import UUID

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chalicelib.domain.chunking import Chunk, TooManyChunks, chunk, chunk_ids, content_hash

SOURCE = UUID("6f1c3a9e-0f0b-4a63-9b0e-5a4f4c1d2e3f")
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1e9\U0001f1ea"

# Pieces whose characters take part in some rule of grapheme clusters or of cutting, repeated until chunks are full.
PIECES = st.sampled_from(
    [
        "a",
        " ",
        "\n",
        "\n\n",
        "word ",
        "A sentence that ends. ",
        "A paragraph (of sorts).\n",
        "Heading\n",
        "1. Item\n",
        "e.g. this",
        "中文。",
        "文",
        FAMILY,
        FLAG,
        "\U0001f1e9",
        "e\u0301",
        " \u0301",
        "\u0600",
        "\u0600\u06001",
        "क्ष",
        "\u1112\u1161\u11ab",
        "\u0e01\u0e33",
        "\u0301" * 40,
        "\u200d",
        "x" * 300,
        " " * 120,
    ]
)
TEXTS = st.lists(st.tuples(PIECES, st.integers(1, 60)), max_size=20).map(
    lambda runs: "".join(piece * count for piece, count in runs)
)


def bodies(text: str) -> list[str]:
    return [one.body for one in chunk(text)]


def edges(text: str) -> set[int]:
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


def check_form(text: str, chunks: list[Chunk]) -> None:
    """What holds for the chunks of every text without blanks that fill a chunk."""
    assert "".join(one.body for one in chunks) == text
    for one, end in zip(chunks, accumulate(len(one.body) for one in chunks), strict=True):
        assert len(one.text) <= 1200
        assert 0 <= one.overlap <= 150
        assert one.body
        assert one.text.strip()
        assert text.endswith(one.text[: one.overlap], 0, end - len(one.body)), "the overlap repeats what stands before"
    for one, following in pairwise(chunks):
        assert following.overlap <= len(one.body), "the repeat is out of the chunk before"


def check_clusters(text: str, chunks: list[Chunk]) -> None:
    allowed = edges(text)
    for one, end in zip(chunks, accumulate(len(one.body) for one in chunks), strict=True):
        assert {end - len(one.text), end - len(one.body), end} <= allowed


@settings(max_examples=80, deadline=None)
@given(TEXTS)
@example("\u0600" * 3000)
@example("  " + "\u0301" * 1200)
@example(FLAG * 1500)
@example("\u0600" * 100 + "a" * 2000)
def test_a_text_is_its_bodies_joined_and_no_short_cluster_is_cut(text: str) -> None:
    chunks = chunk(text)
    assert all(one.text.strip() and len(one.text) <= 1200 for one in chunks)
    assert "".join("".join(one.body for one in chunks).split()) == "".join(text.split()), "only blanks may be left out"
    longest_blank, longest_cluster = (max(map(len, regex.findall(kind, text)), default=0) for kind in (r"\s+", r"\X"))
    if longest_blank < 200 and longest_cluster <= 1000 and text.strip():
        check_form(text, chunks)
        if longest_cluster <= 150:
            check_clusters(text, chunks)


@example("👨\u200d👩\u200d👧" * 53 + " " + "x" * 1800, 348)
@settings(max_examples=25, deadline=None)
@given(TEXTS.filter(lambda text: all(len(run) < 40 for run in regex.findall(r"\s+", text))), st.integers(20, 600))
def test_what_the_window_does_not_hold_is_cut_until_it_fits(text: str, window: int) -> None:
    asked: list[str] = []

    def fits(candidate: str) -> bool:
        asked.append(candidate)
        return len(candidate.encode()) <= window

    text = text.strip()
    chunks = chunk(text, fits=fits)
    check_form(text, chunks)
    assert all(len(one.text.encode()) <= max(window, 250) for one in chunks)
    assert all(len(candidate.encode()) > 250 for candidate in asked), "what surely fits isn't tokenized"


@pytest.mark.parametrize(
    ("length", "count"), [(0, 0), (1, 1), (1199, 1), (1200, 1), (1201, 2), (2250, 2), (2251, 3), (2_000_000, 1905)]
)
def test_text_without_a_place_to_cut_is_cut_in_as_few_pieces_as_may_be(length: int, count: int) -> None:
    started = time.monotonic()
    chunks = chunk("a" * length)
    assert time.monotonic() - started < 5
    check_form("a" * length, chunks)
    assert len(chunks) == count


def test_a_text_of_nothing_but_blanks_has_no_chunk() -> None:
    assert chunk("") == chunk(" \n\n ") == chunk("\n" * 5000) == []


def test_a_short_text_is_one_chunk() -> None:
    assert chunk("Guide\nOne sentence.") == [Chunk("Guide\nOne sentence.", 0)]


def test_blanks_that_would_fill_a_chunk_are_all_that_is_left_out() -> None:
    chunks = chunk("a" + "\n" * 3000 + "b")
    assert all(one.text.strip() for one in chunks)
    assert "".join(one.body for one in chunks).replace("\n", "") == "ab"


def test_blanks_that_fit_into_the_chunk_before_are_kept() -> None:
    text = "x" * 700 + "\n" * 240 + "y" * 900
    check_form(text, chunk(text, fits=lambda candidate: len(candidate.strip()) <= 300))


def test_an_emoji_at_the_cut_stays_whole() -> None:
    text = "a" * 1199 + "\U0001f680" + "b" * 50
    check_form(text, chunk(text))


@pytest.mark.parametrize(
    "cluster",
    [FAMILY, FLAG, "क्षि", "\u1112\u1161\u11ab", "e\u0301\u0323", "\r\n", "\u0600\u06001", "\u0600\u0600\u06001"],
)
@pytest.mark.parametrize("shift", range(9))
def test_clusters_in_a_row_are_cut_between_them_alone(cluster: str, shift: int) -> None:
    text = "x" * shift + cluster * (1500 // len(cluster))
    check_clusters(text, chunk(text))
    check_clusters(text, chunk(text, fits=lambda candidate: len(candidate) <= 300))


def test_a_cluster_longer_than_a_chunk_is_cut_after_all() -> None:
    text = "a" + "\u0301" * 3000
    chunks = chunk(text)
    check_form(text, chunks)
    assert len(chunks) >= 3


def test_the_overlap_begins_with_a_sentence_or_a_word() -> None:
    numbers = " ".join(map(str, range(1000)))
    for one in chunk(numbers)[1:]:
        assert numbers.count(f" {one.text[: one.overlap]}") == 1
        assert 140 < one.overlap <= 150
    prose = "The pump has to be primed before it starts. " * 10 + "Then open the valve and wait for a minute. " * 30
    assert all(one.text.startswith(("The ", "Then ")) and one.overlap for one in chunk(prose)[1:])


def test_chinese_text_is_cut_to_a_window_of_512_tokens_with_overlap() -> None:
    sentence = "服务器在每晚的维护窗口内重新获取已经过期的来源，旧的文本仍然可以阅读。"
    text = sentence * 100
    chunks = chunk(text, fits=lambda candidate: len(candidate) <= 510)
    check_form(text, chunks)
    assert all(len(one.text) <= 510 for one in chunks)
    assert all(one.body.endswith("。") for one in chunks)
    assert all(one.overlap > 20 for one in chunks[1:])


def test_the_repeat_is_out_of_the_chunk_before_also_if_that_was_cut_finely() -> None:
    text = "文" * 500 + "Latin words weigh less. " * 27
    chunks = chunk(text, fits=lambda candidate: len(candidate.encode()) <= 700)
    check_form(text, chunks)
    assert max(len(one.body) for one in chunks) > 2 * min(len(one.body) for one in chunks)


def test_emoji_that_count_many_tokens_are_cut_between_families() -> None:
    text = FAMILY * 240
    chunks = chunk(text, fits=lambda candidate: len(candidate.encode()) <= 510)
    check_form(text, chunks)
    assert all(len(one.body) % len(FAMILY) == 0 for one in chunks)


def test_a_window_that_holds_nothing_ends_in_an_error() -> None:
    with pytest.raises(TooManyChunks):
        chunk("word " * 45_000, fits=lambda _: False)


def test_more_than_2000_chunks_are_too_many() -> None:
    assert len(chunk("a" * (1200 + 1999 * 1050))) == 2000
    with pytest.raises(TooManyChunks):
        chunk("a" * (1201 + 1999 * 1050))


def test_long_texts_are_not_cut_within_words() -> None:
    text = "some words and more of them " * 60_000
    assert all(body.endswith(" ") for body in bodies(text))


def test_the_hash_does_not_tell_spellings_of_one_text_apart() -> None:
    assert content_hash("e\u0301") == content_hash("\u00e9")
    assert content_hash("e") != content_hash("\u00e9")
    assert content_hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_an_id_names_source_body_and_occurrence() -> None:
    same = [Chunk("Same.", 0), Chunk("xx Same.", 3), Chunk("Other.", 0), Chunk("Same.", 0)]
    ids = chunk_ids(SOURCE, same)
    assert len(set(ids)) == 4
    assert all(one.version == 5 for one in ids)
    assert chunk_ids(SOURCE, same[1:3]) == [ids[0], ids[2]], (
        "the overlap and the place are no part of a chunk's identity"
    )
    assert chunk_ids(UUID(int=0), same)[0] != ids[0]


def test_ids_stay_what_they_are() -> None:
    """Citations and policies hang on them: a change here is a change of every stored id."""
    assert chunk_ids(SOURCE, [Chunk("Same.", 0), Chunk("Same.", 0)]) == [
        UUID("d8bf8878-07de-501b-921b-17ba86613e31"),
        UUID("977e0164-0273-50d6-8da6-7576d5d96b4b"),
    ]
