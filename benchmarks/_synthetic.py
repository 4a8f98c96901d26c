"""Made-up memories whose words and vectors behave like real ones: topics, Zipf's law, conversations of two people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

DIMENSION = 384
TOPICS = 1_000
WORDS = 30_000
WORDS_PER_TOPIC = 60
TURNS_PER_CHAT = 200
SPEAKERS = ("Mara", "Jonas")
# A topic's texts lie about as close together as MiniLM puts sentences on one subject: a cosine of .4 to .6.
SPREAD = 1.0
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
COMMON = (
    "the", "a", "of", "to", "and", "in", "is", "it", "for", "on", "with", "was", "at", "that", "this", "we", "you",
    "they", "our", "my", "had", "not", "but", "from", "by", "as",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Turn:
    """One memory: its text, its vector of norm 1, and its place in its chat."""

    text: str
    vector: NDArray[np.float32]
    sequence: int
    speaker: str


class World:
    """Topics, each with a direction and words of its own; the same for the same seed."""

    def __init__(self, seed: int = 7) -> None:
        self.random = np.random.default_rng(seed)
        syllables = ["".join(pair) for pair in product(CONSONANTS, VOWELS)]
        self.words = np.array(["".join(parts) + "k" for parts in islice(product(syllables, repeat=3), WORDS)])
        self.random.shuffle(self.words)
        ranks = np.arange(1, WORDS + 1)
        self.shares = (1 / ranks) / (1 / ranks).sum()
        self.directions = unit(self.random.standard_normal((TOPICS, DIMENSION)))
        self.own_words = self.random.integers(0, WORDS, (TOPICS, WORDS_PER_TOPIC))

    def vectors(self, topics: NDArray[np.int64], spread: float = SPREAD) -> NDArray[np.float32]:
        """A vector near the direction of each topic."""
        noise = unit(self.random.standard_normal((len(topics), DIMENSION)))
        return unit(self.directions[topics] + spread * noise)

    def text(self, topic: int, length: int) -> str:
        """A sentence: a third common words, a third by Zipf's law, a third of the topic's own."""
        third = max(1, length // 3)
        parts = [
            *self.random.choice(COMMON, third),
            *self.words[self.random.choice(WORDS, third, p=self.shares)],
            *self.words[self.random.choice(self.own_words[topic], third)],
        ]
        self.random.shuffle(parts)
        return " ".join(parts)

    def chat(self, turns: int = TURNS_PER_CHAT) -> list[Turn]:
        """A conversation whose topic changes every ten turns or so."""
        topics = np.repeat(self.random.integers(0, TOPICS, turns // 10 + 1), 10)[:turns]
        vectors = self.vectors(topics)
        return [
            Turn(self.text(int(topic), int(self.random.integers(9, 40))), vectors[place], place, SPEAKERS[place % 2])
            for place, topic in enumerate(topics)
        ]

    def chats(self, memories: int) -> Iterator[list[Turn]]:
        """Conversations of that many memories together."""
        while memories > 0:
            yield self.chat(min(TURNS_PER_CHAT, memories))
            memories -= TURNS_PER_CHAT

    def questions(self, count: int, *, seed: int) -> list[tuple[str, NDArray[np.float32]]]:
        """Questions on topics, with their vectors; one in three names a speaker."""
        self.random = np.random.default_rng(seed)
        topics = self.random.integers(0, TOPICS, count)
        vectors = self.vectors(topics)
        return [
            (f"What did {SPEAKERS[0] if place % 3 == 0 else 'they'} say: {self.text(int(topic), 9)}?", vectors[place])
            for place, topic in enumerate(topics)
        ]


def unit(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    """The rows at length 1."""
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
