"""The local cross-encoder: a real model of a few words, read as any BERT-like one, and files that are none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import anyio
import numpy as np
import pytest

from ebbtide.errors import InvalidInput, ModelInvalid, ModelUnavailable
from ebbtide.models import cross_encoder
from ebbtide.models.cross_encoder import OnnxReranker, relevance_of
from tests.models.tiny_cross_encoder import INT32, model, write_cross_encoder

QUERY = "When does the ferry leaves"
DOCUMENTS = ["The ferry leaves at seven", "Ana likes oranges", "", "ferry", "glacier " * 2_000 + "ferry"]


def sigmoid(logit: float) -> float:
    return 1 / (1 + np.exp(-logit))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_cross_encoder(tmp_path / "tiny")


async def test_the_relevance_is_the_sigmoid_of_one_logit(folder: Path) -> None:
    reranker = OnnxReranker(folder)
    assert reranker.name == "tiny"
    scores = await reranker.rerank(QUERY, DOCUMENTS)
    # Shared words: the, ferry, leaves; none; none; ferry; and none within the first 512 tokens.
    np.testing.assert_allclose(scores, [sigmoid(3), 0.5, 0.5, sigmoid(1), 0.5], atol=1e-6)
    assert scores[0] == pytest.approx(0.9526, abs=1e-4)


async def test_the_relevance_is_the_last_share_of_two_logits(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "two", model(2))
    scores = await OnnxReranker(folder).rerank(QUERY, DOCUMENTS)
    np.testing.assert_allclose(scores, [sigmoid(3), 0.5, 0.5, sigmoid(1), 0.5], atol=1e-6)


async def test_a_model_of_fewer_inputs_and_narrower_numbers_is_asked_as_it_wants(tmp_path: Path) -> None:
    onnx = model(inputs=("input_ids", "token_type_ids"), kind=INT32)
    scores = await OnnxReranker(write_cross_encoder(tmp_path / "narrow", onnx)).rerank("ferry", ["ferry", "oranges"])
    assert scores[0] > scores[1]


@pytest.mark.parametrize("threads", [1, 2])
async def test_a_pair_has_the_same_score_alone_and_among_many(folder: Path, threads: int) -> None:
    documents = DOCUMENTS * 10
    together = await OnnxReranker(folder, threads=threads).rerank(QUERY, documents)
    alone = np.concatenate([await OnnxReranker(folder).rerank(QUERY, [document]) for document in DOCUMENTS])
    np.testing.assert_allclose(together, np.tile(alone, 10), atol=1e-6)


async def test_the_longer_text_is_cut_first(folder: Path) -> None:
    asked = "glacier " * 1_000 + "ferry"
    within, beyond = await OnnxReranker(folder).rerank(asked, ["ferry", "glacier"])
    assert within == 0.5
    assert beyond == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["", " \t", "lone \ud800 surrogate", "a\0b", "x" * 200_000, "[CLS] [SEP] [PAD]"])
async def test_any_text_has_a_score(folder: Path, text: str) -> None:
    scores = await OnnxReranker(folder).rerank(text, [text, "ferry"])
    assert scores.shape == (2,)
    assert np.isfinite(scores).all()


async def test_no_documents_have_no_scores(folder: Path) -> None:
    assert (await OnnxReranker(folder).rerank(QUERY, [])).shape == (0,)


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_refused_at_once(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(InvalidInput, match=missing) as caught:
        OnnxReranker(folder)
    assert caught.value.field == "reranker"
    assert caught.value.remedy is not None


@pytest.mark.parametrize("path", ["/nowhere", "x" * 5_000])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        OnnxReranker(Path(path))
    assert caught.value.field == "reranker"
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
async def test_a_damaged_file_is_named(folder: Path, damaged: str) -> None:
    (folder / damaged).write_bytes(b"\xff" * 100)
    with pytest.raises(ModelInvalid, match=damaged):
        await OnnxReranker(folder).rerank(QUERY, DOCUMENTS)


@pytest.mark.parametrize(
    ("onnx", "said"),
    [
        (model(3), "one or two outputs"),
        (model(inputs=("input_ids", "pixels")), "takes input_ids, pixels"),
        (model(scale=np.inf), "not finite"),
    ],
)
async def test_a_model_that_is_no_cross_encoder_is_refused(tmp_path: Path, onnx: bytes, said: str) -> None:
    folder = write_cross_encoder(tmp_path / "other", onnx)
    with pytest.raises(ModelInvalid, match=said):
        await OnnxReranker(folder).rerank(QUERY, DOCUMENTS)


def test_far_logits_are_certain_and_no_overflow() -> None:
    assert relevance_of(np.array([[-1e30], [0.0], [1e30]]), 3).tolist() == [0.0, 0.5, 1.0]


async def test_the_model_is_loaded_once_and_again_after_a_close(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Path] = []
    load_session = cross_encoder.load_session
    monkeypatch.setattr(cross_encoder, "load_session", lambda file: loads.append(file) or load_session(file))
    reranker = OnnxReranker(folder)
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(reranker.rerank, QUERY, DOCUMENTS)
    assert len(loads) == 1
    await reranker.close()
    await reranker.rerank(QUERY, DOCUMENTS)
    assert len(loads) == 2


async def test_a_call_can_be_cancelled_and_repeated(folder: Path) -> None:
    reranker = OnnxReranker(folder)
    with anyio.move_on_after(0) as scope:
        await reranker.rerank(QUERY, ["glacier " * 1_000] * 500)
    assert scope.cancelled_caught
    assert (await reranker.rerank(QUERY, ["ferry"]))[0] == pytest.approx(sigmoid(1))


def test_nothing_is_loaded_early_and_nobody_is_told(folder: Path) -> None:
    program = (
        "import os, sys, anyio; from pathlib import Path; from ebbtide.models.cross_encoder import OnnxReranker\n"
        "reranker = OnnxReranker(Path(sys.argv[1])); reranker.name\n"
        "assert not {'onnxruntime', 'tokenizers', 'httpx'} & set(sys.modules)\n"
        "anyio.run(reranker.rerank, 'ferry', ['ferry'])\n"
        "assert os.environ['ORT_DISABLE_TELEMETRY'] == '1'"
    )
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, env=environment)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
async def test_a_library_that_is_not_installed_says_how_to_install_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelUnavailable, match=f"{package}.*pip install"):
        await OnnxReranker(folder).rerank(QUERY, DOCUMENTS)
