import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from chalicelib.embedding.model import BUNDLED_WINDOW, EmbeddingFailed, LocalModel
from infra.model import lay

ROOT = Path(__file__).parents[3]
TEXTS = [
    "How do I reset my password?",
    "Steps to change a forgotten login credential. " * 4,
    "x",
    "東京は日本の首都です。" * 4,
    "The weather in Paris is mild in May.",
]


@pytest.fixture(scope="module")
def model_dir() -> Path:
    return lay()


@pytest.fixture(scope="module")
def model(model_dir: Path) -> LocalModel:
    return LocalModel(model_dir)


def test_importing_the_module_loads_neither_fastembed_nor_numpy() -> None:
    code = (
        "import sys, chalicelib.embedding.model as m; model = m.LocalModel('/nowhere');"
        "assert (model.dimension, model.model_id) == (384, 'all-MiniLM-L6-v2-int8');"
        "assert not {'fastembed', 'onnxruntime', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_vectors_are_of_unit_length_float32_and_of_the_named_dimension(model: LocalModel) -> None:
    for vector in model.embed(TEXTS):
        assert len(vector) == model.dimension == 384
        assert math.isclose(math.hypot(*vector), 1.0, abs_tol=1e-6)
        assert all(float(np.float32(value)) == value for value in vector)


def test_meaning_is_near_and_the_unrelated_is_far(model: LocalModel) -> None:
    question, answer, _, _, weather = model.embed(TEXTS)
    assert np.dot(question, answer) > 0.4 > 0.2 > np.dot(question, weather)


def test_a_vector_is_the_same_bits_alone_in_company_and_in_another_order(model: LocalModel) -> None:
    together = model.embed(TEXTS)
    assert together == [model.embed([text])[0] for text in TEXTS]
    assert together == model.embed(TEXTS[::-1])[::-1]


@pytest.mark.parametrize("batch_size", [2, 256])
def test_the_batch_size_below_changes_no_bit(model: LocalModel, batch_size: int) -> None:
    fastembed_model = model._load()[0]
    alone = np.array(list(fastembed_model.embed(TEXTS, batch_size=1)))
    padded = np.array(list(fastembed_model.embed(TEXTS, batch_size=batch_size)))
    assert alone.tobytes() == padded.tobytes()


def test_the_window_counts_both_special_tokens(model: LocalModel) -> None:
    assert model.fits("word " * (BUNDLED_WINDOW - 2))
    assert not model.fits("word " * (BUNDLED_WINDOW - 1))


def test_the_whole_window_is_read_although_the_tokenizer_file_says_128(model: LocalModel) -> None:
    filler = "word " * 300
    plain, ended = model.embed([filler, filler + "aardvark volcano"])
    assert plain != ended


def test_a_text_that_does_not_fit_is_an_error_and_is_never_cut(model: LocalModel) -> None:
    with pytest.raises(EmbeddingFailed, match="text 1 has 514 tokens, the model takes 512"):
        model.embed(["short", "word " * 512])


def test_no_texts_have_no_vectors_and_an_empty_text_has_one(model: LocalModel) -> None:
    assert model.embed([]) == []
    assert len(model.embed([""])[0]) == 384


def test_a_text_that_is_no_unicode_is_an_embedding_failure(model: LocalModel) -> None:
    with pytest.raises(EmbeddingFailed):
        model.embed(["half a pair \ud800"])
    with pytest.raises(EmbeddingFailed):
        model.fits("half a pair \ud800")


def test_a_folder_without_a_model_is_an_embedding_failure(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFailed, match="can't be loaded"):
        LocalModel(tmp_path).embed(["text"])


def test_a_name_that_nobody_knows_is_an_embedding_failure() -> None:
    model = LocalModel("/nowhere", name="nobody/knows-this")
    assert model.model_id == "nobody/knows-this"
    with pytest.raises(EmbeddingFailed, match="nobody/knows-this"):
        _ = model.dimension
    with pytest.raises(EmbeddingFailed, match="can't be loaded"):
        model.embed(["text"])


def test_a_known_name_says_its_dimension_without_being_loaded() -> None:
    assert LocalModel("/nowhere", name="BAAI/bge-base-en-v1.5").dimension == 768
