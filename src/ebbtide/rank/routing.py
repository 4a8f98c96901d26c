"""Which types of entities a query is likely to be about, from what its words matched before."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import cast

from ebbtide.types.graph import ENTITY_TYPES, EntityType

__all__ = ["LEAST_SHARE", "MOST_TERMS", "PRIORS", "SMOOTHING", "narrows", "predict", "shares", "terms_of"]

MOST_TERMS = 12
LONGEST_TERM = 32

# A type has two matches before any was seen, and is likely from a tenth of all on: so with fewer than four matches seen
# every type is likely, and the search is not narrowed.
SMOOTHING = 2.0
LEAST_SHARE = 0.1
ROUNDING = 1e-12

# Five matches a word: of the type that the text names first three, of the other two.
FIRST, SECOND = 3.0, 2.0

# The words of the examples as they are and as English stems them. Source: Eryx 7.2.
EXAMPLES: tuple[tuple[str, tuple[EntityType, EntityType]], ...] = (
    ("know knows rust", ("PERSON", "SKILL")),
    ("work works ml", ("PERSON", "SKILL")),
    ("auth0 migrat migration", ("PROJECT", "COMPANY")),
    ("present presentation", ("EVENT", "PROJECT")),
)
PRIORS: Mapping[str, Mapping[EntityType, float]] = MappingProxyType(
    {
        word: MappingProxyType({first: FIRST, second: SECOND})
        for words, (first, second) in EXAMPLES
        for word in words.split()
    }
)
"""What is taken to have been matched by a word before anybody asked."""


def terms_of(words: Iterable[str]) -> tuple[str, ...]:
    """The words that habits are kept of: of letters and digits, not of digits alone; the longest 12, in order."""
    telling = {word for word in words if word.isalnum() and not word.isdigit() and len(word) <= LONGEST_TERM}
    return tuple(sorted(sorted(telling, key=lambda word: (-len(word), word))[:MOST_TERMS]))


def shares(terms: Sequence[str], counts: Mapping[tuple[str, str], float]) -> Mapping[EntityType, float]:
    """How likely a query of these terms is about each type, summing to 1; nothing where nothing was ever matched.

    `counts` are the matches seen of each term and type. With m of a type, those of `PRIORS` included, the share is
    `(m + 2) / Σ (m + 2)` over the eight types.
    """
    distinct = sorted(set(terms))
    matches = {
        type_: math.fsum(
            counts.get((term, type_), 0.0) + PRIORS.get(term, {}).get(cast("EntityType", type_), 0.0)
            for term in distinct
        )
        for type_ in ENTITY_TYPES
    }
    total = math.fsum(matches.values())
    if total <= 0:
        return {}
    whole = total + SMOOTHING * len(ENTITY_TYPES)
    return {cast("EntityType", type_): (matched + SMOOTHING) / whole for type_, matched in matches.items()}


def predict(terms: Sequence[str], counts: Mapping[tuple[str, str], float]) -> tuple[EntityType, ...]:
    """The types with at least a tenth of the shares, the likeliest first, equals by name; none where none is known.

    More matches of a type never lose it its place among them.
    """
    told = shares(terms, counts)
    likely: list[EntityType] = [type_ for type_, share in told.items() if share >= LEAST_SHARE - ROUNDING]
    return tuple(sorted(likely, key=lambda type_: (-told[type_], type_)))


def narrows(types: Sequence[EntityType]) -> bool:
    """Whether a search may be restricted to these types: to at least one, and not to all."""
    return 0 < len(types) < len(ENTITY_TYPES)
