"""Word lists as they are written here: words by space, phrases by `|`."""

from __future__ import annotations

__all__ = ["listed", "listed_phrases"]


def listed(words: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(words.split())


def listed_phrases(phrases: str) -> frozenset[str]:
    """The phrases of a list."""
    return frozenset(" ".join(phrase.split()) for phrase in phrases.split("|"))
