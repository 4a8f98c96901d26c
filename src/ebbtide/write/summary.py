"""A summary made of a conversation's own sentences, and what it is about; nothing is said that nobody said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ebbtide.write.wording import UNSPACED, stem
from ebbtide.write.words import AUXILIARIES, FUNCTION_WORDS, NEGATIONS, PARTICLES, SMALL_TALK

__all__ = ["Said", "central", "choose", "sentences_of", "topics_of"]

# Who speaks is no part of what is said.
SPEAKER = re.compile(r"^\S+(?: \S+){0,2}: (?=.)")
SENTENCE = re.compile(r"[^\n]+?(?:[.!?。！？]+(?=\s|$)|[。！？]+|$|(?=\n))")
WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:['’.-][^\W_{UNSPACED}]+)*")
STOP_WORDS = frozenset([*SMALL_TALK, *AUXILIARIES, *PARTICLES, *NEGATIONS, *chain(*FUNCTION_WORDS.values())])
STOP_STEMS = frozenset(map(stem, STOP_WORDS)) | STOP_WORDS

# Of PageRank: how much of a sentence's weight comes from those like it.
DAMPING = 0.85
ROUNDS = 50
# How much a sentence loses for being like one that was chosen before: between worth and novelty, as MMR weighs them.
REDUNDANCY = 0.3
# Sentences that are more alike say the same.
SAME = 0.9
# More sentences than these are chosen from a part at a time.
MOST_SENTENCES = 800
MOST_TOPICS = 5
LONGEST_TOPIC = 40


@dataclass(frozen=True, slots=True)
class Said:
    """What one turn says, and who says it."""

    text: str
    speaker: str | None = None


def sentences_of(turn: Said) -> list[str]:
    """The sentences of a turn, each with its speaker in front."""
    lead = f"{turn.speaker}: " if turn.speaker else ""
    found = (sentence.strip() for sentence in SENTENCE.findall(turn.text))
    return [f"{lead}{sentence}" for sentence in found if WORD.search(sentence)]


def central(sentences: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How central each sentence is, from 0 to 1 for the most central one, and how alike any two are, from 0 to 1.

    LexRank: sentences are vectors of their words weighed by rarity (tf · idf), alike by their cosine, and central by
    the PageRank of that graph. One without a word that means anything is worth nothing.

    Source: Erkan and Radev, LexRank, JAIR 22 (2004), with continuous weights.
    """
    counts = [Counter(words_of(sentence)) for sentence in sentences]
    places = {word: place for place, word in enumerate(dict.fromkeys(word for one in counts for word in one))}
    if not places:
        return np.zeros(len(sentences)), np.eye(len(sentences))
    frequency = np.zeros((len(sentences), len(places)))
    for row, one in enumerate(counts):
        for word, count in one.items():
            frequency[row, places[word]] = count
    rarity = np.log(1 + len(sentences) / (frequency > 0).sum(axis=0))
    weighed = frequency * rarity
    lengths = np.linalg.norm(weighed, axis=1)
    directions = weighed / np.where(lengths > 0, lengths, 1.0)[:, None]
    alike = np.clip(directions @ directions.T, 0.0, 1.0)
    links = alike.copy()
    np.fill_diagonal(links, 0.0)
    sums = links.sum(axis=1, keepdims=True)
    steps = np.divide(links, sums, out=np.full_like(links, 1 / len(sentences)), where=sums > 0)
    rank = np.full(len(sentences), 1 / len(sentences))
    for _ in range(ROUNDS):
        rank = (1 - DAMPING) / len(sentences) + DAMPING * (rank @ steps)
    rank = np.where(lengths > 0, rank, 0.0)
    return rank / rank.max(), alike


def choose(sentences: Sequence[str], lengths: Sequence[int], most: int) -> list[str]:
    """The sentences that tell most of the whole within `most` tokens, in their order; `lengths` are their tokens.

    Each time the sentence is taken that is most central and least like those taken already (MMR); one that does not
    fit, or says the same as one of those, is skipped. Where none fits, the shortest one that means anything stands
    alone.
    """
    if not sentences:
        return []
    if len(sentences) > MOST_SENTENCES:
        head = choose(sentences[:MOST_SENTENCES], lengths[:MOST_SENTENCES], most)
        length_of = dict(zip(sentences[:MOST_SENTENCES], lengths, strict=False))
        rest = [*head, *sentences[MOST_SENTENCES:]]
        return choose(rest, [*(length_of[one] for one in head), *lengths[MOST_SENTENCES:]], most)
    rank, alike = central(sentences)
    nearest = np.zeros(len(sentences))
    taken: list[int] = []
    left = most
    while open_ := [
        place for place in np.flatnonzero((rank > 0) & (nearest < SAME)).tolist() if lengths[place] <= left
    ]:
        worth = (1 - REDUNDANCY) * rank - REDUNDANCY * nearest
        best = max(open_, key=lambda place: (worth[place], -place))
        taken.append(best)
        left -= lengths[best]
        nearest = np.maximum(nearest, alike[:, best])
        nearest[best] = 1.0
    if not taken:
        meaning = [place for place in range(len(sentences)) if rank[place] > 0] or list(range(len(sentences)))
        taken = [min(meaning, key=lambda place: lengths[place])]
    return [sentences[place] for place in sorted(taken)]


def topics_of(sentences: Sequence[str], most: int = MOST_TOPICS) -> tuple[str, ...]:
    """The words that most of the sentences have in common, the commonest first, as they are mostly written.

    A word that only one sentence has is no topic, unless no word is in two.
    """
    spread: Counter[str] = Counter()
    written: dict[str, Counter[str]] = {}
    for sentence in sentences:
        said = SPEAKER.sub("", sentence)
        meaning = set(words_of(said))
        named = [(stem(word.lower()), word) for word in WORD.findall(said) if len(word) > 2]
        words = [(made, word) for made, word in named if made in meaning]
        spread.update(list(dict.fromkeys(made for made, _ in words)))
        for made, word in words:
            written.setdefault(made, Counter())[word] += 1
    common = [word for word, count in spread.most_common() if count > 1] or [word for word, _ in spread.most_common()]
    return tuple(written[word].most_common(1)[0][0][:LONGEST_TOPIC] for word in common[:most])


def words_of(sentence: str) -> list[str]:
    """The words that a sentence says and that mean something, without their endings; figures among them."""
    lowered = (word.lower().replace("’", "'") for word in WORD.findall(SPEAKER.sub("", sentence)))
    stems = ((word, stem(word)) for word in lowered)
    return [made for word, made in stems if word not in STOP_WORDS and made not in STOP_STEMS]
