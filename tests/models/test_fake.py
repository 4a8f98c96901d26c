"""The fake embedder: unit vectors, the same everywhere, nearer the more words are shared."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import InvalidInput
from ebbtide.models import FakeEmbedder, ModelIdentity

WORDS = st.lists(st.sampled_from(["harbour", "violin", "saffron", "glacier", "ledger", "orchard"]), unique=True)


async def cosine(embedder: FakeEmbedder, first: str, second: str) -> float:
    vectors = await embedder.embed([first, second])
    return float(vectors[0] @ vectors[1])


@given(texts=st.lists(st.text(st.characters(exclude_categories=[]))), dimension=st.integers(16, 384))
async def test_any_text_gives_the_same_unit_vector_alone_and_among_others(texts: list[str], dimension: int) -> None:
    embedder = FakeEmbedder(dimension)
    together = await embedder.embed(texts)
    assert together.shape == (len(texts), dimension)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_array_equal((await FakeEmbedder(dimension).embed([text]))[0], vector)


@given(shared=WORDS.filter(bool), other=st.permutations(["copper", "meadow", "thimble", "walrus"]))
async def test_a_shared_word_brings_texts_nearer(shared: list[str], other: list[str]) -> None:
    embedder = FakeEmbedder(384)
    text = " ".join(shared)
    near = await cosine(embedder, text, f"{text} {other[0]}")
    nearer = await cosine(embedder, text, text)
    far = await cosine(embedder, text, " ".join(other))
    assert nearer == pytest.approx(1, abs=1e-5)
    assert nearer > near > far + 0.2


async def test_case_and_common_endings_are_ignored() -> None:
    embedder = FakeEmbedder()
    assert await cosine(embedder, "Anna LIKES walking", "anna liked walks") == pytest.approx(1, abs=1e-5)
    assert await cosine(embedder, "walk", "talk") < 0.3


async def test_the_vocabulary_makes_synonyms() -> None:
    embedder = FakeEmbedder(vocabulary={"Coffee": "drink", "car": "vehicle"})
    assert await cosine(embedder, "coffee cars", "drinks VEHICLES") == pytest.approx(1, abs=1e-5)


async def test_characters_are_the_words_where_no_spaces_are_written() -> None:
    assert await cosine(FakeEmbedder(), "我喜欢喝茶", "他喜欢茶") > 0.5


async def test_texts_without_a_word_share_one_vector() -> None:
    vectors = await FakeEmbedder().embed(["", "  ", "?!"])
    assert np.ptp(vectors, axis=0).max() == 0


def test_another_process_gives_the_same_vector() -> None:
    program = (
        "import asyncio; from ebbtide.models import FakeEmbedder; "
        "print(asyncio.run(FakeEmbedder().embed(['harbour at dawn'])).tobytes().hex())"
    )

    def run(hash_seed: str) -> bytes:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True).stdout

    assert run("1") == run("2")


async def test_the_vector_of_a_word_is_fixed_for_good() -> None:
    vector = (await FakeEmbedder(16).embed(["harbour"]))[0]
    np.testing.assert_allclose(vector[:4], [0.046532, 0.187991, 0.299669, -0.269888], atol=1e-5)


def test_identity_and_tokens() -> None:
    embedder = FakeEmbedder(64, name="test-model")
    assert embedder.identity == ModelIdentity("test-model", 64)
    assert embedder.count_tokens("Three plain words.") == 3


def test_a_dimension_too_small_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        FakeEmbedder(15)
    assert caught.value.field == "dimension"
