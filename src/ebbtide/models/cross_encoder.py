"""A cross-encoder on this machine: any BERT-like model with one or two outputs, from a folder, on ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from ebbtide.errors import InvalidInput, ModelError, ModelInvalid, ModelUnavailable
from ebbtide.models.batches import batches_of_similar_length, run_batches
from ebbtide.models.runtime import open_session
from ebbtide.models.vectors import encodable

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

    from ebbtide.models.runtime import Session

__all__ = ["OnnxReranker"]

FILES = ("model.onnx", "tokenizer.json")
FOLDER_REMEDY = "Give the folder of a cross-encoder that holds `model.onnx` and `tokenizer.json`."
INSTALL_COMMAND = "Run `pip install onnxruntime tokenizers`."
TOKENS_READ = 512
# 512 tokens of ordinary text are about 2,200 characters. The cut spares tokenizing a megabyte for its beginning.
CHARACTERS_READ = 16_384
# Padded tokens a run may hold: two whole pairs, or many short ones. A run cannot be stopped, so it must not be long.
TOKENS_PER_RUN = 1_024
INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


class OnnxReranker:
    """A cross-encoder from a folder with `model.onnx` and `tokenizer.json`, as sentence-transformers exports them.

    The model takes `input_ids` and, where it wants them, `attention_mask` and `token_type_ids`. It answers with one
    logit a pair, of which the sigmoid is the relevance, or with two, whose softmax gives the last one's. Query and
    document together are cut to 512 tokens, the longer of the two first. Nothing is loaded before the first question.
    `threads` is how many batches one question runs at a time, each on one processor core. Raises `InvalidInput` that
    names `reranker` where the folder lacks a file, and for fewer than 1 thread.
    """

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        if threads < 1:
            raise InvalidInput(f"The number of threads is {threads}.", field="threads", remedy="Give 1 or more.")
        self._folder = folder
        self._threads = threads
        self._lock = Lock()
        self._loaded: CrossEncoder | None = None
        missing = next((name for name in FILES if not is_file(folder / name)), None)
        if missing is not None:
            raise InvalidInput(
                f"The reranker's folder {str(folder)[:200]!r} holds no {missing}.",
                field="reranker",
                remedy=FOLDER_REMEDY,
            )

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self._folder.absolute().name

    async def rerank(self, query: str, documents: Sequence[str]) -> NDArray[np.float64]:
        """The relevance of each document, in their order: shape (documents,), in [0, 1].

        The work runs in worker threads, so the event loop stays free; a cancelled call is left at once, while its
        running batch comes to its end. The first call loads the model, which goes on where it is not waited for.
        Raises `ModelUnavailable` when a library is not installed, `ModelInvalid` when a file is not what it should be.
        """
        scores = np.empty(len(documents), dtype=np.float64)
        if not documents:
            return scores
        model = await to_thread.run_sync(self.load, abandon_on_cancel=True)
        pairs = await to_thread.run_sync(model.tokenize, query, documents, abandon_on_cancel=True)

        async def score_batch(batch: list[int]) -> None:
            of_batch = [pairs[place] for place in batch]
            scores[batch] = await to_thread.run_sync(model.score, of_batch, abandon_on_cancel=True)

        batches = batches_of_similar_length([len(pair.ids) for pair in pairs], TOKENS_PER_RUN)
        await run_batches(batches, score_batch, self._threads)
        return scores

    def load(self) -> CrossEncoder:
        """Load the model unless it is there. Blocks; safe from any thread."""
        with self._lock:
            if self._loaded is None:
                self._loaded = CrossEncoder(self._folder)
            return self._loaded

    async def close(self) -> None:
        """Free the model's memory."""
        self._loaded = None


class CrossEncoder:
    """The loaded model and its tokenizer."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = load_tokenizer(folder / "tokenizer.json")
        self._padding = padding_of(self._tokenizer)
        self._session = load_session(folder / "model.onnx")
        ports = self._session.get_inputs()
        self._types = {port.name: np.int32 if "int32" in port.type else np.int64 for port in ports}
        if "input_ids" not in self._types or not INPUTS.issuperset(self._types):
            raise ModelInvalid(
                f"The reranker's model takes {', '.join(sorted(self._types))[:200]}.",
                remedy=f"Give one that takes {', '.join(sorted(INPUTS))}, or some of these.",
            )

    def tokenize(self, query: str, documents: Sequence[str]) -> list[Encoding]:
        """Query and document as the model reads them, one pair a document."""
        # Pair by pair, because the library's own batches start threads that warn whenever the process forks.
        asked = encodable(query[:CHARACTERS_READ])
        return [self._tokenizer.encode(asked, encodable(document[:CHARACTERS_READ])) for document in documents]

    def score(self, pairs: Sequence[Encoding]) -> NDArray[np.float64]:
        """The relevance of each pair: shape (pairs,), in [0, 1].

        Raises `ModelInvalid` where the model's answer has another shape or is not finite.
        """
        shape = (len(pairs), max(len(pair.ids) for pair in pairs))
        columns = {
            "input_ids": np.full(shape, self._padding, dtype=np.int64),
            "attention_mask": np.zeros(shape, dtype=np.int64),
            "token_type_ids": np.zeros(shape, dtype=np.int64),
        }
        for row, pair in enumerate(pairs):
            length = len(pair.ids)
            columns["input_ids"][row, :length] = pair.ids
            columns["attention_mask"][row, :length] = 1
            columns["token_type_ids"][row, :length] = pair.type_ids
        inputs = {name: columns[name].astype(kind, copy=False) for name, kind in self._types.items()}
        return relevance_of(np.asarray(self._session.run(None, inputs)[0], dtype=np.float64), len(pairs))


def relevance_of(logits: NDArray[np.float64], pairs: int) -> NDArray[np.float64]:
    """`1 / (1 + e^-x)` of one logit a pair, or of the last logit less the first of two, which is their softmax.

    Raises `ModelInvalid` where there are neither one nor two a pair, or one is not finite.
    """
    table = logits.reshape(pairs, -1) if logits.size in (pairs, 2 * pairs) else np.empty((pairs, 0))
    if table.shape[1] == 0:
        raise ModelInvalid(
            f"The reranker's model answers {pairs} pairs with the shape {logits.shape}.",
            remedy="Give a cross-encoder with one or two outputs a pair.",
        )
    margin = table[:, -1] if table.shape[1] == 1 else table[:, 1] - table[:, 0]
    if not np.all(np.isfinite(margin)):
        raise ModelInvalid("The reranker's model answers with a number that is not finite.")
    # The hyperbolic tangent does not overflow where the exponential does.
    return 0.5 * (1.0 + np.tanh(0.5 * margin))


def is_file(path: Path) -> bool:
    """Whether there is such a file; a path that the system cannot even look up is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def load_tokenizer(file: Path) -> Tokenizer:
    """The tokenizer, cutting pairs to what the model reads."""
    try:
        from tokenizers import Tokenizer
    except ImportError as exc:
        raise ModelUnavailable("The package `tokenizers` is not installed.", remedy=INSTALL_COMMAND) from exc
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as exc:
        # The library raises bare exceptions for whatever is wrong with the file.
        raise ModelInvalid("The reranker's tokenizer.json cannot be read.", remedy=FOLDER_REMEDY) from exc
    cutting: Any = tokenizer
    cutting.enable_truncation(TOKENS_READ, strategy="longest_first")
    return tokenizer


def padding_of(tokenizer: Tokenizer) -> int:
    """The id that fills up a batch; from here on the tokenizer itself fills up nothing."""
    filling: Any = tokenizer
    known: int | None = filling.padding["pad_id"] if filling.padding else None
    tokenizer.no_padding()
    ids = (known, tokenizer.token_to_id("[PAD]"), tokenizer.token_to_id("<pad>"))
    return next((id_ for id_ in ids if id_ is not None), 0)


def load_session(file: Path) -> Session:
    """The model ready to run. By its path, since a large one keeps its weights in files beside it."""
    try:
        return open_session(lambda: str(file), remedy=INSTALL_COMMAND)
    except ModelError:
        raise
    except Exception as exc:
        # The runtime has an exception for each thing that can be wrong with a file, and exports none of them.
        raise ModelInvalid("The reranker's model.onnx cannot be loaded.", remedy=FOLDER_REMEDY) from exc
