"""What a query wants: its intent, known by phrases, and by a chat model where one is set."""

from __future__ import annotations

from typing import NamedTuple

from ebbtide.checks import check_text
from ebbtide.rank.strategies import INTENTS
from ebbtide.read.patterns import count_patterns

__all__ = ["Classification", "classify"]

LONGEST_CLASSIFIED = 100_000
FIRST_MATCH, EACH_MATCH, MOST_CONFIDENT = 0.4, 0.15, 0.9
UNKNOWN_INTENT = "factual"


class Classification(NamedTuple):
    """The intent of a query, one of six, and how sure that is: 0 where nothing tells, else above 0.4 up to 0.9."""

    intent: str
    confidence: float


def classify(text: str) -> Classification:
    """The intent of a query: decision, comparative, relationship, temporal, exploratory or factual.

    Phrases are counted for each intent; the one with the most wins, and of several the one that stands first above.
    The confidence is `min(0.9, 0.4 + 0.15 · matches)`; without a match the answer is `("factual", 0.0)`. The phrases
    are English. Source: Eryx 3.2.

    Raises:
        InvalidInput: `text` is no text that can be stored, or longer than 100,000 characters.
    """
    return classify_asked(check_text(text, "text", LONGEST_CLASSIFIED))


def classify_asked(text: str) -> Classification:
    """The same for a text that was checked already."""
    counts = count_patterns(text)
    if not counts:
        return Classification(UNKNOWN_INTENT, 0.0)
    intent = max(INTENTS, key=lambda name: counts.get(name, 0))
    return Classification(intent, min(MOST_CONFIDENT, FIRST_MATCH + EACH_MATCH * counts[intent]))
