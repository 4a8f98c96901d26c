"""Whether a sentence says that something is so: no question, no condition, no hearsay, no quotation."""

from __future__ import annotations

from ebbtide.write.extract.clauses import BREAKS
from ebbtide.write.extract.relation import Language
from ebbtide.write.extract.tokens import Sentence, Words

__all__ = ["is_certain", "is_doubted"]

TAKEN_BACK = frozenset({("(", "not", ")"), ("(", "nicht", ")"), ("(", "pas", ")")})


def is_doubted(words: Words, sentence: Sentence, language: Language) -> bool:
    """Whether a whole sentence says nothing for certain: it asks, or it is a condition or hearsay."""
    lower = words.lower
    if sentence.asks or lower[sentence.first] in language.asking:
        return True
    if tuple(lower[sentence.behind - 3 : sentence.behind]) in TAKEN_BACK:
        return True
    return not language.doubting.isdisjoint(lower[sentence.first : sentence.behind])


def is_certain(words: Words, sentence: Sentence, language: Language, subject: int, place: int) -> bool:
    """Whether a phrase at a place, whose subject begins at another, is said to be so and not denied or quoted."""
    if place in words.quoted or subject in words.quoted:
        return False
    lower = words.lower
    if not language.leading.isdisjoint(lower[sentence.first : subject]):
        return False
    clause = subject
    while clause > sentence.first and lower[clause - 1] not in BREAKS:
        clause -= 1
    return language.denying.isdisjoint(lower[clause:subject])
