"""English words that mean nearly the same, as the stems that full text compares."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path

__all__ = ["near_words"]

# NOTICE says how it was made.
NEAR_WORDS = Path(__file__).with_name("synonyms.txt")
# The file's stems are those of this configuration.
CONFIGURATION = "english"


def near_words(words: Collection[str], configuration: str) -> dict[str, tuple[str, ...]]:
    """For each word of a query that has any, at most eight that mean nearly the same, the nearest first.

    None of them is itself a word of the query. Empty for a store whose text search is configured for another language.
    """
    if configuration != CONFIGURATION:
        return {}
    known = thesaurus()
    near = {
        word: tuple(other for other in known[word].split() if other not in words) for word in words if word in known
    }
    return {word: others for word, others in near.items() if others}


@lru_cache(maxsize=1)
def thesaurus() -> Mapping[str, str]:
    """The near words of each stem in one text, since tuples of texts would take several times the memory."""
    return dict(line.split(" ", 1) for line in NEAR_WORDS.read_text(encoding="ascii").splitlines())
