"""An embedder, a reranker, an extractor and a consolidator for tests: no model, and the same on every machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ebbtide.errors import InvalidInput
from ebbtide.models.protocols import ModelIdentity
from ebbtide.models.vectors import unit_rows
from ebbtide.types.extraction import Findings, FoundFact, Name

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["FakeConsolidator", "FakeEmbedder", "FakeExtractor", "FakeReranker"]

LEAST_DIMENSION = 16
WORDS_CACHED = 32_768
DIGEST_BYTES = 64
# Chinese, Japanese and Korean write words without spaces between them: there each character counts as a word.
CHARACTER_WORDS = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
WORD = re.compile(rf"[{CHARACTER_WORDS}]|[^\W{CHARACTER_WORDS}]+")
STATEMENT = re.compile(r"\b([A-Z]\w*) ([a-z]\w*) ([A-Z]\w*)\.")
ENDING = re.compile(r"(?<=\w{3})(?:ings?|ed|es|s|e)$")


class FakeEmbedder:
    """Deterministic vectors without a model: a text is the sum of its words, each a pseudo-random unit vector.

    The more words two texts share, the higher their cosine; unrelated words are nearly at right angles. Case and common
    English endings are ignored, and `vocabulary` maps a word to the one it shall mean: `{"coffee": "drink"}`. A text
    without a word is always the same vector. Vectors are equal across processes and machines, up to rounding.
    Raises `InvalidInput` for a dimension below 16.
    """

    def __init__(
        self, dimension: int = 384, *, name: str = "fake", vocabulary: Mapping[str, str] | None = None
    ) -> None:
        if dimension < LEAST_DIMENSION:
            raise InvalidInput(
                f"The dimension is {dimension}.", field="dimension", remedy=f"Give {LEAST_DIMENSION} or more."
            )
        self._identity = ModelIdentity(name, dimension)
        self._synonyms = {stem(word): stem(meaning) for word, meaning in (vocabulary or {}).items()}
        self._word_vector = lru_cache(WORDS_CACHED)(self._hashed)

    @property
    def identity(self) -> ModelIdentity:
        """The name and dimension given."""
        return self._identity

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, in the order given: shape (texts, dimension)."""
        sums = np.zeros((len(texts), self._identity.dimension), dtype=np.float32)
        for row, text in zip(sums, texts, strict=True):
            for word in WORD.findall(text) or [""]:
                row += self._word_vector(word)
        return unit_rows(sums)

    def count_tokens(self, text: str) -> int:
        """The number of words."""
        return len(WORD.findall(text))

    async def close(self) -> None:
        """Nothing is held."""

    def _hashed(self, word: str) -> NDArray[np.float32]:
        meaning = stem(word)
        return word_vector(self._synonyms.get(meaning, meaning), self._identity.dimension)


class FakeReranker:
    """Deterministic relevance without a model: the share of the query's distinct words that the document holds.

    Case and common English endings are ignored. A query without a word is equally little relevant to everything.
    """

    @property
    def name(self) -> str:
        """`fake`."""
        return "fake"

    async def rerank(self, query: str, documents: Sequence[str]) -> NDArray[np.float64]:
        """The relevance of each document, in their order: shape (documents,), in [0, 1]."""
        asked = {stem(word) for word in WORD.findall(query)}
        held = [{stem(word) for word in WORD.findall(document)} for document in documents]
        return np.array([len(asked & words) / max(len(asked), 1) for words in held], dtype=np.float64)

    async def close(self) -> None:
        """Nothing is held."""


class FakeExtractor:
    """Deterministic facts without a model: every sentence of three words whose first and last are capitalised.

    "Ann knows Bob." says that Ann, a person, `knows` Bob, another one.
    """

    @property
    def name(self) -> str:
        """`model:fake`."""
        return "model:fake"

    async def extract(self, text: str, *, speaker: str | None, observed_at: datetime | None) -> Findings:  # noqa: ARG002 - the protocol's arguments
        """The facts of a text, each with its two names."""
        facts: list[FoundFact] = []
        for match in STATEMENT.finditer(text):
            names = [Name(match[place], "PERSON", match.start(place), match.end(place)) for place in (1, 3)]
            said = FoundFact(match[0], *match.span(), names[0], match[2], match[3], names[1], "fact", 0.8, 0.5, "model")
            facts.append(said)
        named = {name.text: name for fact in facts for name in (fact.subject, fact.object_name) if name is not None}
        return Findings(tuple(facts), tuple(named.values()))

    async def close(self) -> None:
        """Nothing is held."""


class FakeConsolidator:
    """Deterministic merges without a model: the longest text, and in brackets the words that only the others have.

    "Ann likes tea" and "Ann likes hot tea" become "Ann likes hot tea".
    """

    @property
    def name(self) -> str:
        """`model:fake`."""
        return "model:fake"

    async def merge(self, texts: Sequence[str]) -> str:
        """One text that has the words of all."""
        longest, *others = sorted(dict.fromkeys(texts), key=lambda text: (-len(text), text))
        known = {stem(word) for word in WORD.findall(longest)}
        missing = {stem(word): word for text in others for word in WORD.findall(text) if stem(word) not in known}
        return f"{longest.rstrip('.')} ({' '.join(missing.values())})" if missing else longest

    async def close(self) -> None:
        """Nothing is held."""


def stem(word: str) -> str:
    """The word without case and without the commonest English ending."""
    return ENDING.sub("", word.casefold())


def word_vector(word: str, dimension: int) -> NDArray[np.float32]:
    """A unit vector read from the word's hash: shape (dimension,)."""
    encoded = word.encode("utf-8", "replace")
    blocks = range(-(-dimension // DIGEST_BYTES))
    hashed = b"".join(blake2b(encoded, salt=block.to_bytes(4)).digest() for block in blocks)
    centred = np.frombuffer(hashed, dtype=np.uint8)[:dimension] - np.float32(127.5)
    return unit_rows(centred[np.newaxis])[0]
