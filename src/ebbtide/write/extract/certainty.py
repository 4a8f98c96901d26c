"""Whether a sentence says that something is so: no question, no condition, no hearsay, no quotation."""

from __future__ import annotations

from ebbtide.write.extract.clauses import BREAKS
from ebbtide.write.extract.relation import Language
from ebbtide.write.extract.tokens import Sentence, Words
from ebbtide.write.words import NEGATIONS

__all__ = ["is_certain", "is_doubted", "takes_back"]

MOCKING = (("yeah", "right"), ("yeah", "sure"), ("sure", ",", "and"), ("as", "if"))
HESITATING = frozenset({"wait", "oh", "well", "sorry", "hm", ","})
REFERRING = frozenset({"that", "this", "or", "das", "oder", "ça", "c'", "ou", "eso", "esto"})
# What is not to be forgotten is so: "don't forget that".
FORGETTING = frozenset({"forget"})
MOST_WORDS_REFERRING = 5
MOST_WORDS_TAKING_BACK = 3


def is_doubted(words: Words, sentence: Sentence, language: Language) -> bool:
    """Whether a whole sentence says nothing for certain: it asks, or it is a condition or hearsay."""
    lower = words.lower
    reminds = sentence.first + 2 < sentence.behind and lower[sentence.first + 2] in FORGETTING
    if sentence.asks or (lower[sentence.first] in language.asking and not reminds):
        return True
    if any(
        lower[place] in "([" and lower[place + 1] in NEGATIONS for place in range(sentence.first, sentence.behind - 1)
    ):
        return True
    if lower[sentence.behind - 1] in NEGATIONS and lower[sentence.behind - 2] not in language.auxiliaries:
        return True
    told = lower[sentence.first : sentence.behind]
    if any(told[place : place + len(phrase)] == [*phrase] for phrase in MOCKING for place in range(len(told))):
        return True
    # In French a verb may have its subject behind it: "dit-on", "paraît-il".
    return not language.doubting.isdisjoint(word.split("-")[0] for word in told)


def takes_back(words: Words, sentence: Sentence, language: Language) -> bool:
    """Whether a sentence says that the one before it is not so: "Just kidding.", "No, Porto.", "That's not true."."""
    lower = words.lower[sentence.first : sentence.behind]
    said = [word for word in lower if word[0].isalpha() or word == "n't"]
    unsaying = language.denying | language.doubting
    first = next((place for place, word in enumerate(lower) if word not in HESITATING | language.adverbs), len(lower))
    if lower[first : first + 1] and lower[first] in NEGATIONS and lower[first + 1 : first + 2] == [","]:
        return True
    if said and said[0] in REFERRING and len(said) <= MOST_WORDS_REFERRING and not unsaying.isdisjoint(said):
        return True
    return (
        0 < len(said) <= MOST_WORDS_TAKING_BACK
        and not unsaying.isdisjoint(said)
        and all(word in unsaying or word in language.adverbs or word in language.auxiliaries for word in said)
    )


def is_certain(words: Words, sentence: Sentence, language: Language, subject: int, place: int) -> bool:
    """Whether a phrase at a place, whose subject begins at another, is said to be so and not denied or quoted."""
    if place in words.quoted or subject in words.quoted:
        return False
    lower = words.lower
    if not language.leading.isdisjoint(lower[sentence.first : subject]):
        return False
    clause = subject
    while clause > sentence.first and lower[clause - 1] not in BREAKS | FORGETTING:
        clause -= 1
    return language.denying.isdisjoint(lower[clause:subject])
