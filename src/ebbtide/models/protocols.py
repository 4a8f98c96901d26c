"""What an embedder is, a named model that turns texts into unit vectors, and a reranker, which reads query and text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Embedder", "ModelIdentity", "Reranker"]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which vectors these are: vectors of two different identities are never compared."""

    name: str
    dimension: int


class Embedder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def identity(self) -> ModelIdentity:
        """The model's name and dimension, as recorded in the store.

        Raises `ModelUnavailable` where the dimension is not known yet; such an embedder finds it with `probe()`.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector for each text, in the order given: shape (texts, dimension), every row of length 1.

        Any text is accepted, the empty one too. Raises `ModelUnavailable` when the model does not answer or is not
        installed, and `ModelInvalid` when its file or its answer is not what it should be.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """How many of the model's tokens the text is, at least 0; an estimate where the tokenizer is elsewhere."""
        ...

    async def close(self) -> None:
        """Release what the model holds: connections, memory. The embedder is not used afterwards."""
        ...


class Reranker(Protocol):
    """A model that reads a query and a document together and says how well the one answers the other."""

    @property
    def name(self) -> str:
        """What the model is called."""
        ...

    async def rerank(self, query: str, documents: Sequence[str]) -> NDArray[np.float64]:
        """How relevant each document is for the query, in their order: shape (documents,), in [0, 1], higher is better.

        Whoever asks sets the deadline. Raises `ModelUnavailable` when the model does not answer or is not installed,
        and `ModelInvalid` when its files or its answer are not what they should be.
        """
        ...

    async def close(self) -> None:
        """Release what the model holds: connections, memory. The reranker is not used afterwards."""
        ...
