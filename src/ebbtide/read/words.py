"""The words a query is searched by, stemmed as the store's memories are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ebbtide.read.question import term_query
from ebbtide.text import words_text

if TYPE_CHECKING:
    from ebbtide.db.database import Transaction
    from ebbtide.engine import Engine
    from ebbtide.read.question import Question

__all__ = ["Terms", "read_words"]

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


@dataclass(frozen=True)
class Terms:
    """The words a query is searched by, and the query of each."""

    words: tuple[str, ...]

    @cached_property
    def queries(self) -> list[str]:
        """One tsquery a word, as text."""
        return [term_query(word) for word in self.words]

    @cached_property
    def any(self) -> str:
        """The tsquery that any of the words satisfies; empty for no words."""
        return " | ".join(self.queries)


async def read_words(engine: Engine, transaction: Transaction, question: Question) -> Terms:
    """The query's distinct words, stemmed as the store's memories are.

    The store is asked about each plain word once, and about anything else every time.
    """
    configuration = engine.facts.text_search_configuration
    text = words_text(question.asked, asking=True)
    if configuration not in ONE_WORD_AT_A_TIME or not PLAIN.fullmatch(text):
        words = (await transaction.one("recall.words", configuration=configuration, text=text))[0]
        return Terms(tuple(words))
    words = set(PLAIN_WORD.findall(text.lower()))
    unknown = engine.stems.unknown(words)
    if unknown:
        found = await transaction.all("recall.stems", configuration=configuration, words=unknown)
        engine.stems.learn(dict(found))
    return Terms(tuple(sorted(engine.stems.of(words))))
