"""The words a query is searched by, stemmed as the store's memories are."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ebbtide.read.question import term_query
from ebbtide.read.synonyms import near_words
from ebbtide.text import words_text

if TYPE_CHECKING:
    from ebbtide.caches import WordSample
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.read.question import Question

__all__ = ["Alike", "Terms", "alike_in", "idf", "read_words"]

# A text in which PostgreSQL's parser finds just these words, whatever stands around them: letters, whole numbers, and
# signs that belong to no word.
BETWEEN = r"(?:[\s,;?!()\"']|[.:]+(?=\s|$))"
PLAIN = re.compile(rf"{BETWEEN}*(?:(?:[A-Za-z]+|\d+)(?:{BETWEEN}+|$))*")
PLAIN_WORD = re.compile(r"[A-Za-z]+|\d+")
# The configurations that come with PostgreSQL look at one word at a time; others may know phrases.
ONE_WORD_AT_A_TIME = frozenset(
    [
        "arabic",
        "armenian",
        "basque",
        "catalan",
        "danish",
        "dutch",
        "english",
        "finnish",
        "french",
        "german",
        "greek",
        "hindi",
        "hungarian",
        "indonesian",
        "irish",
        "italian",
        "lithuanian",
        "nepali",
        "norwegian",
        "portuguese",
        "romanian",
        "russian",
        "serbian",
        "simple",
        "spanish",
        "swedish",
        "tamil",
        "turkish",
        "yiddish",
    ]
)


@dataclass(frozen=True, slots=True)
class Terms:
    """The words a query is searched by, and for some of them those that mean nearly the same, the nearest first."""

    words: tuple[str, ...]
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def queries(self) -> list[str]:
        """One tsquery a word, as text."""
        return [term_query(word) for word in self.words]

    @property
    def any(self) -> str:
        """The tsquery that any of the words satisfies; empty for no words."""
        return " | ".join(self.queries)


@dataclass(frozen=True, slots=True)
class Alike:
    """For some words of a query, the words that may stand for each, as the statements need to know them.

    Attributes:
        words: the tsquery of each such word of the query.
        queries: for each, the tsquery that any word satisfies that may stand for it.
        rarity: for each, the idf at which those count.
    """

    words: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    rarity: tuple[float, ...] = ()

    @property
    def any(self) -> str | None:
        """The tsquery that any word satisfies that may stand for another; None where there are none."""
        return " | ".join(self.queries) or None


def idf(rows: float, found: float) -> float:
    """`ln(1 + (N - n + .5) / (n + .5))`: the rarity of a word that n of N rows hold (BM25's)."""
    return math.log(1 + (max(rows, found) - found + 0.5) / (found + 0.5))


def alike_in(terms: Terms, sample: WordSample, rows: int) -> Alike:
    """The synonyms of a query's words that memories of the scope hold.

    Those of one word count together as a single word does, by how many memories hold any of them; but never for more
    than the word that was asked for. Source: structured queries (Pirkola, SIGIR 1998).
    """
    found: list[tuple[str, str, float]] = []
    for word, near in terms.synonyms.items():
        held = [other for other in near if other in sample.counts]
        if held:
            share = min(1.0, sum(map(sample.share, held)))
            rarity = min(idf(rows, sample.share(word) * rows), idf(rows, share * rows))
            found.append((term_query(word), " | ".join(map(term_query, held)), rarity))
    words, queries, rarities = zip(*found, strict=True) if found else ((), (), ())
    return Alike(words, queries, rarities)


async def read_words(engine: Engine, transaction: Transaction, question: Question) -> Terms:
    """The query's distinct words, stemmed as the store's memories are.

    The store is asked about each plain word once, and about anything else every time.
    """
    configuration = engine.facts.text_search_configuration
    text = words_text(question.asked, asking=True)
    if configuration not in ONE_WORD_AT_A_TIME or not PLAIN.fullmatch(text):
        words = (await transaction.one("recall.words", configuration=configuration, text=text))[0]
        return Terms(tuple(words), near_words(words, configuration))
    words = set(PLAIN_WORD.findall(text.lower()))
    unknown = engine.stems.unknown(words)
    if unknown:
        found = await transaction.all("recall.stems", configuration=configuration, words=unknown)
        engine.stems.learn(dict(found))
    stems = tuple(sorted(engine.stems.of(words)))
    return Terms(stems, near_words(stems, configuration))
